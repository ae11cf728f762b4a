"""Whole numbers from users: one check for all arguments that must be whole numbers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from azumaya.envs.errors import OptionError, brief

_WORD = 32
"""Limits of this many bits or more are written as powers of two."""


def as_whole(value: Any) -> int | None:
    """A whole number of any type as an int; None for anything else, including bools."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def are_several(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a sequence or an array; a text is one value, not several."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def whole_number(
    value: Any,
    name: str,
    low: int | None = None,
    high: int | None = None,
    error: type[ValueError] = OptionError,
) -> int:
    """Validate that a value is a whole number in a range, and return it as an int.

    Accepts anything that Python accepts as an index, such as NumPy integers, except bools; floats
    are rejected.

    Args:
        value: the value.
        name: the name of the argument, for the message.
        low: the lowest number allowed; None for no limit.
        high: the highest number allowed; None for no limit.
        error: the exception to raise.

    Raises:
        error: the value is not a whole number or lies outside the range.
    """
    number = as_whole(value)
    below = number is not None and low is not None and number < low
    above = number is not None and high is not None and number > high
    if number is None or below or above:
        raise error(f"{name}={brief(value)}: a whole number{_range(low, high)} is needed")
    return number


def _range(low: int | None, high: int | None) -> str:
    """The range in words, with a leading space; empty if there is no limit."""
    least = "" if low is None else f" from {_limit(low)}"
    most = "" if high is None else f" {'up ' * (low is None)}to {_limit(high)}"
    return least + most


def _limit(limit: int) -> str:
    bits = limit.bit_length()
    return f"2**{bits} - 1" if bits >= _WORD and limit == 2**bits - 1 else str(limit)
