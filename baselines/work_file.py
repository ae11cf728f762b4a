"""Files of long work that can be interrupted: a line with its settings, then a line per result.

Lines are only ever appended. A writer that is killed leaves a torn last line at most, which is
removed when the work goes on.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from azumaya.baselines.files import locked, parse_json
from azumaya.envs.errors import brief

Line = dict[str, Any]


class WorkFileError(ValueError):
    """A file of work that cannot be continued."""


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
        WorkFileError: the file is damaged, was begun with other settings, or is in use.
        OSError: it cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if not locked(file.fileno()):
            raise WorkFileError(
                f"{path}: another process is working with it; wait until that has ended, or use "
                "another file"
            )
        lines = _begin(path, file, settings)

        def add(line: Line) -> None:
            file.write(line_text(line).encode())
            file.flush()

        yield lines, add


def _begin(path: Path, file: BinaryIO, settings: Mapping[str, Any]) -> list[Line]:
    """Write the first line if it is missing or torn; otherwise check and read what is there."""
    head = json.dumps(settings).encode()
    file.seek(0)
    content = file.read()
    first, newline, rest = content.partition(b"\n")
    no_result = bool(newline) and b"\n" not in rest
    if head.startswith(content) or (no_result and first != head and _alike(first, settings)):
        file.truncate(0)
        file.write(head + b"\n")
        file.flush()
        return []
    if first != head:
        raise WorkFileError(
            f"{path}: it was begun with other settings; use the same ones or another file"
        )
    lines = lines_of(path, content)
    file.truncate(content.rfind(b"\n") + 1)
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


def line_text(line: Line) -> str:
    """A result as its line in the file, with the newline."""
    return json.dumps(line, separators=(",", ":")) + "\n"
