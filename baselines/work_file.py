"""Files of long work that can be interrupted: a line with its settings, then a line per result.

Lines are only ever appended. A writer that is killed leaves a torn last line at most, which is
removed when the work goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.system.files import is_special, locked, parse_json, write_all
from azumaya.envs.errors import brief, naming

Line = dict[str, Any]


class WorkFileError(ValueError):
    """A file of work that cannot be continued."""


class LineFile:
    """A file of lines to which only this process appends, from any of its threads.

    Args:
        path: the file; made if it does not exist.
        in_use: what is raised if another process has it open.
        mode: the permissions of a new file.

    Raises:
        OSError: it cannot be opened.
    """

    def __init__(self, path: Path, in_use: Exception, mode: int = 0o666) -> None:
        self._path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file, self._lock = os.open(path, flags, mode), threading.Lock()
        if not locked(self._file):
            os.close(self._file)
            raise in_use

    def append(self, line: str) -> None:
        """Add a line, which ends with a newline.

        Raises:
            OSError: it cannot be written; the file is as before.
        """
        with self._lock, naming(self._path):
            size = os.fstat(self._file).st_size
            try:
                write_all(self._file, line.encode())
            except BaseException:  # the next line would go on where this one is torn
                self.cut(size)
                raise

    def cut(self, size: int) -> None:
        """Keep the first `size` bytes; what comes after them may be a torn last line."""
        os.ftruncate(self._file, size)

    def sync(self) -> None:
        """Flush to the disk."""
        with naming(self._path):
            os.fsync(self._file)

    def close(self) -> None:
        """Close the file, which others can open then."""
        file, self._file = self._file, -1  # a late line must not end up in another open file
        os.close(file)


@contextlib.contextmanager
def open_work(
    path: Path, settings: Mapping[str, Any]
) -> Iterator[tuple[list[Line], Callable[[Line], None]]]:
    """Make a file of work, or open it again. Only one process can have it open.

    Args:
        path: the file; it is made, with its folder, if it is missing. If it has no results yet, it
            takes other settings of the same names.
        settings: everything that the results depend on, as JSON.

    Yields:
        The lines of earlier runs, and a function that adds one. A torn last line is removed from
        the file.

    Raises:
        WorkFileError: the file is damaged, was begun with other settings, is in use, or is no
            regular file.
        OSError: it cannot be read or written.
    """
    if is_special(path):
        raise WorkFileError(f"{path}: not a regular file")
    path.parent.mkdir(parents=True, exist_ok=True)
    in_use = WorkFileError(
        f"{path}: another process is working with it; wait until that has ended, or use another "
        "file"
    )
    with contextlib.closing(LineFile(path, in_use)) as file:
        yield _begin(path, file, settings), lambda line: file.append(line_text(line))


def _begin(path: Path, file: LineFile, settings: Mapping[str, Any]) -> list[Line]:
    """Write the first line if it is missing or torn; otherwise check and read what is there."""
    head, content = json.dumps(settings).encode(), path.read_bytes()
    first, newline, rest = content.partition(b"\n")
    no_result = bool(newline) and b"\n" not in rest
    if head.startswith(content) or (no_result and first != head and _alike(first, settings)):
        file.cut(0)
        file.append(json.dumps(settings) + "\n")
        return []
    if first != head:
        raise WorkFileError(
            f"{path}: it was begun with other settings; use the same ones or another file"
        )
    lines = lines_of(path, content)
    file.cut(content.rfind(b"\n") + 1)
    return lines


def _alike(line: bytes, settings: Mapping[str, Any]) -> bool:
    """Whether a line is that of the settings of such work, with whatever values."""
    try:
        found = parse_json(line)
    except ValueError:
        return False
    return isinstance(found, dict) and found.keys() == settings.keys()


def lines_of(path: Path, content: bytes) -> list[Line]:
    """The results in the content of a file of work, without a torn last line.

    Raises:
        WorkFileError: the content is damaged.
    """
    try:
        return [_object(line) for line in content.split(b"\n")[1:-1]]
    except ValueError as error:
        raise WorkFileError(f"{path}: damaged: {error}") from error


def _object(line: bytes) -> Line:
    found = parse_json(line)
    if not isinstance(found, dict):
        raise ValueError(f"the line {brief(found)} is not a JSON object")
    return found


def line_text(line: Mapping[str, Any]) -> str:
    """A result as its line in the file, with the newline.

    Raises:
        ValueError: it has a number that JSON does not have: infinity, or what is no number.
    """
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
