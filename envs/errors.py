"""The exceptions of the library; each is a `ValueError` whose text says what would be right."""

from __future__ import annotations

import reprlib
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 80


class IllegalActionError(ValueError):
    """An action that the rules forbid, or that is no action of the game; nothing was changed."""


class OptionError(ValueError):
    """An option with a value it cannot take, or that cannot change at a reset."""


class UnknownOptionError(OptionError, TypeError):
    """A keyword argument that there is not; a `TypeError`, too, as Python raises for such."""


class PositionError(ValueError):
    """A position text that is malformed, impossible, or cannot be started from."""


class MoveNameError(ValueError):
    """A text that names no move of the game."""


class RecordError(ValueError):
    """A game record that is malformed or does not fit the rules."""


class DeviceError(ValueError):
    """A device that is not there, or that what is installed cannot use."""


def brief(value: Any) -> str:
    """A value in one short line, for the text of an exception."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"an int of {value.bit_length()} bits"
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # Python refuses to write ints of 5,000 digits, inside of others too
        return f"a value of type {type(value).__name__}"
