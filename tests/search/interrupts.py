"""Ctrl-C in the middle of a test."""

from __future__ import annotations

import _thread
import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

AFTER, AGAIN = 0.3, 2.0
"""Seconds until Ctrl-C is pressed for the first time, and from then on."""


@contextlib.contextmanager
def ctrl_c() -> Iterator[list[float]]:
    """Press Ctrl-C while the block runs; gives the times at which it was pressed.

    It is pressed again if nothing happens: Python ignores an interrupt that comes while the garbage
    collector runs a finalizer. One that Python sees after the block is nothing: it would end the
    tests.
    """
    pressed: list[float] = []
    over = threading.Event()

    def interrupt(_number: int, _frame: Any) -> None:
        if not over.is_set():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)

    def press() -> None:
        wait = AFTER
        while not over.wait(wait):
            pressed.append(time.perf_counter())
            _thread.interrupt_main()
            wait = AGAIN

    thread = threading.Thread(target=press, daemon=True)
    thread.start()
    try:
        yield pressed
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
