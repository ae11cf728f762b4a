"""Files of JSON lines to which results are added: a head with the settings, then a line for each.

Lines are only ever appended. A writer that is killed leaves a torn last line at most; it does not
count, and is removed before the next line is written. A journal without results takes another head.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar, cast

from azumaya.baselines.system.files import (
    is_special,
    line_text,
    locked,
    parse_json,
    shown,
    write_all,
)
from azumaya.envs.errors import brief, naming
from azumaya.envs.extras import require

Line = dict[str, Any]
Typed = TypeVar("Typed")
FLUSHED = 1.0
"""Seconds between flushes to the disk."""


class Kind(NamedTuple):
    """What is common to all journals of a kind.

    Attributes:
        error: what is raised for a file that cannot be used; its message begins with the path.
        foreign: says that a file is of another kind.
        in_use: says that another process is adding to it.
        differ: says why a head does not go with the one that is wanted; empty if it does.
        mode: the permissions of a new file.
    """

    error: type[ValueError]
    foreign: str
    in_use: str
    differ: Callable[[Line, Line], str]
    mode: int = 0o666


def differences(found: Line, wanted: Line, within: str = "") -> list[str]:
    """The names of the settings in which a head differs; nested ones as `limits.move`."""
    names = []
    for key in {**wanted, **found}:
        one, other = found.get(key), wanted.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            names += differences(one, other, f"{within}{key}.")
        elif one != other:
            names.append(f"{within}{key}")
    return names


def begun_otherwise(
    found: Line, wanted: Line, place: str, names: Mapping[str, str] = MappingProxyType({})
) -> str:
    """In which settings a head differs from the one that is wanted, in words; empty if in none.

    Args:
        found: the head of a journal.
        wanted: the one that is wanted.
        place: what else could be used, such as `file`.
        names: what settings are called where they are made, by the name they have in the head.
    """
    other = ", ".join(names.get(name, name) for name in differences(found, wanted))
    if not other:
        return ""
    return f"it was begun with other settings: {other}; use the same, or another {place}"


class Journal:
    """A file to which only this process appends, from any of its threads.

    Args:
        path: the file; made if it does not exist.
        head: the settings, on which all results depend, as JSON values.
        kind: what is common to its kind.
        take: is given each line after the head; what it raises is told with the number of the line.

    Raises:
        ValueError: of the kind's own type: the file is damaged, was begun with other settings, is
            of another kind or in use. It is left as it is.
        OSError: it cannot be read or written.
    """

    def __init__(
        self, path: Path, head: Mapping[str, Any], kind: Kind, take: Callable[[Line], None]
    ) -> None:
        _check_regular(path, kind)
        self._path, self._lock, self._flushed = path, threading.Lock(), 0.0
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, kind.mode)
        try:
            if not locked(self._file):
                raise kind.error(f"{shown(path)}: {kind.in_use}")
            self._begin(json.loads(line_text(head)), kind, take)
        except BaseException:
            self._let_go()
            raise

    def _begin(self, head: Line, kind: Kind, take: Callable[[Line], None]) -> None:
        """Write the head of a journal without results, or read what is there."""
        if _is_open_to(self._path, head):
            self._size = 0
            self.append(head)
            return

        def see(number: int, line: Line) -> None:
            if number > 1:
                take(line)
            elif different := kind.differ(line, head):
                raise kind.error(f"{shown(self._path)}: {different}")

        self._size = read_journal(self._path, kind, see)

    def append(self, line: Mapping[str, Any]) -> None:
        """Add a line.

        Raises:
            ValueError: it has a number that JSON does not have: infinity, or what is no number.
            OSError: it cannot be written, and does not count.
        """
        content = line_text(line).encode()
        with self._lock, naming(self._path):
            if os.fstat(self._file).st_size != self._size:  # a line that was only half written
                os.ftruncate(self._file, self._size)
            write_all(self._file, content)
            self._size += len(content)
            if time.monotonic() - self._flushed > FLUSHED:
                os.fsync(self._file)
                self._flushed = time.monotonic()

    def close(self) -> None:
        """Flush to the disk and close the file, which others can open then."""
        try:
            with naming(self._path):
                os.fsync(self._file)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        file, self._file = self._file, -1  # a late line must not end up in another open file
        os.close(file)


def read_journal(path: Path, kind: Kind, see: Callable[[int, Line], None]) -> int:
    """Read a journal, to which another process may be adding; a torn last line is left out.

    Args:
        path: the file.
        kind: what is common to its kind.
        see: is given each line with its number from 1; what it raises is told with the number.

    Returns:
        The bytes of the whole lines.

    Raises:
        ValueError: of the kind's own type: the file is damaged or of another kind.
        OSError: it cannot be read.
    """
    _check_regular(path, kind)
    size = number = 0
    with path.open("rb") as file:
        while (line := file.readline()).endswith(b"\n"):
            number += 1
            try:
                see(number, _object(line))
            except kind.error:
                raise
            except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                what = "damaged" if number > 1 else kind.foreign
                raise kind.error(f"{shown(path)}, line {number}: {what}: {error}") from error
            size += len(line)
    if not number:
        raise kind.error(f"{shown(path)}: {kind.foreign}")
    return size


def read_head(path: Path) -> Line | None:
    """The first line of a file, if it is a whole one with a JSON object."""
    if is_special(path):
        return None
    try:
        with path.open("rb") as file:
            line = file.readline()
        return _object(line) if line.endswith(b"\n") else None
    except (FileNotFoundError, ValueError):
        return None


def _check_regular(path: Path, kind: Kind) -> None:
    if is_special(path):
        raise kind.error(f"{shown(path)}: not a regular file")


def _is_open_to(path: Path, head: Line) -> bool:
    """Whether a file without results takes a head: its own is torn, or that of other settings."""
    with path.open("rb") as file:
        first, second = file.readline(), file.readline()
    if first.endswith(b"\n"):
        found = None if second.endswith(b"\n") else read_head(path)
        if found is None or found.keys() != head.keys():
            return False
        alike = all(found[name] == head[name] for name in ("record", "format") if name in head)
        return alike and found != head
    whole = line_text(head).encode()
    name = whole[: whole.find(b",")][: len(first)]  # a torn one may have other settings
    return first[: len(name)] == name


def _object(line: bytes) -> Line:
    found = parse_json(line)
    if not isinstance(found, dict):
        raise ValueError(f"the line {brief(found)} is not a JSON object")
    return found


def typed(line: Mapping[str, Any], form: type[Typed]) -> Typed:
    """An object of JSON as a dataclass, with all its types checked (needs the extra `records`).

    Raises:
        ValueError: a field is missing, unknown, or of another type.
    """
    unknown = line.keys() - _names_of(cast("Any", form))
    if unknown:
        raise ValueError(f"{brief(min(unknown))} is unknown")
    msgspec = require("msgspec", "records")
    try:
        found: Typed = msgspec.convert(line, form)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    return found


@functools.cache
def _names_of(form: Any) -> frozenset[str]:
    return frozenset(field.name for field in fields(form))
