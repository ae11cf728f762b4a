"""Rates in units per second: the median of several repeats, with their spread.

The clock is the CPU time of the process, summed over its threads: even on a busy machine it shows
what an idle core would reach. Wall time is recorded, too, for measurements with threads.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_STRETCH = 8.0
"""A repeat ends after this multiple of its length in wall time, even if it got little CPU time."""


@dataclass
class Rates:
    """Units per second in each repeat, by CPU time and by wall time."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median by CPU time."""
        return statistics.median(self.cpu)

    @property
    def median_wall(self) -> float:
        """The median by wall time."""
        return statistics.median(self.wall)

    def fields(self, prefix: str = "") -> dict[str, Any]:
        """The fields of a row: value, low and high by CPU time, and the median by wall time.

        Without wall times that one is left out.
        """
        found = {
            f"{prefix}value": _short(self.median),
            f"{prefix}low": _short(min(self.cpu)),
            f"{prefix}high": _short(max(self.cpu)),
        }
        return found | ({f"{prefix}wall": _short(self.median_wall)} if self.wall else {})


def _short(value: float) -> float:
    """A rate rounded to its significant digits."""
    return float(f"{value:.5g}")


class Stopwatch:
    """Measures the CPU and wall time spent in parts of the code.

    Reading the clocks takes about as long as a step of one game; `cost` is subtracted for it.
    """

    def __init__(self, cost: float = 0.0) -> None:
        self.cpu = self.wall = 0.0
        self._cost = cost

    def start(self) -> None:
        """Start the clocks."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def stop(self) -> None:
        """Stop the clocks."""
        self.cpu += time.process_time() - self._cpu - self._cost
        self.wall += time.perf_counter() - self._wall - self._cost

    def clear(self) -> None:
        """Set the times to zero."""
        self.cpu = self.wall = 0.0


def stopwatch_cost(reads: int = 2000) -> float:
    """The seconds that a stopwatch measures between `start` and an immediate `stop`."""
    watch = Stopwatch()
    for _ in range(reads):
        watch.start()
        watch.stop()
    return watch.cpu / reads


class Meter:
    """Counts units while the caller does them, and finds the rates.

        meter = Meter(seconds, repeats)
        while meter.goes_on():
            meter.count(units)

    Args:
        seconds: the least CPU time of a repeat.
        repeats: the number of repeats.
        stretch: a repeat ends after this multiple of `seconds` in wall time in any case.

    Attributes:
        rates: the rates of the repeats that have ended.
        done: the units of the last of these.
    """

    done = 0

    def __init__(self, seconds: float, repeats: int, stretch: float = MAX_STRETCH) -> None:
        self.seconds, self.repeats, self.rates = seconds, repeats, Rates()
        self._longest = stretch * seconds
        self._begin()

    def _begin(self) -> None:
        self._done, self._wall, self._cpu = 0, time.perf_counter(), time.process_time()

    def goes_on(self) -> bool:
        """Whether a repeat is still to be measured."""
        return len(self.rates.cpu) < self.repeats

    def count(self, units: int) -> bool:
        """Count units that were just done; returns whether a repeat has ended with them."""
        self._done += units
        spent, lasted = time.process_time() - self._cpu, time.perf_counter() - self._wall
        if spent < self.seconds and lasted < self._longest:
            return False
        self.rates.cpu.append(self._done / max(spent, 1e-9))
        self.rates.wall.append(self._done / max(lasted, 1e-9))
        self.done = self._done
        self._begin()
        return True


def measure(
    chunk: Callable[[], int],
    seconds: float,
    repeats: int,
    inside: tuple[Stopwatch, Rates] | None = None,
) -> Rates:
    """Measure the units per second of `chunk()`, which returns how many units it did.

    Args:
        chunk: called once to warm up, then repeatedly.
        seconds: the least CPU time of a repeat.
        repeats: the number of repeats.
        inside: a stopwatch that `chunk` runs around a part of its work, and the `Rates` that
            receive the rates of that part.
    """
    chunk()
    if inside:
        inside[0].clear()
    meter = Meter(seconds, repeats)
    while meter.goes_on():
        if meter.count(chunk()) and inside:
            watch, part = inside
            part.cpu.append(meter.done / max(watch.cpu, 1e-9))
            part.wall.append(meter.done / max(watch.wall, 1e-9))
            watch.clear()
    return meter.rates
