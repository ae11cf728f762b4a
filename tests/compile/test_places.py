"""Where the cache may be, and what happens if its place cannot be used."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

OUTER = "answer(toy.outer(5), misses(toy.outer, toy.inner), hits(toy.outer))"
COLD, WARM = [46, 2, 0], [46, 0, 1]
NOBODY = 65534


def test_an_empty_variable_disables_the_cache(tree):
    env = {"AZUMAYA_CACHE_DIR": "", "XDG_CACHE_HOME": str(tree.root / "xdg")}
    for _ in range(2):
        assert tree.run(OUTER, **env) == COLD
    assert not tree.stderr
    assert not (tree.root / "xdg").exists()


def test_default_is_the_users_cache_folder(tree):
    env = {"AZUMAYA_CACHE_DIR": "unset", "XDG_CACHE_HOME": str(tree.root / "xdg")}
    assert tree.run(OUTER, **env) == COLD
    assert list((tree.root / "xdg" / "azumaya").glob("kernels-*/outer-*.kernel"))
    assert tree.run(OUTER, **env) == WARM


@pytest.mark.skipif(sys.platform != "linux", reason="about the default folder on Linux")
def test_default_below_home(tree):
    env = {"AZUMAYA_CACHE_DIR": "unset", "HOME": str(tree.root / "home")}
    assert tree.run(OUTER, **env) == COLD
    assert list((tree.root / "home" / ".cache" / "azumaya").glob("kernels-*/outer-*.kernel"))


def test_folders_and_files_are_private(tree):
    tree.run(OUTER)
    folder = tree.entries()[0].parent
    for path, mode in [(tree.cache, 0o700), (folder, 0o700), (tree.entries()[0], 0o600)]:
        assert path.stat().st_mode & 0o777 == mode


def test_unusable_folder_warns_once(tree):
    tree.cache.write_text("not a folder")
    assert tree.run(OUTER) == COLD
    assert tree.warned() == 1
    assert str(tree.cache) in tree.stderr


def test_unusable_home_warns_once(tree):
    (tree.root / "home").write_text("not a folder")
    assert tree.run(OUTER, AZUMAYA_CACHE_DIR="unset", HOME=str(tree.root / "home")) == COLD
    assert tree.warned() == 1


def test_a_user_without_a_home_is_warned_once(tree):
    """As in a container that runs as a user whom no file lists."""
    lost = """
import platformdirs
def nowhere(*arguments):
    raise RuntimeError("no home")
platformdirs.user_cache_path = nowhere
"""
    assert tree.run(lost + OUTER, AZUMAYA_CACHE_DIR="unset") == COLD
    assert tree.warned() == 1
    assert "no home" in tree.stderr


def test_full_disk_warns_once(tree):
    full = """
def replace(*paths, **folders):
    raise OSError(28, "No space left on device")
cache.os.replace = replace
"""
    assert tree.run(full + OUTER) == COLD
    assert tree.warned() == 1
    assert not tree.entries("*.tmp")


AS_USER = """
toy.outer.targetctx.refresh()  # what numba imports late, while it can be read
os.setuid(int(os.environ["RUN_AS"]))
"""

READ_ONLY = """
folder = cache.open_store(toy.outer.targetctx.codegen().magic_tuple()).path
os.chmod(folder, 0o500)
results = [toy.outer(5), misses(toy.outer, toy.inner), toy.through_module(5)]
os.chmod(folder, 0o700)
answer(*results)
"""


def test_read_only_folder_is_read(tree):
    """Existing entries are used; missing ones are compiled in memory, with one warning."""
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    open_to_all(tree)
    env = {"RUN_AS": str(user)}
    if os.geteuid() == 0:
        tree.cache.mkdir(mode=0o700)
        os.chown(tree.cache, user, user)
    assert tree.run(AS_USER + OUTER, **env) == COLD
    assert tree.run(AS_USER + READ_ONLY, **env) == [46, 0, 14]
    assert tree.warned() == 1
    assert len(tree.entries()) == 2


def open_to_all(tree) -> None:
    """Let another user reach pytest's private temporary folders."""
    for path in (tree.root, *tree.root.parents):
        if path.stat().st_uid == os.geteuid() and path.stat().st_mode & 0o077 == 0:
            path.chmod(path.stat().st_mode | 0o011)


@pytest.mark.parametrize(("mode", "inner"), [(0o770, False), (0o702, True)])
def test_folder_others_can_write_is_not_used(warm_tree, mode, inner):
    tree = warm_tree
    folder = tree.entries()[0].parent if inner else tree.cache
    folder.chmod(mode)
    assert tree.run(OUTER) == COLD
    assert tree.warned() == 1
    folder.chmod(0o700)
    assert tree.run(OUTER) == WARM


def test_folder_of_another_user_is_not_used(warm_tree):
    tree = warm_tree
    place = tree.cache
    if os.geteuid() == 0:
        os.chown(place, NOBODY, NOBODY)
    else:
        place = "/usr"
    assert tree.run(OUTER, AZUMAYA_CACHE_DIR=str(place)) == COLD
    assert tree.warned() == 1


def test_folder_others_can_replace_is_not_used(tree):
    tree.cache = tree.root / "open" / "cache"
    tree.cache.parent.mkdir()
    tree.run(OUTER)
    tree.cache.parent.chmod(0o777)
    assert tree.run(OUTER) == COLD
    assert tree.warned() == 1
    tree.cache.parent.chmod(0o1777)  # like /tmp: only owners can replace files
    assert tree.run(OUTER) == WARM


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_folder_below_one_that_others_can_write_is_not_used(tree, mode):
    tree.cache = tree.root / "open" / "deeper" / "cache"
    tree.cache.parent.mkdir(parents=True)
    assert tree.run(OUTER) == COLD
    (tree.root / "open").chmod(mode)
    assert tree.run(OUTER) == COLD
    assert tree.warned() == 1
    (tree.root / "open").chmod(0o755)
    assert tree.run(OUTER) == WARM


as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the owner of files")


@as_root
def test_folder_below_one_of_another_user_is_not_used(tree):
    tree.cache = tree.root / "theirs" / "cache"
    tree.cache.parent.mkdir()
    assert tree.run(OUTER) == COLD
    os.chown(tree.cache.parent, NOBODY, NOBODY)
    assert tree.run(OUTER) == COLD
    assert tree.warned() == 1


def test_own_link_is_followed(warm_tree):
    link = warm_tree.root / "link"
    link.symlink_to(warm_tree.cache, target_is_directory=True)
    assert warm_tree.run(OUTER, AZUMAYA_CACHE_DIR=str(link)) == WARM
    link.unlink()
    link.symlink_to("cache")
    assert warm_tree.run(OUTER, AZUMAYA_CACHE_DIR=str(link)) == WARM


@as_root
def test_link_of_another_user_is_not_followed(warm_tree):
    """In a sticky folder like /tmp anyone can create a link and later change its target."""
    shared = warm_tree.root / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    link = shared / "link"
    link.symlink_to(warm_tree.cache, target_is_directory=True)
    assert warm_tree.run(OUTER, AZUMAYA_CACHE_DIR=str(link)) == WARM
    os.lchown(link, NOBODY, NOBODY)
    assert warm_tree.run(OUTER, AZUMAYA_CACHE_DIR=str(link)) == COLD
    assert warm_tree.warned() == 1


def test_links_in_a_circle_warn_once(tree):
    (tree.root / "one").symlink_to("two")
    (tree.root / "two").symlink_to("one")
    assert tree.run(OUTER, AZUMAYA_CACHE_DIR=str(tree.root / "one")) == COLD
    assert tree.warned() == 1


def test_a_folder_pruned_by_another_process_is_made_again(tree):
    code = """
import shutil
toy.outer(5)
shutil.rmtree(toy.outer.stats.cache_path)
answer(toy.through_module(5))
"""
    assert tree.run(code) == [14]
    assert not tree.warned()
    assert tree.run("answer(toy.through_module(5), hits(toy.through_module))") == [14, 1]


def test_relative_folder(tree):
    assert tree.run(OUTER, AZUMAYA_CACHE_DIR="here") == COLD
    assert list((tree.root / "here").glob("kernels-*"))


def test_interpreted_kernels_are_plain_functions(tree):
    code = "from azumaya.envs.games import toy; print(toy.outer(5), type(toy.outer).__name__)"
    env = os.environ | {"PYTHONPATH": str(tree.root / "lib"), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", code]
    said = subprocess.check_output(command, env=env, cwd=tree.root, text=True)
    assert said.split() == ["46", "function"]
    assert not tree.cache.exists()
