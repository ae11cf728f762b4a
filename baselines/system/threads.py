"""Threads that work together and have all ended when they are left."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")

WAIT = 0.1
"""Seconds of one wait for threads: on Windows, signals are only handled in between."""


class StoppedError(Exception):
    """What was under way has been stopped before its end."""


def work_through(
    items: Iterable[Item], workers: Sequence[Callable[[Item], None]], stop: threading.Event
) -> None:
    """Let each worker, in a thread of its own, take the next item until none is left.

    The first error, or an interrupt, sets `stop` and is raised when all threads have ended. Workers
    with long items should look at `stop`.
    """
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)

    def follow(worker: Callable[[Item], None]) -> None:
        while not stop.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            worker(item)

    with ThreadPoolExecutor(len(workers)) as pool:
        try:
            running = {pool.submit(follow, worker) for worker in workers}
            while running:
                ended, running = wait(running, WAIT, FIRST_COMPLETED)
                for each in ended:
                    each.result()
        except BaseException:
            stop.set()
            raise
