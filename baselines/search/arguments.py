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
MOST_EXPLORATION = 1e6
"""The largest exploration weight: bonuses are computed in float32, which ends at 3.4e38."""
LEAST_TEMPERATURE = 1e-30
"""The smallest temperature above 0: what is divided by it stays finite. The best move has all
weight long before."""
MOST_CUT = 1 << 30
"""The most plies of a rollout that can be asked for."""


def check_number(
    name: str, value: Any, *, least: float = 0.0, most: float = math.inf, above: bool = False
) -> float:
    """A finite number from `least` to `most`, or `above` 0; `OptionError` for anything else."""
    fits = isinstance(value, Real) and not isinstance(value, bool)
    if fits and least <= value <= min(most, sys.float_info.max) and (value or not above):
        return float(value)
    lowest = "above 0" if above else f"from {least:g}"
    limit = "" if most == math.inf else f" to {most:,.10g}"
    raise OptionError(f"{name}={brief(value)}: a number {lowest}{limit} is needed")


def check_exploration(exploration: Any) -> float:
    """An exploration weight; `OptionError` for anything else."""
    return check_number("exploration", exploration, most=MOST_EXPLORATION)


def check_temperature(temperature: Any) -> float:
    """A temperature above 0; `OptionError` for anything else, also where it is too small."""
    return check_number("temperature", temperature, least=LEAST_TEMPERATURE)


def check_cut(cut: Any) -> int:
    """The plies of a rollout, 0 for no limit; `OptionError` for anything else."""
    return whole_number(cut, "cut", 0, MOST_CUT)


def check_megabytes(megabytes: Any) -> float:
    """An amount of memory above 0, whether it suffices or not; `OptionError` for anything else."""
    return check_number("megabytes", megabytes, most=MOST_MEGABYTES, above=True)


@contextlib.contextmanager
def allocating(megabytes: float, times: int = 1) -> Iterator[None]:
    """Raise `OptionError` where there is not `times` as much memory as `megabytes` asks for."""
    try:
        yield
    except MemoryError as error:
        each = f" for each of {times} games" if times > 1 else ""
        raise OptionError(
            f"megabytes={brief(megabytes)}{each}: this machine cannot give so much memory"
        ) from error
