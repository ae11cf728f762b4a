"""A pool of threads for kernels that work on slices of a batch without holding the GIL.

Python threads and not numba's own: its work queue aborts when two Python threads run parallel
kernels at once. Slices change nothing about results, as each game draws from keys of its own.
"""

from __future__ import annotations

import operator
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from azumaya.envs.errors import OptionError

SMALLEST = 1024
"""Games a slice has at least: handing a slice to a thread costs as much as some hundred steps."""
LARGE = 8192
"""Games a slice has at most, so that a thread that is held up does not hold up the others."""


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """A number of threads, None for all cores; raises `OptionError`."""
    if threads is None:
        return available_cores()
    try:
        number = operator.index(threads)
    except TypeError:
        number = 0
    if isinstance(threads, bool) or number < 1:
        raise OptionError(f"threads={threads!r}: a whole number from 1 on, or None for all cores")
    return number


class Workers:
    """Runs a task over slices of a batch, the calling thread taking part.

    Args:
        threads: how many threads work at once; None for as many as there are cores.
    """

    def __init__(self, threads: int | None = None) -> None:
        self.threads = check_threads(threads)
        self._pool: ThreadPoolExecutor | None = None
        self._process = -1

    def run(self, task: Callable[[int, int], Any], count: int) -> list[Any]:
        """Call `task(start, stop)` for slices that cover `range(count)`; results in that order."""
        slices = self._slices(count)
        if len(slices) == 1:
            return [task(*slices[0])]
        waiting = deque(enumerate(slices))
        results: list[Any] = [None] * len(slices)

        def work() -> None:
            while True:
                try:
                    number, piece = waiting.popleft()
                except IndexError:
                    return
                results[number] = task(*piece)

        others = min(self.threads, len(slices)) - 1
        helpers = [self._threads().submit(work) for _ in range(others)]
        try:
            work()
        finally:
            errors = [helper.exception() for helper in helpers]
        for error in errors:
            if error is not None:
                raise error
        return results

    def close(self) -> None:
        """Let the threads end."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def _slices(self, count: int) -> list[tuple[int, int]]:
        if self.threads == 1 or count < 2 * SMALLEST:
            return [(0, count)]
        rounds = -(-count // (self.threads * LARGE))
        size = max(SMALLEST, -(-count // (self.threads * rounds)))
        return [(start, min(start + size, count)) for start in range(0, count, size)]

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():  # threads do not survive a fork
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="azumaya")
            self._process = os.getpid()
        return self._pool

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_pool": None}
