"""Folders that only this user can write to, held open: what is read from them can be trusted.

Entries of the compile cache are pickles: loading one runs what it says. So a folder is reached
from the root by descriptors, one component after the other. Every folder on the way, and every
symbolic link, must belong to this user or to root, and nobody else may be able to put something
else in its place. After that the folder is used through its descriptor alone: what happens to its
path no longer matters. Owner and mode of the folder and of each file are checked whenever it is
used.

On Windows, where the access list of the user's profile keeps others out, nothing is checked and
the folder is used by its path. Elsewhere it never is: without a descriptor nothing is done.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MAX_LINKS = 40
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_HOLDER = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class PrivacyError(PermissionError):
    """Someone else can write to a place whose content must be trusted, or could replace it."""


class PrivateFolder:
    """A folder of this user's, made where it is missing (mode 0700), and checked at each use.

    Args:
        path: an absolute path.

    Raises:
        PrivacyError: the folder is not this user's alone, or others could replace it.
        OSError: it cannot be made or opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None
        self._check()

    def __del__(self) -> None:
        fd, self._fd = getattr(self, "_fd", None), None
        if fd is not None:
            with suppress(OSError):
                os.close(fd)

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            PrivacyError: it, or the folder, is not this user's alone.
            OSError: there is none, it is a link, or it cannot be read.
        """
        with self._opened(name, os.O_RDONLY) as file, open(file, "rb", closefd=False) as content:
            return content.read()

    def write(self, name: str, content: bytes) -> None:
        """Make a file, or replace it, whole; raises `OSError` and leaves nothing behind."""
        aside = f"{name}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            with (
                self._opened(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file,
                open(file, "wb", closefd=False) as out,
            ):
                out.write(content)
            (here, fd), (there, _) = self._at(aside), self._at(name)
            os.replace(here, there, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError:
            with suppress(OSError):
                self.remove(aside)
            raise

    def open(self, name: str) -> int:
        """A descriptor of a file to lock, made where it is missing; raises `OSError`."""
        self._check()
        file = self._open(name, os.O_RDWR | os.O_CREAT)
        try:
            _check_own(os.fstat(file), self.path / name)
        except OSError:
            os.close(file)
            raise
        return file

    def exists(self, name: str) -> bool:
        """Whether the folder contains this name."""
        try:
            self.changed_at(name)
        except OSError:
            return False
        return True

    def changed_at(self, name: str) -> float:
        """When a file or folder in this one was last changed, in seconds; raises `OSError`."""
        where, fd = self._at(name)
        return os.stat(where, dir_fd=fd, follow_symlinks=False).st_mtime

    def names(self) -> list[str]:
        """The names of the folder's contents; raises `OSError`."""
        self._check()
        fd = self._descriptor()
        return os.listdir(self.path if fd is None else fd)

    def remove(self, name: str) -> None:
        """Remove a file; raises `OSError`."""
        where, fd = self._at(name)
        os.unlink(where, dir_fd=fd)

    def remove_folder(self, name: str) -> None:
        """Remove a folder in this one with all that is in it, as far as that is possible."""
        with suppress(OSError):
            where, fd = self._at(name)
            shutil.rmtree(where, ignore_errors=True, dir_fd=fd)

    def touch(self) -> None:
        """Note that the folder is in use; raises `OSError`."""
        fd = self._descriptor()
        os.utime(self.path if fd is None else fd)

    @contextmanager
    def _opened(self, name: str, flags: int) -> Iterator[int]:
        self._check()
        file = self._open(name, flags)
        try:
            _check_own(os.fstat(file), self.path / name)
            yield file
        finally:
            os.close(file)

    def _open(self, name: str, flags: int) -> int:
        where, fd = self._at(name)
        return os.open(where, flags | _FILE, 0o600, dir_fd=fd)

    def _at(self, name: str) -> tuple[str | Path, int | None]:
        """A file or folder in this one, as `os` takes it with `dir_fd`; raises `OSError`."""
        fd = self._descriptor()
        return (self.path / name if fd is None else name), fd

    def _descriptor(self) -> int | None:
        """The folder's descriptor, None on Windows; raises `OSError`.

        Elsewhere a folder without one has been removed and could not be opened again. Perhaps it
        can by now; to use its path would be to trust what was not checked.
        """
        if sys.platform != "win32" and self._fd is None:
            self._fd = _open_folder(self.path)
        return self._fd

    def _check(self) -> None:
        """Refuse the folder if others can now write to it; reopen it if it was removed."""
        fd = self._descriptor()
        if fd is None:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            return
        status = os.fstat(fd)
        if status.st_nlink:
            _check_own(status, self.path)
            return
        self._fd = None  # if opening fails, nothing is left to close
        os.close(fd)
        self._descriptor()


def _open_folder(path: Path) -> int:
    """A descriptor of a folder, made where it is missing, that can be trusted."""
    opened: list[int] = []
    try:
        _walk(path, opened)
        _check_own(os.fstat(opened[-1]), path)
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=opened[-1])
    finally:
        for fd in opened:
            os.close(fd)


def _walk(path: Path, opened: list[int]) -> None:
    """Go from the root to a folder, and add a descriptor of each folder on the way."""
    parts, here, links = [*reversed(path.parts[1:])], Path(path.anchor), 0
    _enter(path.anchor, here, opened)
    while parts:
        part = parts.pop()
        status = _status_of(part, opened[-1])
        if status is None:
            with suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=opened[-1])
        elif stat.S_ISLNK(status.st_mode):
            links += 1
            if links > _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            _check_owner(status, here / part)
            target = Path(os.readlink(part, dir_fd=opened[-1]))
            parts += reversed(target.parts[1:] if target.is_absolute() else target.parts)
            if target.is_absolute():
                here = Path(target.anchor)
                _enter(target.anchor, here, opened)
            continue
        here = here / part
        _enter(part, here, opened)


def _enter(part: str, path: Path, opened: list[int]) -> None:
    opened.append(os.open(part, _HOLDER, dir_fd=opened[-1] if opened else None))
    _check_holder(os.fstat(opened[-1]), path)


def _status_of(part: str, fd: int) -> os.stat_result | None:
    try:
        return os.stat(part, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _check_owner(status: os.stat_result, path: Path) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise PrivacyError(
            f"{path} belongs to user {status.st_uid}, who could put something else in its place"
        )


def _check_holder(status: os.stat_result, path: Path) -> None:
    """Refuse a folder in which others could replace what belongs to this user."""
    _check_owner(status, path)
    if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
        raise PrivacyError(
            f"others can write to {path} and put another folder in place of the one in it"
        )


def _check_own(status: os.stat_result, path: Path) -> None:
    """Refuse what is not this user's alone."""
    if sys.platform == "win32":
        return
    if status.st_uid != os.geteuid():
        raise PrivacyError(f"{path} belongs to user {status.st_uid}, not to {os.geteuid()}")
    if status.st_mode & _OTHERS_WRITE:
        raise PrivacyError(f"{path} can be written by others; `chmod go-w` keeps them out")
