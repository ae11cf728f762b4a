"""Pools for many jobs of one kind, whose processes end with the process that started them.

A process that is asked for one thing at a time, and may have to be ended over it, is a `Child`.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor


def follow_parent(folder: str | None = None) -> None:
    """Let a process of a pool end when its parent does, even if that was killed.

    Ctrl-C in a terminal reaches all processes; it is the parent's to answer it.

    Args:
        folder: a temporary folder of the parent, which is removed then.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def process_pool(count: int, folder: str | None = None) -> ProcessPoolExecutor:
    """A pool of new processes that share nothing with this one.

    Args:
        count: how many.
        folder: a temporary folder for the processes to remove if this process is killed.
    """
    return ProcessPoolExecutor(
        count,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=follow_parent,
        initargs=(folder,),
    )


@contextlib.contextmanager
def ended_pool(count: int, *, told: bool = False) -> Iterator[ProcessPoolExecutor]:
    """A pool as `process_pool` makes it, whose processes are ended whatever they are doing.

    Args:
        count: how many.
        told: whether they get SIGTERM first, and may keep their work, except on Windows; another
            Ctrl-C ends them.
    """
    pool = process_pool(count)
    try:
        yield pool
    finally:
        processes = [*(pool._processes or {}).values()]  # Python 3.14 has methods for what follows
        try:
            if told:
                for process in processes:
                    process.terminate()
                pool.shutdown(cancel_futures=True)
        finally:
            for process in processes:
                process.kill()
            pool.shutdown(cancel_futures=True)
