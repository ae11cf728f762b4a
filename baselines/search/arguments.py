"""Checks of the arguments that searches have in common."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from numbers import Real
from typing import Any

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.whole import whole_number

MOST_MEGABYTES = 10_000_000
MOST_CUT = 1 << 30
"""The most plies of a rollout that can be asked for."""


def check_number(name: str, value: Any, *, most: float = math.inf, above: bool = False) -> float:
    """A finite number from 0 to `most`, or `above` 0; `OptionError` for anything else."""
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if fits and 0 <= value <= min(most, sys.float_info.max) and (value or not above):
        return float(value)
    least = "above 0" if above else "from 0"
    limit = "" if most == math.inf else f" to {most:,.10g}"
    raise OptionError(f"{name}={brief(value)}: a number {least}{limit} is needed")


def check_cut(cut: Any) -> int:
    """The plies of a rollout, 0 for no limit; `OptionError` for anything else."""
    return whole_number(cut, "cut", 0, MOST_CUT)


def check_megabytes(megabytes: Any) -> float:
    """An amount of memory above 0, whether it suffices or not; `OptionError` for anything else."""
    return check_number("megabytes", megabytes, most=MOST_MEGABYTES, above=True)


@contextlib.contextmanager
def allocating(megabytes: float) -> Iterator[None]:
    """Raise `OptionError` where there is not as much memory as `megabytes` asks for."""
    try:
        yield
    except MemoryError as error:
        raise OptionError(
            f"megabytes={brief(megabytes)}: this machine cannot give so much memory"
        ) from error
