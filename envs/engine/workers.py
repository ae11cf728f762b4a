"""Threads for kernels that process slices of a batch without holding the GIL.

These are Python threads rather than numba's, because numba's work queue aborts when two Python
threads run parallel kernels at once. Slicing does not affect results: every game has its own
random keys.

Waking a sleeping thread takes longer (70 µs when measured) than stepping a thousand games. After a
job, threads therefore stay awake briefly and poll for the next one in compiled code, without the
GIL. The caller rings for them from inside its own kernel, when the GIL is free. A thread that
arrives late finds no slices left, and nothing waits for it.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.compile import INTERPRETED, bound
from azumaya.envs.kernels.sharing import COUNT_STRIDE, MAX_LOOKS, shared_kernel
from azumaya.envs.whole import whole_number

LEAST = 1024
"""Minimum games per thread: adding a thread costs as much as stepping a few hundred games."""
SMALLEST = 128
"""Minimum games per slice."""
SLICES = 16
"""Slices per thread; several, so that a delayed thread does not delay the others."""
NAP = 50e-6
"""Seconds between checks while waiting for a delayed thread."""


def available_cores() -> int:
    """The number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """Validate a number of threads (None: one per core); raises `OptionError`."""
    if threads is None:
        return available_cores()
    return whole_number(threads, "threads", 1)


@dataclass(eq=False)
class Job:
    """A kernel to run over `count` rows in slices, on `threads` threads."""

    call: Callable[..., Any]
    """Calls the kernel from `shared_kernel` with its arguments."""
    kernel: Any
    count: int
    size: int
    threads: int
    arguments: Callable[[], tuple[Any, ...]]
    helping: int = 0
    """The number of helper threads currently working on it."""
    error: BaseException | None = None
    counts: np.ndarray = field(init=False)
    results: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros(COUNT_STRIDE * (self.threads + 1), np.int64)
        self.results = np.zeros(-(-self.count // self.size), np.int64)

    def work(self, bell: np.ndarray, number: int, who: int) -> bool:
        """Process slices until none are left; returns whether all are done."""
        done: bool = self.call(
            shared_kernel(self.kernel), bell, number, who, self.counts, self.results, self.size,
            self.count, MAX_LOOKS, self.arguments(),
        )  # fmt: skip
        return done

    def is_done(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self.error is not None or int(self.counts[-COUNT_STRIDE]) == len(self.results)

    def abandon(self) -> None:
        """Stop handing out slices, and wait for the helpers to finish theirs."""
        self.counts[:-COUNT_STRIDE] = len(self.results)
        while self.helping:
            time.sleep(NAP)


class Post:
    """Hands jobs to helper threads, which keep it alive; it must not refer to its owner.

    Args:
        helpers: the number of threads besides the caller's.

    Raises:
        OptionError: the system cannot start that many threads; those already started are ended.
    """

    def __init__(self, helpers: int) -> None:
        self.helpers = helpers
        self._process, self._lock = os.getpid(), threading.Lock()
        self._wake = [threading.Condition(self._lock) for _ in range(helpers)]
        self._bell, self._number = np.zeros(1, np.int64), 0
        self._job: Job | None = None  # None when done, to free its arrays
        self._left: Job | None = None
        self._ended = False
        try:
            for who in range(1, helpers + 1):
                helper = threading.Thread(target=self._help, args=(who,), name="azumaya")
                helper.daemon = True
                helper.start()
        except RuntimeError:
            self.end()
            raise OptionError(f"threads={helpers + 1}: the system can start only {who}") from None

    def is_here(self) -> bool:
        """Whether the threads belong to this process: they do not survive a fork."""
        return self._process == os.getpid()

    def end(self) -> None:
        """End the threads."""
        if self.is_here():  # in a forked child the lock may never be released
            self._ended = True
            self._announce(None, len(self._wake))

    def work(self, job: Job) -> None:
        """Run a job on its threads and on this one; returns when it is complete."""
        self.wait_idle()
        self._left = job
        try:
            self._announce(job, job.threads - 1)
            done = job.work(self._bell, self._number, 0)
            while not (done or job.is_done()):
                time.sleep(NAP)
            if job.error is not None:
                raise job.error
        except BaseException:
            self.wait_idle()
            raise
        self._job = self._left = None

    def wait_idle(self) -> None:
        """Wait until no thread is still working on an interrupted job."""
        if self._left is not None:
            self._announce(None, 0)
            self._left.abandon()
            self._left = None

    def _announce(self, job: Job | None, helpers: int) -> None:
        with self._lock:
            self._job, self._number = job, self._number + 1
            for wake in self._wake[:helpers]:
                wake.notify()

    def _help(self, who: int) -> None:
        number = 0
        while True:
            with self._lock:
                while self._number == number:
                    self._wake[who - 1].wait()
                job, number = self._job, self._number
                if job is not None and who < job.threads:
                    job.helping += 1
                else:
                    job = None
            if self._ended:
                return
            if job is not None:
                self._take_part(job, number, who)
            del job

    def _take_part(self, job: Job, number: int, who: int) -> None:
        try:
            job.work(self._bell, number, who)
        except BaseException as error:
            job.error = error
        finally:
            with self._lock:
                job.helping -= 1


class Workers:
    """Runs kernels over slices of a batch, on the calling thread and helper threads.

    Args:
        threads: the maximum number of threads; None: one per core. Helpers are started only when
            a job is large enough to use them.
        least: the fewest rows for each thread.
        smallest: the fewest rows of a slice.
    """

    def __init__(
        self, threads: int | None = None, least: int = LEAST, smallest: int = SMALLEST
    ) -> None:
        self.threads, self.least, self.smallest = check_threads(threads), least, smallest
        self._post: Post | None = None
        self._entries: dict[Any, Any] = {}

    def slice_of(self, count: int) -> int:
        """The slice size for `count` rows; all of them if a single thread is used."""
        threads = self._threads_for(count)
        return max(self.smallest, -(-count // (SLICES * threads))) if threads > 1 else max(count, 1)

    def _threads_for(self, count: int) -> int:
        return 1 if INTERPRETED else min(self.threads, max(count // self.least, 1))

    def run(
        self,
        kernel: Any,
        count: int,
        arguments: Callable[[], tuple[Any, ...]],
        *,
        fixed: bool = False,
    ) -> list[int]:
        """Call `kernel(start, stop, *arguments())`, which returns a number, for `count` rows.

        Args:
            kernel: a compiled kernel.
            count: the number of rows.
            arguments: returns each thread's own arguments, including scratch space.
            fixed: whether the argument types are the same on every run of this kernel, so that
                numba can skip checking them.

        Returns:
            The kernel's return value for each slice of `slice_of(count)` rows.
        """
        call, size = self.call if fixed else _call, self.slice_of(count)
        if size >= count:
            return [call(kernel, 0, count, *arguments())]
        job = Job(call, kernel, count, size, self._threads_for(count), arguments)
        self._helpers(job.threads - 1).work(job)
        return job.results.tolist()

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Call a kernel whose argument types never change."""
        entry = self._entries.get(kernel)
        if entry is None:
            entry = self._entries[kernel] = bound(kernel, *arguments)
        return entry(*arguments)

    def close(self) -> None:
        """End the threads."""
        if self._post is not None:
            self._post.end()
        self._post = None

    def wait_idle(self) -> None:
        """Wait for threads still working on an interrupted run."""
        if self._post is not None and self._post.is_here():
            self._post.wait_idle()

    def _helpers(self, count: int) -> Post:
        if self._post is None or not self._post.is_here() or self._post.helpers < count:
            self.close()
            self._post = Post(count)
            weakref.finalize(self, self._post.end)
        return self._post

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_post": None, "_entries": {}}


def _call(kernel: Any, *arguments: Any) -> Any:
    return kernel(*arguments)
