"""Search budgets, and how searches run: in short calls, on several threads."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from azumaya.baselines.search.arguments import check_number
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.system.threads import work_through
from azumaya.envs import Position
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.whole import as_whole

SLICE = 0.01
"""Target duration of a kernel call in seconds; Ctrl-C takes effect when the call ends."""
FIRST_STEPS = 32

Result = TypeVar("Result")
Room = TypeVar("Room")


@dataclass(frozen=True)
class Budget:
    """The budget of a search: steps (simulations or nodes), or time.

    With a budget in steps, a search gives the same result on every machine; with a budget in time,
    it does not.

    Attributes:
        steps: simulations or nodes; None for no limit.
        milliseconds: wall time; None for no limit.

    Raises:
        OptionError: a limit is not a positive number, or both or neither are given.
    """

    steps: int | None = None
    milliseconds: float | None = None

    def __post_init__(self) -> None:
        if (self.steps is None) == (self.milliseconds is None):
            raise OptionError(
                f"budget: steps={brief(self.steps)}, milliseconds={brief(self.milliseconds)}: "
                "exactly one of the two must be given"
            )
        if self.steps is not None:
            steps = as_whole(self.steps)
            if steps is None or steps < 1:
                raise OptionError(
                    f"budget: steps={brief(self.steps)}: a whole number from 1 is needed"
                )
            object.__setattr__(self, "steps", steps)
        if self.milliseconds is not None:
            check_number("budget: milliseconds", self.milliseconds, above=True)

    def __str__(self) -> str:
        if self.steps is not None:
            return str(self.steps)
        assert self.milliseconds is not None
        # a plain decimal number, which the names of agents take; the shortest that is exact
        return f"{np.format_float_positional(float(self.milliseconds), trim='-')}ms"


def check_budget(budget: Any) -> Budget:
    """A budget; `OptionError` for anything else."""
    if not isinstance(budget, Budget):
        raise OptionError(
            f"budget={brief(budget)}: a Budget is needed, such as Budget(1000) or "
            "Budget(milliseconds=50)"
        )
    return budget


class Search(Protocol):
    """A search that can be run in steps."""

    @property
    def finished(self) -> bool:
        """Whether the search is complete."""

    def run(self, steps: int) -> int:
        """Make up to `steps` steps; returns the number made."""


class Rooms(Generic[Room]):
    """Search memory, allocated when needed and reused by later searches.

    Args:
        make: allocates a room for a game's kernels.
        threads: the most rooms needed.
    """

    def __init__(self, make: Callable[[GameKernels], Room], threads: int) -> None:
        self._make, self._threads = make, threads
        self._kernels: GameKernels | None = None
        self._rooms: list[Room] = []

    def take(self, kernels: GameKernels, count: int) -> list[Room]:
        """Rooms for a game: one for each of `count` positions, up to the number of threads."""
        if self._kernels != kernels:
            self._kernels, self._rooms = kernels, []
        while len(self._rooms) < min(self._threads, count):
            self._rooms.append(self._make(kernels))
        return self._rooms[:count]

    def each(
        self,
        positions: Sequence[Position],
        work: Callable[[int, Room, Callable[[], bool]], Result],
    ) -> list[Result]:
        """Call `work(i, room, stopped)` for each position of a game, with one thread per room.

        Kernels release the GIL, so threads use several cores. If a call raises, or the user presses
        Ctrl-C, the other calls are stopped before the exception is raised.
        """
        if not positions:
            return []
        count = len(positions)
        rooms = self.take(kernels_of(positions[0]), count)
        if len(rooms) == 1:
            return [work(i, rooms[0], lambda: False) for i in range(count)]
        results: list[Any] = [None] * count
        stop = threading.Event()

        def worker(room: Room, i: int) -> None:
            results[i] = work(i, room, stop.is_set)

        try:
            work_through(range(count), [functools.partial(worker, room) for room in rooms], stop)
        except BaseException:
            self._rooms = []  # after a second Ctrl-C a thread may still write to one for a moment
            raise
        return results

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kernels": None, "_rooms": []}


def spend(search: Search, budget: Budget, stopped: Callable[[], bool] = lambda: False) -> None:
    """Run a search until it is finished, its budget is spent, or `stopped` returns true.

    The clock is read between calls of about `SLICE` seconds. How the steps are divided among calls
    does not change the result. The time of the first step does not count, because the kernel may
    have to be compiled first.
    """
    if budget.steps is None and not search.finished:
        search.run(1)
    began = time.perf_counter()
    limit = None if budget.milliseconds is None else budget.milliseconds / 1000
    done, steps, now = 0, FIRST_STEPS, began
    while not search.finished and not stopped():
        if budget.steps is not None:
            steps = min(steps, budget.steps - done)
        if steps < 1:
            return
        done += search.run(steps)
        before, now = now, time.perf_counter()
        wanted = SLICE
        if limit is not None:
            left = limit - (now - began)
            if left <= 0:
                return
            wanted = min(SLICE, left)
        rate = wanted / max(now - before, 1e-7)
        steps = max(1, int(steps * min(rate, 4.0)))
