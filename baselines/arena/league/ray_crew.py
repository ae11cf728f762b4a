"""A league on a Ray cluster: the same pairs of games, on the processors of several machines.

Every machine needs azumaya, and the files of the agents under the same paths. A pair whose machine
dies is played again on another one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

from azumaya.baselines.arena.league.crew import Outcome, PairJob, Worker
from azumaya.baselines.arena.league.league import Crew
from azumaya.baselines.system.cluster import Cluster

AHEAD = 2
"""Pairs submitted for each processor, so that none waits for work."""
_WORKERS: list[Worker] = []
"""The process that plays for this process of Ray, once there is one."""


def play_remotely(job: PairJob) -> Outcome:
    """Play a pair in a process of Ray, which keeps a process of its own for the games."""
    if not _WORKERS:
        _WORKERS.append(Worker())
    return _WORKERS[0].play_pair(job, threading.Event())


def ray_crew(address: str) -> Crew:
    """A crew on the Ray cluster at an address, as `ray.init` takes it; `local` starts one here.

    Raises:
        MissingExtraError: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """
    cluster = Cluster(address)  # left when the process ends: the crew may play again
    ray, remote = cluster.ray, cluster.remote(play_remotely)

    def play(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
        waiting: list[Any] = []
        for job in jobs:
            waiting.append(remote.remote(job))
            while len(waiting) >= AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))):
                done, waiting = ray.wait(waiting)
                yield from cluster.results(done)
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from cluster.results(done)

    return play
