"""Workers outside this process that play the games of a run: other processes, or a Ray cluster.

A crew calls a function with what all jobs share, which a worker is sent once, and with each job.
Results come back in the order of the jobs, and a job's result depends on these two alone. So it
makes no difference to a run who plays, how many they are, or whether some of them die: a job whose
worker died is done again by another one, and counted once.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from azumaya.baselines.system.cluster import Cluster, CrewError
from azumaya.baselines.system.pool import process_pool
from azumaya.envs.errors import OptionError, naming

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
ALIGNMENT = 64
"""Arrays begin in a file at multiples of this many bytes, as suits every type of numbers."""
TRIES = 5
"""How many times in a row workers may die before a run gives up."""


@dataclass(frozen=True)
class Parcel:
    """What jobs share, packed: its arrays are in a file, which workers map instead of copying them.

    Attributes:
        number: how many parcels there have been in this file.
        content: the pickle, without the arrays.
        file: where these are.
        places: where each begins and ends, in bytes.
    """

    number: int
    content: bytes
    file: Path
    places: tuple[tuple[int, int], ...]

    @classmethod
    def packed(cls, shared: object, file: Path, number: int) -> Parcel:
        """Pack something; what the file has is overwritten.

        A job of an interrupted run may still be reading it, but nobody waits for its result.

        Raises:
            OSError: the file cannot be written.
        """
        arrays: list[pickle.PickleBuffer] = []
        content = pickle.dumps(shared, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
        places = list[tuple[int, int]]()
        with naming(file), file.open("r+b" if file.exists() else "wb") as out:
            for array in arrays:
                first = -(-out.tell() // ALIGNMENT) * ALIGNMENT
                out.seek(first)
                out.write(array)
                places.append((first, out.tell()))
        return cls(number, content, file, tuple(places))

    def unpacked(self) -> Any:
        """What was packed. Its arrays can be written to, which changes this copy only."""
        if not self.places:
            return pickle.loads(self.content)
        mapped = np.memmap(self.file, np.uint8, "c")
        return pickle.loads(self.content, buffers=[mapped[slice(*place)] for place in self.places])


class Processes:
    """Processes on this machine.

    Args:
        count: how many.
    """

    def __init__(self, count: int) -> None:
        self._count, self._runs = count, 0
        self._folder = TemporaryDirectory(prefix="azumaya-crew-")
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        return process_pool(self._count, self._folder.name)

    def run(
        self, work: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> list[Result]:
        """Do all jobs, and return their results in the same order; processes that die are replaced.

        Args:
            work: a function that other processes can import. It must not change its arguments.
            shared: its first argument in every call; it can be pickled.
            jobs: its second arguments, one for each call; they can be pickled.

        Raises:
            CrewError: workers keep dying.
            OSError: a temporary file cannot be written.
        """
        self._runs += 1
        parcel = Parcel.packed(shared, Path(self._folder.name) / "arrays", self._runs)
        found: dict[int, Result] = {}
        for _ in range(TRIES):
            try:
                self._try(work, parcel, jobs, found)
            except BrokenProcessPool:
                self._pool.shutdown(wait=False)
                self._pool = self._new_pool()
                continue
            return [found[place] for place in range(len(jobs))]
        raise CrewError(f"worker processes ended {TRIES} times while they played")

    def _try(
        self,
        work: Callable[[Shared, Job], Result],
        parcel: Parcel,
        jobs: Sequence[Job],
        found: dict[int, Result],
    ) -> None:
        """Do the jobs that have no result yet.

        Raises:
            BrokenProcessPool: a process died; results that were there before are kept.
        """
        waiting: dict[int, Future[Result]] = {
            place: self._pool.submit(_work, work, parcel, job)
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


def _work(work: Callable[[Any, Job], Result], parcel: Parcel, job: Job) -> Result:
    """Do a job in a worker."""
    if _UNPACKED.keys() != {parcel.number}:
        _UNPACKED.clear()
        _UNPACKED[parcel.number] = parcel.unpacked()
    return work(_UNPACKED[parcel.number], job)


_UNPACKED: dict[int, Any] = {}
"""What a worker has unpacked last, by its number."""


class OnRay:
    """Processors of a Ray cluster. Every machine needs azumaya in the same version.

    Args:
        address: where the cluster is, as `ray.init` takes it; `local` starts one here.

    Raises:
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """

    def __init__(self, address: str) -> None:
        self._cluster = Cluster(address)
        self._ray = self._cluster.ray
        self._remote: dict[Callable[..., Any], Any] = {}

    def run(
        self, work: Callable[[Shared, Job], Result], shared: Shared, jobs: Sequence[Job]
    ) -> list[Result]:
        """As `Processes.run`; Ray does a job again whose machine or process died, some times."""
        if work not in self._remote:
            self._remote[work] = self._cluster.remote(work)
        remote = self._remote[work]
        place = self._ray.put(shared)
        # None is cancelled on Ctrl-C: Ray ends this process if a job is done at that moment.
        return self._cluster.results([remote.remote(place, job) for job in jobs])

    def close(self) -> None:
        """Leave the cluster, unless the process had joined it before."""
        self._cluster.leave()


def crew_of(workers: int, ray: str) -> Processes | OnRay | None:
    """The crew that a run's options ask for; None for this process.

    Raises:
        OptionError: both are asked for.
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """
    if workers and ray:
        raise OptionError(
            "--workers and --ray: give one of them, not both; a resumed run has those it was begun "
            "with, which --workers 0 or --ray '' leaves out"
        )
    if ray:
        return OnRay(ray)
    return Processes(workers) if workers else None
