"""Files of long work that can be interrupted: a line with its settings, then a line per result."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.system.journal import Journal, Kind, Line, begun_otherwise, read_journal


class WorkFileError(ValueError):
    """A file of work that cannot be continued."""


WORK = Kind(
    WorkFileError,
    "not a file of work of this kind",
    "another process is working with it; wait until that has ended, or use another file",
    lambda found, wanted: begun_otherwise(found, wanted, "file"),
)


@contextlib.contextmanager
def open_work(
    path: Path, settings: Mapping[str, Any]
) -> Iterator[tuple[list[Line], Callable[[Mapping[str, Any]], None]]]:
    """Make a file of work, or open it again. Only one process can have it open.

    Args:
        path: the file; it is made, with its folder, if it is missing. If it has no results yet, it
            takes other settings of the same names.
        settings: everything that the results depend on, as JSON.

    Yields:
        The lines of earlier runs, and a function that adds one.

    Raises:
        WorkFileError: the file is damaged, was begun with other settings, is in use, or is no
            regular file.
        OSError: it cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    with contextlib.closing(Journal(path, settings, WORK, lines.append)) as file:
        yield lines, file.append


def read_work(path: Path) -> tuple[Line, list[Line]]:
    """The settings and the results of a file of work, which another process may be writing.

    Raises:
        WorkFileError: the file is missing or damaged.
    """
    lines: list[Line] = []
    try:
        read_journal(path, WORK, lambda number, line: lines.append(line))
    except OSError as error:
        raise WorkFileError(f"{path}: {error.strerror or error}") from error
    return lines[0], lines[1:]
