"""Threads share the slices of a batch, so that every row is processed exactly once."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any

import numpy as np
import pytest

from azumaya.envs.engine.workers import LEAST, Workers
from azumaya.envs.kernels.compile import INTERPRETED, kernel
from tests.processes import eventually

THREADS = 3
MANY = THREADS * LEAST
"""Enough games that every thread is used."""
COUNTS = (1, 2 * LEAST - 1, 2 * LEAST, MANY, 5 * MANY + 3) if not INTERPRETED else (1, 50)
compiled_only = pytest.mark.skipif(INTERPRETED, reason="interpreted kernels use one thread")


@kernel
def mark(start, stop, marks):  # type: ignore[no-untyped-def]
    """Count a visit of each row; returns the first row."""
    for i in range(start, stop):
        marks[i] += 1
    return start


@pytest.fixture
def workers() -> Any:
    made = Workers(THREADS)
    yield made
    made.close()


def worker_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "azumaya"}


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_every_row_is_processed_once(workers: Workers, fixed: bool, pause: float) -> None:
    """Whether the other threads are spinning or asleep; results are in the order of the slices."""
    for count in COUNTS:
        marks, size = np.zeros(count, np.int64), workers.slice_of(count)
        for runs in range(1, 4):
            time.sleep(pause)
            firsts = workers.run(mark, count, lambda marks=marks: (marks,), fixed=fixed)
            assert firsts == list(range(0, count, size))
            assert (marks == runs).all()


@compiled_only
def test_consecutive_runs_do_not_interfere(workers: Workers) -> None:
    """Runs do not interfere, although threads may join a run late."""
    marks = [np.zeros(MANY, np.int64) for _ in range(7)]
    for run in range(700):
        workers.run(mark, MANY, lambda run=run: (marks[run % 7],), fixed=True)
    assert all((each == 100).all() for each in marks)


@compiled_only
def test_all_threads_take_part(workers: Workers) -> None:
    """Each thread asks for its own arguments."""
    all_here = threading.Barrier(THREADS)

    def arguments() -> tuple[Any, ...]:
        all_here.wait(60)
        return (np.zeros(MANY, np.int64),)

    workers.run(mark, MANY, arguments)


@compiled_only
@pytest.mark.parametrize(("least", "settings"), [(LEAST, {}), (50, {"least": 50, "smallest": 4})])
def test_few_games_take_few_threads(least: int, settings: dict[str, int]) -> None:
    """A thread that would get fewer than `least` games is not used."""
    workers = Workers(64, **settings)
    for count in (2 * least - 1, 2 * least, 3 * least):
        marks, asked = np.zeros(count, np.int64), list[int]()  # a late thread may ask after its run
        workers.run(mark, count, lambda marks=marks, asked=asked: (asked.append(1), marks)[1:])
        assert len(asked) <= count // least
        assert (workers.slice_of(count) < count) == (count >= 2 * least)
    workers.close()


@compiled_only
@pytest.mark.parametrize("main", [True, False])
def test_errors_in_threads_are_raised(workers: Workers, main: bool) -> None:
    """An error in any thread is raised, and the next run works."""
    marks, failed = np.zeros(MANY, np.int64), threading.Event()

    def arguments() -> tuple[Any, ...]:
        if (threading.current_thread() is threading.main_thread()) == main:
            failed.set()
            raise RuntimeError("one thread")
        assert failed.wait(60)
        return (marks,)

    with pytest.raises(RuntimeError, match="one thread"):
        workers.run(mark, MANY, arguments)
    marks[:] = 0  # no thread is still working
    workers.run(mark, MANY, lambda: (marks,))
    assert (marks == 1).all()


@compiled_only
def test_threads_end() -> None:
    """Threads end on `close` and when their owner is gone; closed workers may run again."""
    before, marks = worker_threads(), np.zeros(MANY, np.int64)
    for end in ("close", "forget"):
        workers = Workers(THREADS)
        workers.run(mark, MANY, lambda: (marks,), fixed=True)
        assert len(worker_threads() - before) == THREADS - 1
        if end == "close":
            workers.close()
            workers.run(mark, MANY, lambda: (marks,))
            workers.close()
        del workers
        gc.collect()
        eventually(lambda: worker_threads() <= before)
