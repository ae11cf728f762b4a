"""Files that are written whole or not at all, and JSON that is read within limits.

A file is replaced in four steps: write a temporary file beside it, flush that to the disk, rename
it over the old one, flush the folder. Whatever stops the program in between, a reader finds the
old file or the new one. A write that fails removes its temporary file; a program that is killed
leaves it behind, and `remove_partial` removes it. A link stays, and the file that it leads to is
replaced. Pipes and devices are written to as they are.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, NoReturn

from azumaya.envs.errors import OptionError, naming

MOST_TEXT = 1 << 20
"""The largest JSON file that is read, in bytes, unless the caller sets another limit."""
MOST_NESTING = 32
"""The most levels of arrays and objects in a JSON text."""
_NOT_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[^"\[\]{}]+', re.DOTALL)
"""Strings and what lies between brackets. A last string without an end matches, too; if it did not,
the search for an end would begin anew at each of its quotation marks."""
PICTURES = (".svg", ".png")
"""The suffixes of pictures that can be written."""
LONGEST_NAME = 120
"""Longer file names are shortened in messages."""


def shown(name: object, most: int = LONGEST_NAME) -> str:
    """A file name or other text from the user, cut after `most` characters if it is longer."""
    text = str(name)
    return text if len(text) <= most else f"{text[:most]}..."


def reason(error: OSError) -> str:
    """The message of a system error, with the file if it names one."""
    why = error.strerror or str(error) or type(error).__name__
    return why if error.filename is None else f"{shown(error.filename)}: {why}"


def is_count(value: Any, least: int = 0) -> bool:
    """Whether a JSON value is a whole number of at least `least`; `true` and 1.0 are not."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_folder(path: Path, argument: str) -> None:
    """Raise `OptionError`, which begins with `argument`, unless a file's folder exists."""
    if not path.parent.is_dir():
        raise OptionError(f"{argument}: there is no folder {shown(path.parent)}")


def check_writable(path: Path, argument: str) -> None:
    """Raise `OptionError`, which begins with `argument`, unless `write_whole` could write a file.

    A temporary file is made beside it, and removed.
    """
    check_folder(path, argument)
    if path.is_dir():
        raise OptionError(f"{argument}: is a folder; name a file")
    if is_special(path):
        if not os.access(path, os.W_OK):
            raise OptionError(f"{argument}: cannot be written: {os.strerror(errno.EACCES)}")
        return
    aside = _aside(_target(path))
    try:
        aside.touch()
        aside.unlink()
    except OSError as error:
        raise OptionError(f"{argument}: cannot be written: {error.strerror}") from None


def check_picture(path: Path, argument: str) -> None:
    """Raise `OptionError`, which begins with `argument`, unless a picture can have this path."""
    if path.suffix.lower() not in PICTURES:
        raise OptionError(f"{argument}: must end in {' or '.join(PICTURES)}")
    check_writable(path, argument)


LOCKED_BYTE = (1 << 31) - 2
"""The byte of a file that is locked on Windows, far behind its end: nobody else can read it."""


def locked(file: int) -> bool:
    """Keep other processes out of an open file or folder until it is closed.

    Returns:
        False if another process has locked it already; True also where there are no locks, as on
        some file systems.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415 - Windows alone has it

            os.lseek(file, LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415 - not on Windows

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES)
    return True


def is_special(path: Path) -> bool:
    """Whether a path is that of a device, a pipe or the like, which may never end when read."""
    return path.exists() and not path.is_file() and not path.is_dir()


class UnusableFileError(ValueError):
    """A file that is too large, not a regular file, or not valid JSON."""


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises:
        UnusableFileError: it is larger, or a device, a pipe or the like.
        OSError: it cannot be read.
    """
    if is_special(path):
        raise UnusableFileError("not a regular file")
    if path.stat().st_size > most:
        raise UnusableFileError(f"larger than {most:,} bytes")
    return path.read_bytes()


def line_text(line: Mapping[str, Any]) -> str:
    """An object as a line of a file of JSON lines, with the newline.

    Raises:
        ValueError: it has a number that JSON does not have: infinity, or what is no number.
    """
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"


def parse_json(content: bytes) -> Any:
    """Parse a JSON text in UTF-8, after checking its nesting.

    Raises:
        UnusableFileError: it is not JSON (`NaN` and `Infinity` are not), or nested more deeply than
            `MOST_NESTING`.
    """
    try:
        text = content.decode("utf-8-sig")
        if _nesting(text) <= MOST_NESTING:
            return json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        raise UnusableFileError(f"not JSON: {error}") from error
    raise UnusableFileError(f"nested more than {MOST_NESTING} levels deep")


def _nesting(text: str) -> int:
    """How many levels deep the arrays and objects of a JSON text are nested."""
    steps = (1 if bracket in "[{" else -1 for bracket in _NOT_BRACKETS.sub("", text))
    return max(accumulate(steps), default=0)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def read_json(path: Path, most: int = MOST_TEXT) -> Any:
    """The value in a JSON file of at most `most` bytes.

    Raises:
        UnusableFileError: it is too large, not a regular file, or not valid JSON.
        OSError: it cannot be read.
    """
    return parse_json(read_bytes(path, most))


def write_whole(path: Path, content: bytes, mode: int | None = None) -> None:
    """Replace a file in one step.

    Args:
        path: the file.
        content: its content.
        mode: its permissions, of which the user's mask takes some; None for those of the old file.

    Raises:
        OSError: it cannot be written; the old file is kept.
    """
    write_together({path: content}, mode)


def write_together(contents: Mapping[Path, bytes], mode: int | None = None) -> None:
    """Replace files one right after the other, once all of their contents are on the disk.

    Args:
        contents: the contents by path; all paths are in one folder.
        mode: their permissions, of which the user's mask takes some; None for those of the old
            files.

    Raises:
        OSError: a file cannot be written. Files not yet replaced by then are kept as they were.
    """
    for path in contents:
        if path.is_dir():  # a message about the temporary file would name another one
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    whole = {_target(path): content for path, content in contents.items() if not is_special(path)}
    aside = {path: _aside(path) for path in whole}
    try:
        for path, content in whole.items():
            with naming(path):
                _write_beside(path, aside[path], content, mode)
        for path in whole:
            with naming(path):
                _put(aside[path], path)
    except BaseException:
        for temporary in aside.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise
    for folder in {path.parent for path in whole}:
        flush_folder(folder)
    for path, content in contents.items():
        if is_special(path):
            with naming(path):
                path.write_bytes(content)


@contextlib.contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """A temporary file that replaces a file when the block ends: for content larger than memory.

    Raises:
        OSError: it cannot be flushed or take the place of the file. After this, and after any
            error of the block, the old file is kept.
    """
    target = _target(path)
    aside = _aside(target)
    try:
        yield aside
        with naming(path):
            with aside.open("rb+") as file:
                os.fsync(file.fileno())
            _put(aside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    flush_folder(target.parent)


TRIES, PAUSE = 20, 0.1
"""How often it is tried to replace a file that somebody reads, and the seconds in between."""


def _put(aside: Path, path: Path) -> None:
    """Let a temporary file take the place of a file; on Windows nobody may have that open."""
    for _ in range(TRIES - 1 if sys.platform == "win32" else 0):
        try:
            os.replace(aside, path)
            return
        except PermissionError:
            time.sleep(PAUSE)
    os.replace(aside, path)


def _target(path: Path) -> Path:
    """The file that a path leads to; links in a circle are no error here, as for `Path.resolve`."""
    return Path(os.path.realpath(path))


def _aside(target: Path) -> Path:
    """The temporary file that takes the place of a file once it is whole."""
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def _write_beside(path: Path, aside: Path, content: bytes, mode: int | None) -> None:
    """Write the temporary file of a file, with these permissions or those of the file."""
    kept = None
    if mode is None:
        with contextlib.suppress(FileNotFoundError):
            kept = stat.S_IMODE(path.stat().st_mode)
    _write_through(aside, content, mode or kept or 0o666)
    if kept is not None:  # also what the mask has taken
        aside.chmod(kept)


def _write_through(path: Path, content: bytes, mode: int) -> None:
    """Write a file and flush it to the disk."""
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), mode
    )
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of a content to an open file or pipe; a single `os.write` may write only a part.

    Raises:
        OSError: it cannot be written; a part may have been.
    """
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk, if the system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_partial(folder: Path, names: Iterable[str]) -> None:
    """Remove temporary files that killed writers of these files left behind.

    No other process may be writing these files in the folder.
    """
    for name in names:
        for left in (*folder.glob(f".{name}.*.tmp"), *folder.glob(f".{name}.tmp")):
            left.unlink(missing_ok=True)
