"""Rates by the clock: units a second, the median of some repeats with their spread.

The clock is the CPU time of the process, all its threads together: on a machine that others use
as well it tells what an undisturbed core would give. Wall time is kept beside it, for threads.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_STRETCH = 8
"""A repeat ends after so many times its length by the wall clock, however little it ran."""


@dataclass
class Rates:
    """Units a second in each repeat, by CPU time and by the wall clock."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median by CPU time."""
        return statistics.median(self.cpu)

    @property
    def median_wall(self) -> float:
        """The median by the wall clock."""
        return statistics.median(self.wall)

    def fields(self, prefix: str = "") -> dict[str, Any]:
        """The figures as fields of a row: value, low and high by CPU time, wall's median."""
        return {
            f"{prefix}value": _short(self.median),
            f"{prefix}low": _short(min(self.cpu)),
            f"{prefix}high": _short(max(self.cpu)),
            f"{prefix}wall": _short(self.median_wall),
        }


def _short(value: float) -> float:
    """A rate with the digits it deserves."""
    return float(f"{value:.5g}")


class Stopwatch:
    """CPU and wall time spent within some stretches of code.

    Reading the clocks costs about as much as a step of one game; `cost` is taken off.
    """

    def __init__(self, cost: float = 0.0) -> None:
        self.cpu = self.wall = 0.0
        self._cost = cost

    def start(self) -> None:
        """Begin a stretch."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        """End it."""
        self.cpu += time.process_time() - self._cpu - self._cost
        self.wall += time.perf_counter() - self._wall - self._cost

    def clear(self) -> None:
        """Begin anew."""
        self.cpu = self.wall = 0.0


def stopwatch_cost(reads: int = 2000) -> float:
    """Seconds an empty stretch takes by a stopwatch."""
    watch = Stopwatch()
    for _ in range(reads):
        watch.start()
        watch.stop()
    return watch.cpu / reads


def measure(
    chunk: Callable[[], int],
    seconds: float,
    repeats: int,
    inside: tuple[Stopwatch, Rates] | None = None,
) -> Rates:
    """Units a second of work that `chunk()` does, which returns how many units it did.

    Args:
        chunk: called once to warm up, then again and again.
        seconds: CPU time of a repeat, at least.
        repeats: how many repeats.
        inside: a stopwatch that `chunk` runs around a part of its work, and where to put the
            units a second of that part.
    """
    chunk()
    rates = Rates()
    for _ in range(repeats):
        if inside:
            inside[0].clear()
        done, wall, cpu = 0, time.perf_counter(), time.process_time()
        spent = lasted = 0.0
        while spent < seconds and lasted < MAX_STRETCH * seconds:
            done += chunk()
            spent, lasted = time.process_time() - cpu, time.perf_counter() - wall
        rates.cpu.append(done / max(spent, 1e-9))
        rates.wall.append(done / max(lasted, 1e-9))
        if inside:
            watch, part = inside
            part.cpu.append(done / max(watch.cpu, 1e-9))
            part.wall.append(done / max(watch.wall, 1e-9))
    return rates
