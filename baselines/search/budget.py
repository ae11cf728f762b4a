"""How long a search may take, and how it is run: in short calls, on as many threads as wanted."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from azumaya.envs.errors import OptionError
from azumaya.envs.whole import as_whole

SLICE = 0.01
"""Seconds that a call of a kernel should take: Ctrl-C waits for its end."""
FIRST_STEPS = 32
WAIT = 0.05
"""Seconds between looks of the calling thread at whether it has been interrupted."""

Result = TypeVar("Result")
Room = TypeVar("Room")


@dataclass(frozen=True)
class Budget:
    """What a search may spend: steps (simulations or nodes), or time.

    A search with a budget in steps gives the same result everywhere; with a budget in time it
    depends on the machine.

    Attributes:
        steps: simulations or nodes; None for no limit.
        milliseconds: wall time; None for no limit.

    Raises:
        OptionError: a limit is no positive number, or both or neither are given.
    """

    steps: int | None = None
    milliseconds: float | None = None

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.milliseconds is None):
            raise OptionError(
                f"budget: steps={self.steps!r}, milliseconds={self.milliseconds!r}: exactly one of "
                "the two must be given"
            )
        if self.steps is not None and (as_whole(self.steps) is None or self.steps < 1):
            raise OptionError(f"budget: steps={self.steps!r}: a whole number from 1 is needed")
        if self.milliseconds is not None and not 0 < self.milliseconds < float("inf"):
            raise OptionError(
                f"budget: milliseconds={self.milliseconds!r}: a number above 0 is needed"
            )

    def __str__(self) -> str:
        if self.steps is not None:
            return str(self.steps)
        return f"{self.milliseconds:g}ms"


class Search(Protocol):
    """A search that can be run piece by piece."""

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to search."""

    def advance(self, steps: int) -> int:
        """Make up to so many steps; returns how many."""


class Rooms(Generic[Room]):
    """Rooms to search in, made when they are needed and kept for the next searches.

    Args:
        make: makes the room for the kernels of a game.
        threads: how many are needed at most.
    """

    def __init__(self, make: Callable[[Any], Room], threads: int) -> None:
        self._make, self._threads = make, threads
        self._kernels: Any = None
        self._rooms: list[Room] = []

    def take(self, kernels: Any, count: int) -> Sequence[Room]:
        """Rooms for a game, one for each of `count` positions as far as there are threads."""
        if self._kernels != kernels:
            self._kernels, self._rooms = kernels, []
        while len(self._rooms) < min(self._threads, count):
            self._rooms.append(self._make(kernels))
        return self._rooms

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernels": None, "_rooms": []}


def spend(search: Search, budget: Budget, stopped: Callable[[], bool] = lambda: False) -> None:
    """Run a search until it is finished, its budget is spent, or it is told to stop.

    The clock is read between calls of about `SLICE` seconds. How the steps are divided among
    calls does not change the result. The first step does not count as time, because it may have to
    wait until the kernel is compiled.
    """
    if budget.steps is None and not search.finished:
        search.advance(1)
    began = time.perf_counter()
    limit = None if budget.milliseconds is None else budget.milliseconds / 1000
    done, steps, now = 0, FIRST_STEPS, began
    while not search.finished and not stopped():
        if budget.steps is not None:
            steps = min(steps, budget.steps - done)
        if steps < 1:
            return
        done += search.advance(steps)
        before, now = now, time.perf_counter()
        wanted = SLICE
        if limit is not None:
            left = limit - (now - began)
            if left <= 0:
                return
            wanted = min(SLICE, left)
        rate = wanted / max(now - before, 1e-7)
        steps = max(1, int(steps * min(rate, 4.0)))


def share(
    work: Callable[[int, Room, Callable[[], bool]], Result], count: int, rooms: Sequence[Room]
) -> list[Result]:
    """Call `work(i, room, stopped)` for each `i` below `count`, one thread for each room.

    Kernels run without the GIL, so threads use several cores. Where one call raises, or the user
    presses Ctrl-C, the others are told to stop, and the exception is raised once they have.
    """
    if len(rooms) == 1 or count <= 1:
        return [work(i, rooms[0], lambda: False) for i in range(count)]
    results: list[Any] = [None] * count
    errors: list[BaseException] = []
    stop, numbers, lock = threading.Event(), itertools.count(), threading.Lock()

    def take(room: Room) -> None:
        while not stop.is_set():
            with lock:
                i = next(numbers)
            if i >= count:
                return
            try:
                results[i] = work(i, room, stop.is_set)
            except BaseException as error:
                errors.append(error)
                stop.set()

    threads = [threading.Thread(target=take, args=(room,)) for room in rooms[:count]]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(WAIT)
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if errors:
        raise errors[0]
    return results
