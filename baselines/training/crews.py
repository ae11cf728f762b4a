"""Who plays the games of a run: this process, other processes, or a Ray cluster.

A crew calls a function with what all jobs share, which a worker is sent once, and with each job.
Results come back in the order of the jobs, and a job's result depends on these two alone. So it
makes no difference to a run who plays, how many they are, or whether some of them die: a job whose
worker died is done again by another one, and counted once.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from azumaya.baselines.pool import process_pool
from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
TRIES = 5
"""How many times in a row workers may die before a run gives up."""


class CrewError(OSError):
    """Workers keep dying, so no result can be had."""


class Crew(ABC):
    """Workers outside this process."""

    @abstractmethod
    def run(
        self, work: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> list[Result]:
        """Do all jobs, and return their results in the same order.

        Args:
            work: a function that other processes can import. It must not change its arguments.
            shared: its first argument in every call; it can be pickled.
            jobs: its second arguments, one for each call; they can be pickled.

        Raises:
            CrewError: workers keep dying.
        """

    @abstractmethod
    def close(self) -> None:
        """End the workers."""


class Processes(Crew):
    """Processes on this machine. What jobs share is in a temporary file, which each reads once.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self._count, self._pool = count, process_pool(count)
        self._folder = TemporaryDirectory(prefix="azumaya-crew-")
        self._runs = 0

    def run(
        self, work: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> list[Result]:
        """As `Crew.run`; processes that die are replaced.

        Raises:
            OSError: the temporary file cannot be written.
        """
        self._runs += 1
        path = Path(self._folder.name) / str(self._runs)
        with path.open("wb") as file:
            pickle.dump(shared, file, pickle.HIGHEST_PROTOCOL)
        try:
            return self._run(work, path, jobs)
        finally:
            path.unlink()

    def _run(
        self, work: Callable[[Shared, Job], Result], path: Path, jobs: Sequence[Job]
    ) -> list[Result]:
        found: dict[int, Result] = {}
        for _ in range(TRIES):
            try:
                self._try(work, path, jobs, found)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False)
                self._pool = process_pool(self._count)
                continue
            return [found[place] for place in range(len(jobs))]
        raise CrewError(f"worker processes ended {TRIES} times while they played")

    def _try(
        self,
        work: Callable[[Shared, Job], Result],
        path: Path,
        jobs: Sequence[Job],
        found: dict[int, Result],
    ) -> None:
        """Do the jobs that have no result yet.

        Raises:
            BrokenProcessPool: a process died; results that were there before are kept.
        """
        waiting: dict[int, Future[Result]] = {
            place: self._pool.submit(_work, work, path, job)
            for place, job in enumerate(jobs)
            if place not in found
        }
        try:
            for place, future in waiting.items():
                found[place] = future.result()
        finally:
            for future in waiting.values():
                future.cancel()

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)
        self._folder.cleanup()


def _work(work: Callable[[Any, Job], Result], path: Path, job: Job) -> Result:
    """Do a job in a worker, with what is in the file."""
    if path not in _READ:
        _READ.clear()
        _READ[path] = pickle.loads(path.read_bytes())
    return work(_READ[path], job)


_READ: dict[Path, Any] = {}
"""What a worker has read last, by its file."""


class OnRay(Crew):
    """Processors of a Ray cluster. Every machine needs azumaya in the same version.

    Args:
        address: where the cluster is, as `ray.init` takes it; `local` starts one here.

    Raises:
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, address: str) -> None:
        self._ray: Any = require("ray", "ray")
        if not self._ray.is_initialized():
            self._ray.init(address=address, log_to_driver=False, include_dashboard=False)
        self._remote: dict[Callable[..., Any], Any] = {}

    def run(
        self, work: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> list[Result]:
        """As `Crew.run`; Ray does a job again whose machine or process died."""
        if work not in self._remote:
            self._remote[work] = self._ray.remote(num_cpus=1, max_retries=-1)(work)
        remote = self._remote[work]
        place = self._ray.put(shared)
        waiting = [remote.remote(place, job) for job in jobs]
        try:
            results: list[Result] = self._ray.get(waiting)
        except KeyboardInterrupt:
            for reference in waiting:
                self._ray.cancel(reference, force=True)
            raise
        return results

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()


def crew_of(workers: int, ray: str) -> Crew | None:
    """The crew that a run's options ask for; None for this process.

    Raises:
        OptionError: both are asked for.
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """
    if workers and ray:
        raise OptionError("--workers and --ray: give one of them, not both")
    if ray:
        return OnRay(ray)
    return Processes(workers) if workers else None
