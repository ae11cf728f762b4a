"""Threads that work together and have all ended when they are left, whatever interrupts that."""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

WAIT = 0.02
"""Seconds between looks at whether a thread has ended; signals are handled in between."""


class StoppedError(Exception):
    """What was under way has been stopped before its end."""


class Together:
    """Threads that share one event which stops them.

    Not `Thread.join`: up to Python 3.12, Ctrl-C during a `join` marks the thread as ended although
    it still runs, and later calls of `join` return at once. Here each thread says itself that it
    has ended.

    Args:
        works: what each thread calls. It must look at `stop` and return soon once it is set.
        stop: the event.
    """

    def __init__(self, works: Sequence[Callable[[], None]], stop: threading.Event) -> None:
        self._stop = stop
        self._ended = [_Ended() for _ in works]
        self._threads = [
            threading.Thread(target=functools.partial(_run, work, ended), daemon=True)
            for work, ended in zip(works, self._ended, strict=True)
        ]

    def start(self) -> None:
        """Start all of them. Call `end` in any case, even if this is interrupted."""
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Wait until all have ended, unless a signal raises an exception."""
        for ended in self._ended:
            while not ended.known:
                ended.wait()

    def end(self) -> None:
        """Stop them and wait until they have ended; raise what a signal raised only afterwards."""
        interrupted: BaseException | None = None
        self._stop.set()
        for thread, ended in zip(self._threads, self._ended, strict=True):
            while thread.ident is not None and not ended.known:
                try:
                    ended.wait()
                except (KeyboardInterrupt, SystemExit) as error:
                    interrupted = error
        if interrupted is not None:
            raise interrupted


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
    errors: list[BaseException] = []

    def follow(worker: Callable[[Item], None]) -> None:
        while not stop.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                worker(item)
            except BaseException as error:
                errors.append(error)
                stop.set()

    threads = Together([functools.partial(follow, worker) for worker in workers], stop)
    try:
        threads.start()
        threads.wait()
    except BaseException:
        threads.end()
        raise
    if errors:
        raise errors[0]


class _Ended:
    """Whether a thread has ended. An interrupted `wait` locks nothing; that of an `Event` may."""

    def __init__(self) -> None:
        self.known, self._held = False, threading.Lock()
        self._held.acquire()

    def tell(self) -> None:
        """Say that the thread has ended."""
        self.known = True
        self._held.release()

    def wait(self) -> None:
        """Wait for a moment, or until it is told."""
        self._held.acquire(timeout=WAIT)


def _run(work: Callable[[], None], ended: _Ended) -> None:
    try:
        work()
    finally:
        ended.tell()
