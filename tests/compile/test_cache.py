"""The compile cache is never stale or torn, whatever happens to processes that share it."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

OUTER = "answer(toy.outer(5), misses(toy.outer, toy.inner), hits(toy.outer))"
COLD, WARM = [46, 2, 0], [46, 0, 1]


def test_second_process_loads(tree):
    assert tree.run(OUTER) == COLD
    assert tree.run(OUTER) == WARM
    assert not tree.stderr


def test_new_kernels_can_call_a_loaded_one(tree):
    tree.run(OUTER)
    code = "answer(toy.outer(5), toy.make_caller(toy.outer)(5), hits(toy.outer))"
    assert tree.run(code) == [46, 92, 1]


def test_new_kernels_can_call_a_loaded_one_whose_arguments_have_types_of_one_process(tree):
    """A kernel, and a named tuple whose class no module has: both are made anew when loaded."""
    source = """
from collections import namedtuple
AT = namedtuple("Made", "a b")(1, 2)

@kernel
def field(at, x):
    return x + at.b

@kernel
def apply(f, x):
    return f(x)

@kernel
def caller(x):
    return field(AT, x) + apply(inner, x)
"""
    (tree.envs / "games" / "toy.py").open("a").write(source)
    code = "answer(toy.caller(5), misses(toy.caller), hits(toy.field, toy.apply))"
    assert tree.run(code) == [52, 1, 0]
    tree.edit("games/toy.py", "+ apply(inner, x)", "- apply(inner, x)")
    assert tree.run(code) == [-38, 1, 2]


def test_edited_sources_are_compiled_again(tree):
    code = """
kernels = [toy.outer, toy.through_module, toy.through_hidden]
answer(*(k(5) for k in kernels), misses(*kernels))
"""
    before = [46, 14, 105]
    edits = {
        ("STRIDE = 9", "STRIDE = 7"): [36, 12, 105, 2],
        ("np.arange(4)", "np.arange(4) * 5"): [50, 14, 105, 1],
        ("x + 100", "x + 200"): [46, 14, 205, 1],
        ("return x + 100", "y = x + 100\n    return y * 2"): [46, 14, 210, 1],
    }
    assert tree.run(code) == [*before, 3]
    for (old, new), after in edits.items():
        tree.edit("geometry/board.py", old, new)
        assert tree.run(code) == after, "what the edit concerns, and nothing else"
        tree.edit("geometry/board.py", new, old)
    assert tree.run(code) == [*before, 0]


def test_sources_of_what_kernels_are_compiled_with_change_the_folder(tree):
    code = "answer(cache_key.folder_digest(('a CPU',)))"
    first = tree.run(code)
    (tree.envs / "games" / "toy.py").open("a").write("\n")
    assert tree.run(code) == first
    (tree.envs / "kernels" / "compile.py").open("a").write("\n")
    assert tree.run(code) != first


@pytest.mark.parametrize("count", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_cold_processes_compile_once(tree, count):
    processes = [tree.start(OUTER) for _ in range(count)]
    results = []
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        results.append(out.strip())
    assert sorted(results) == ["[46, 0, 1]"] * (count - 1) + ["[46, 2, 0]"]
    assert len(tree.entries()) == 2
    assert tree.run(OUTER) == WARM


def checksum_of(name: str, payload: bytes) -> bytes:
    """The digest at the start of an entry: of its name and the payload."""
    return hashlib.blake2b(name.encode() + b"\0" + payload).digest()


KILLED = {
    "before the file is written": "cache.Store.write = lambda *a: os.kill(os.getpid(), 9)",
    "before the file is renamed": "cache.os.replace = lambda *a, **k: os.kill(os.getpid(), 9)",
    "after the first of two files": """
replace = os.replace
def last(*paths, **folders):
    replace(*paths, **folders)
    os.kill(os.getpid(), 9)
cache.os.replace = last
""",
}


@pytest.mark.parametrize("when", KILLED)
def test_a_killed_cold_start_leaves_no_bad_entry(tree, when):
    process = tree.start(KILLED[when] + "\ntoy.outer(5)")
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    for entry in tree.entries():  # every file with the name of an entry is complete
        content = entry.read_bytes()
        assert checksum_of(entry.name, content[64:]) == content[:64]
    assert tree.run(OUTER)[0] == 46
    assert tree.run(OUTER) == WARM


WAITING = """
acquire = cache.filelock.FileLock.acquire
def told(lock, timeout):
    print("waiting", flush=True)
    return acquire(lock, timeout)
cache.filelock.FileLock.acquire = told
"""


HOLDING = """
import time
cache.Store.write = lambda *a: (print("held", flush=True), time.sleep(600))
toy.outer(5)
"""


def test_killing_the_lock_holder_frees_waiting_processes(tree):
    holder = tree.start(HOLDING)
    assert holder.stdout.readline() == "held\n"
    waiter = tree.start(WAITING + OUTER)
    assert waiter.stdout.readline() == "waiting\n"
    time.sleep(0.2)
    assert waiter.poll() is None
    holder.kill()
    holder.communicate(timeout=120)
    out, err = waiter.communicate(timeout=120)
    assert out.splitlines()[-1] == "[46, 2, 0]", err


def test_a_process_that_compiles_another_kernel_does_not_wait(tree):
    holder = tree.start(HOLDING.replace("outer", "through_module"))
    assert holder.stdout.readline() == "held\n"
    try:
        assert tree.run(OUTER) == COLD
    finally:
        holder.kill()
        holder.communicate(timeout=120)


def test_processes_wait_only_once_for_a_stopped_lock_holder(tree):
    calls = """
for call in (toy.outer, toy.through_module, toy.through_hidden):
    call(5)
"""
    tree.run(calls + "answer()")
    entries = tree.entries()
    for entry in entries:
        entry.unlink()
    holder = tree.start(f"""
import fcntl, time
files = [open(name + ".lock", "w") for name in {list(map(str, entries))}]
for file in files:
    fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(600)
""")
    assert holder.stdout.readline() == "held\n"
    try:
        code = f"""
cache.LOCK_TIMEOUT_S = 0.5
waits = []
acquire = cache.filelock.FileLock.acquire
def counted(lock, timeout):
    waits.append(timeout)
    return acquire(lock, timeout)
cache.filelock.FileLock.acquire = counted
{calls}
answer(waits)
"""
        assert tree.run(code) == [[0.5]]
    finally:
        holder.kill()
        holder.communicate(timeout=120)
    assert tree.run(OUTER) == WARM


def _truncate(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flip(data: bytes) -> bytes:
    """Change a constant in the machine code, which would still load and run."""
    middle = len(data) * 2 // 3
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("damage", [_truncate, _flip, lambda _: b""])
def test_damaged_entry_is_replaced(warm_tree, damage):
    tree = warm_tree
    for entry in tree.entries():
        entry.write_bytes(damage(entry.read_bytes()))
    assert tree.run(OUTER) == COLD
    assert not tree.stderr
    assert tree.run(OUTER) == WARM


def test_an_entry_that_somebody_reads_may_stay_as_it_is(warm_tree):
    """Windows refuses to replace it; another process has just written it."""
    tree = warm_tree
    for entry in tree.entries():
        entry.write_bytes(b"")
    code = """
def refused(*paths):
    raise PermissionError(13, "Permission denied")
os.replace = refused
store = toy.outer._cache._store()
answer(toy.outer(5), store._writable, len([*store.path.glob("*.tmp")]))
"""
    assert tree.run(code) == [46, True, 0]
    assert not tree.stderr


def test_an_entry_under_another_name_is_replaced(warm_tree):
    """The checksum covers the name, so an entry is not accepted under another kernel's name."""
    inner, outer = warm_tree.entries("inner-*"), warm_tree.entries("outer-*")
    outer[0].write_bytes(inner[0].read_bytes())
    assert warm_tree.run(OUTER) == [46, 1, 0]
    assert warm_tree.run(OUTER) == WARM


def test_entry_that_does_not_unpickle_is_replaced(warm_tree):
    tree = warm_tree
    for entry in tree.entries():
        payload = b"cno_such_module\nthing\n."
        entry.write_bytes(checksum_of(entry.name, payload) + payload)
    assert tree.run(OUTER) == COLD
    assert tree.run(OUTER) == WARM


def test_a_callee_that_is_there_does_not_free_the_lock_of_its_caller(tree):
    tree.run("answer(toy.inner(5))")
    code = """
write = cache.Store.write
held = []
def told(store, *entry):
    held.append([path.name.split("-")[0] for path in store.path.glob("*.lock")])
    write(store, *entry)
cache.Store.write = told
answer(toy.outer(5), held, len([*toy.outer._cache._store().path.glob("*.lock")]))
"""
    assert tree.run(code) == [46, [["outer"]], 0]


def test_failed_compilation_frees_the_lock(tree):
    code = """
for _ in range(2):
    try:
        toy.wrong(5)
    except Exception as error:
        name = type(error).__name__
folder = cache.open_store(toy.wrong.targetctx.codegen().magic_tuple()).path
answer(name, len([*folder.glob("*.lock")]), toy.outer(5))
"""
    assert tree.run(code) == ["TypingError", 0, 46]
    assert tree.run(OUTER) == WARM


def test_threads_start_cold_together(tree):
    code = """
from concurrent.futures import ThreadPoolExecutor
kernels = [toy.outer, toy.through_module, toy.inner, toy.make_caller(toy.inner)] * 2
with ThreadPoolExecutor(8) as pool:
    answer(*pool.map(lambda k: k(5), kernels), misses(*kernels[:4]))
"""
    assert tree.run(code) == [46, 14, 45, 90] * 2 + [4]


def test_bounds_check_with_a_warm_cache(tree):
    code = """
try:
    toy.pick(np.arange(3)[:2], 2)
    answer("unchecked", hits(toy.pick))
except IndexError:
    answer("checked", hits(toy.pick))
"""
    assert tree.run(code) == ["unchecked", 0]
    assert tree.run(code) == ["unchecked", 1]
    assert tree.run(code, NUMBA_BOUNDSCHECK="1") == ["checked", 0]
    assert tree.run(code, NUMBA_BOUNDSCHECK="1") == ["checked", 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPT", "1"), pytest.param("CPU_NAME", "generic", marks=pytest.mark.slow)],
)
def test_settings_that_change_code_have_separate_entries(warm_tree, name, value):
    tree = warm_tree
    assert tree.run(OUTER, **{f"NUMBA_{name}": value}) == COLD
    assert tree.run(OUTER, NUMBA_NUM_THREADS="2") == WARM


def test_files_unused_for_long_are_removed(warm_tree):
    tree = warm_tree
    (current,) = {entry.parent for entry in tree.entries()}
    (used,) = tree.entries("outer-*")
    stale, fresh = current / "killed.tmp", current / "new.tmp"
    old, other = tree.cache / "kernels-0" / "outer.kernel", tree.cache / "something else"
    for file in (stale, fresh, old, other / "file"):
        file.parent.mkdir(exist_ok=True)
        file.touch()
    for file in (used, stale, old, other / "file"):
        os.utime(file, (1, 1))
    tree.run("answer(toy.outer(5), toy.through_module(5))")
    assert used.exists(), "read before anything was written"
    assert fresh.exists()
    assert not stale.exists()
    assert not old.parent.exists()
    assert (other / "file").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_takes_a_lock_of_its_own(tmp_path: Path) -> None:
    """The parent's may not be used there, as `multiprocessing` starts processes on Linux."""
    code = """
import os, sys
from pathlib import Path
from azumaya.envs.kernels.cache import Store

store = Store(Path(sys.argv[1]))
with store.locked("first"):
    pass
child = os.fork()
with store.locked("second"):
    print("locked", flush=True)
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    words = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["locked", "locked"]
