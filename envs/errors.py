"""The library's exceptions; each is a `ValueError` whose message says what would be right."""

from __future__ import annotations

import contextlib
import difflib
import os
import reprlib
from collections.abc import Iterable, Iterator
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 80


class IllegalActionError(ValueError):
    """An action that the rules forbid, or that the game does not have; nothing has changed."""


class OptionError(ValueError):
    """An argument or option with an invalid value, or one that cannot change on reset."""


class UnknownOptionError(OptionError, TypeError):
    """An unknown keyword argument; also a `TypeError`, which Python raises for these."""


class PositionError(ValueError):
    """A position text that is malformed or impossible, or that no episode can start from.

    No episode starts from a position in which the game is over.
    """


class MoveNameError(ValueError):
    """A text that does not name a move of the game."""


class RecordError(ValueError):
    """A game record that is malformed or does not fit the rules."""


class DeviceError(ValueError):
    """A device that is missing, or that the installed packages cannot use."""


def brief(value: Any) -> str:
    """A value on one short line, for the text of an exception."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"an int of {value.bit_length()} bits"
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # Python refuses to write ints of 5,000 digits, also inside containers
        return f"a value of type {type(value).__name__}"


LONGEST_NAME = 100
"""Letters of an unknown name that is compared with others, which takes their square in time."""


def did_you_mean(word: Any, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `; did you mean 'x'?`, or "" if none is close."""
    if not isinstance(word, str) or len(word) > LONGEST_NAME:
        return ""
    names = {name.lower(): name for name in known}
    begun = (name for name in names if len(word) > 2 and name.startswith(word.lower()))
    close = [*difflib.get_close_matches(word.lower(), names, n=1), *begun]
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def told(error: BaseException) -> str:
    """An exception in one line, even if `str()` of it fails."""
    try:
        text = " ".join(str(error).split())
    except BaseException as another:
        text = f"its text cannot be shown ({type(another).__name__})"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@contextlib.contextmanager
def naming(file: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of the system name a file.

    Those about an open file, such as that the disk is full, name none, and others may name a
    temporary file beside it.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None:  # otherwise its text would no longer be shown
            error.filename = os.fspath(file)
            del error.filename2  # None would be shown
        raise
