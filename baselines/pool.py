"""Processes that end with the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor


def follow_parent() -> None:
    """Let a process of a pool end when its parent does, even if that was killed.

    Ctrl-C in a terminal reaches all processes; it is the parent's to answer it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def process_pool(count: int) -> ProcessPoolExecutor:
    """A pool of new processes that share nothing with this one."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, mp_context=context, initializer=follow_parent)
