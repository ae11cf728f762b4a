"""Threads end when they are left, however often Ctrl-C comes while they are waited for."""

from __future__ import annotations

import threading

import pytest

from azumaya.baselines.search.budget import Rooms
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.system.threads import work_through
from azumaya.envs import Position
from tests.processes import python

PATIENCE = 100
INTERRUPTED = """
import functools, itertools, os, signal, sys, threading, time
from azumaya.baselines.system.threads import work_through

again, attempts, running = sys.argv[1] == "twice", int(sys.argv[2]), set()

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def work(room, i):
    running.add(room)
    if next(begun) == 1:  # both of them run
        threading.Timer(0.0125 * attempt / attempts, interrupt).start()
    while not stop.is_set():
        time.sleep(0.001)
    if again and room == 0:
        interrupt()
    time.sleep(0.02)  # the end of a call of a kernel
    running.remove(room)

for attempt in range(attempts):
    begun, stop = itertools.count(), threading.Event()
    try:
        work_through(range(4), [functools.partial(work, room) for room in range(2)], stop)
    except KeyboardInterrupt:
        # After a second one, or one as they begin, they end by themselves. They run in between the
        # pieces of this wait, though the machine may have stood still for all of it.
        for _ in range(10):
            time.sleep(0.01)
        print("running" if running else "ended")
"""


@pytest.mark.parametrize("attempts", [5, pytest.param(25, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", ["once", "twice"])
def test_no_thread_runs_after_ctrl_c(how: str, attempts: int) -> None:
    """Nor soon after a second one: the next search uses the memory that they have written to.

    In a separate process, because that of the tests may handle signals in another way.
    """
    done = python("-c", INTERRUPTED, how, attempts, timeout=PATIENCE)
    assert done.stdout.split() == ["ended"] * attempts, done.stderr


def test_an_error_stops_the_others_and_is_raised() -> None:
    seen, stop = list[int](), threading.Event()

    def wait(i: int) -> None:
        stop.wait(PATIENCE)
        seen.append(i)

    def fail(i: int) -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        work_through(range(9), [wait, fail], stop)
    assert len(seen) <= 1


def test_each_item_is_taken_once() -> None:
    seen = list[int]()
    work_through(range(100), [seen.append] * 3, threading.Event())
    assert sorted(seen) == [*range(100)]


def test_no_later_search_uses_the_memory_of_one_that_was_interrupted() -> None:
    """After a second Ctrl-C a thread may still write to it."""
    rooms, positions = Rooms(lambda kernels: object(), 2), [Position("sudoku_moyo")] * 2

    def interrupted(*given: object) -> None:
        raise KeyboardInterrupt

    before = rooms.take(kernels_of(positions[0]), 2)
    with pytest.raises(KeyboardInterrupt):
        rooms.each(positions, interrupted)
    assert not {*before} & {*rooms.take(kernels_of(positions[0]), 2)}
