"""Files that are written whole: links, permissions, and what is no regular file."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from azumaya.baselines.system import files
from azumaya.baselines.system.files import (
    UnusableFileError,
    check_picture,
    check_writable,
    locked,
    read_bytes,
    reason,
    write_together,
    write_whole,
    written_aside,
)
from azumaya.envs import OptionError
from azumaya.envs.errors import naming

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="files of POSIX")


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    link.symlink_to(target)
    for content in (b"new", b"newer"):
        check_writable(link, "--output")
        write_whole(link, content)
        assert link.is_symlink()
        assert target.read_bytes() == content
    assert [path.name for path in target.parent.iterdir()] == ["target"]


def test_larger_files_than_wanted_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    assert read_bytes(path, 7) == b"content"
    with pytest.raises(UnusableFileError, match="larger than 6 bytes"):
        read_bytes(path, 6)


def test_a_file_is_replaced_when_the_block_ends_unless_by_an_error(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with written_aside(path) as aside:
        aside.write_bytes(b"whole")
        assert not path.exists()
    with pytest.raises(KeyboardInterrupt), written_aside(path) as aside:  # noqa: PT012
        aside.write_bytes(b"half")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"whole"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_its_permissions_unless_others_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"")
    for kept in (0o600, 0o664, 0o751):
        path.chmod(kept)
        write_together({path: b"more"})
        assert path.stat().st_mode & 0o777 == kept
    write_whole(path, b"private", 0o600)
    assert path.stat().st_mode & 0o777 == 0o600


def test_pipes_and_devices_are_written_to_and_stay(tmp_path: Path) -> None:
    pipe, null, got = tmp_path / "pipe", tmp_path / "null", []
    os.mkfifo(pipe)
    null.symlink_to("/dev/null")
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    for path in (pipe, null):
        check_writable(path, "--output")
        write_whole(path, b"content")
        assert path.exists()
        assert not path.is_file()
    reader.join(30)
    assert got == [b"content"]


def test_the_descriptor_of_an_open_pipe_can_be_written_to(tmp_path: Path) -> None:
    """As `/dev/stdout` in a pipeline, to which a link may lead."""
    reader, writer = os.pipe()
    link = tmp_path / "link"
    link.symlink_to(f"/proc/self/fd/{writer}")
    write_whole(link, b"content")
    os.close(writer)
    assert os.read(reader, 100) == b"content"
    os.close(reader)
    assert link.is_symlink()


def test_a_picture_that_cannot_be_written_is_noticed_before_it_is_drawn(tmp_path: Path) -> None:
    check_picture(tmp_path / "a.svg", "--output a.svg")
    (tmp_path / "b.svg").mkdir()
    (tmp_path / "circle.svg").symlink_to("circle.svg")
    with pytest.raises(OptionError, match=r"--output b\.svg: is a folder"):
        check_picture(tmp_path / "b.svg", "--output b.svg")
    with pytest.raises(OptionError, match="--output: cannot be written: "):
        check_picture(tmp_path / f"{'x' * 250}.svg", "--output")


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError(28, "full"), "a.gif: full"), (OSError("encoder error"), "encoder error")],
)
def test_an_error_about_a_file_keeps_its_text(error: OSError, said: str) -> None:
    """Pillow raises such errors without a number."""
    with pytest.raises(OSError, match=r"full|encoder") as caught, naming("a.gif"):
        raise error
    assert reason(caught.value) == said


def test_windows_refuses_to_replace_a_file_only_as_long_as_somebody_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, readers, put = tmp_path / "file", [3], os.replace

    def replace(aside: Path, target: Path) -> None:
        if readers[0]:
            readers[0] -= 1
            raise PermissionError
        put(aside, target)

    monkeypatch.setattr(files, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(files, "PAUSE", 0)
    monkeypatch.setattr(os, "replace", replace)
    write_whole(path, b"new")
    readers[0] = files.TRIES
    with pytest.raises(PermissionError):
        write_whole(path, b"newer")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_windows_locks_a_byte_behind_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else could read it; so it is none of the content."""
    held = set[int]()

    def locking(file: int, kind: int, size: int) -> None:
        place = os.lseek(file, 0, os.SEEK_CUR)
        assert size == 1
        if place in held:
            raise PermissionError(13, "Permission denied")
        held.add(place)

    monkeypatch.setattr(files, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    path = tmp_path / "file"
    path.write_bytes(b"a line\n")
    with path.open("ab", 0) as one, path.open("ab", 0) as other:
        assert locked(one.fileno())
        assert not locked(other.fileno())
        one.write(b"another\n")
    assert path.read_bytes() == b"a line\nanother\n"
    assert min(held) > 1 << 30
