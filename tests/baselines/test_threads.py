"""Threads have ended when they are left, however often Ctrl-C comes while they are waited for."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from azumaya.baselines.search.budget import share
from azumaya.baselines.threads import Together

PATIENCE = 100
INTERRUPTED = """
import itertools, os, signal, sys, threading, time
from azumaya.baselines.search.budget import share

again, running = sys.argv[1] == "twice", set()

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def work(i, room, stopped):
    running.add(room)
    if next(begun) == 1:  # both of them run
        threading.Timer(0.0005 * attempt, interrupt).start()
    while not stopped():
        time.sleep(0.001)
    if again and room == 0:
        interrupt()
    time.sleep(0.02)  # the end of a call of a kernel
    running.remove(room)

for attempt in range(25):
    begun = itertools.count()
    try:
        share(work, 4, [0, 1])
    except KeyboardInterrupt:
        print("running" if running else "ended")
"""


@pytest.mark.parametrize("how", ["once", "twice"])
def test_no_thread_runs_after_ctrl_c(how: str) -> None:
    """The next search would use the memory that such a thread still writes to.

    In a separate process, because that of the tests may handle signals in another way.
    """
    words = [sys.executable, "-c", INTERRUPTED, how]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout.split() == ["ended"] * 25, done.stderr


def test_an_error_stops_the_others_and_is_raised() -> None:
    seen = []

    def work(i: int, room: int, stopped: Callable[[], bool]) -> None:
        if room == 1:
            raise OSError("full")
        while not stopped():
            time.sleep(0.001)
        seen.append(i)

    with pytest.raises(OSError, match="full"):
        share(work, 9, [0, 1])
    assert len(seen) <= 1


def test_threads_that_never_began_are_not_waited_for() -> None:
    threads = Together([lambda: None] * 3, threading.Event())
    threads.end()
