"""Crews: processes that play games for a league, each watched by a thread, here or on a cluster."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from azumaya.baselines.arena.league.games import NOBODY, Board, lost, unfit
from azumaya.baselines.arena.league.results import PairKey, PairResult
from azumaya.baselines.system.cluster import Cluster
from azumaya.baselines.system.processes import ONE_THREAD, Child, ChildEndedError, module_words
from azumaya.baselines.system.threads import WAIT, StoppedError

STILL = 1.0
"""The longest time between two looks, in seconds, on a machine that runs. If it is longer, the
machine stood still, as when it is suspended, and the rest is not counted as an agent's time."""
TRIES = 3
"""How often a game is begun whose process ends while no agent is thinking."""
AHEAD = 2
"""Pairs submitted to Ray for each processor, so that none waits for work."""
_WORKERS: list[Worker] = []
"""The process that plays for this process of Ray, once there is one."""


class LeagueError(RuntimeError):
    """Games cannot be played: their processes end before any agent is asked."""


@dataclass(frozen=True)
class PairJob:
    """Two games to be played.

    Attributes:
        key: what tells them apart.
        agents: the names of the two agents.
        kinds: their kinds, as on their cards.
        seed: the seed of the league.
        balanced: whether to use balanced starts.
        limit: the seconds an agent has for a move.
    """

    key: PairKey
    agents: tuple[str, str]
    kinds: tuple[str, str]
    seed: int
    balanced: bool
    limit: float

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of the two agents: only these may play, not others with their names."""
        return self.key.first, self.key.second


@dataclass(frozen=True)
class Unplayed:
    """A pair of games that was not played, because an agent has to sit out.

    Attributes:
        key: what tells the pair apart.
        agent: the id of the agent.
        why: why it cannot play.
    """

    key: PairKey
    agent: str
    why: str


Outcome = PairResult | Unplayed
"""What becomes of a pair that was to be played."""
Crew = Callable[[Iterable[PairJob]], Iterator[Outcome]]
"""Plays pairs of games; results come in any order."""


def play_pair(job: PairJob, play: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Outcome:
    """Play both games of a pair; `play` plays one, as `Table.play` does."""
    about = {
        "game": job.key.game, "number": job.key.number, "agents": job.agents, "ids": job.ids,
        "kinds": job.kinds, "seed": job.seed, "balanced": job.balanced,
    }  # fmt: skip
    played = []
    for seat in (0, 1):
        game = play({**about, "seat": seat})
        if "unfit" in game:
            which, why = game["unfit"]
            return Unplayed(job.key, job.ids[which], why)
        played.append(game)
    one, other = played
    times = [one["milliseconds"][which] + other["milliseconds"][which] for which in (0, 1)]
    return PairResult(
        job.key,
        (one["result"], other["result"]),
        (one["plies"], other["plies"]),
        (one["moves"][0] + other["moves"][0], one["moves"][1] + other["moves"][1]),
        (round(times[0], 3), round(times[1], 3)),
        (_fault(one), _fault(other)),
    )


def _fault(game: Mapping[str, Any]) -> tuple[int, str] | None:
    return (game["fault"][0], game["fault"][1]) if game["fault"] else None


class LateError(Exception):
    """An agent has taken too long; its number, and whether it was being made."""

    def __init__(self, which: int, making: bool) -> None:
        self.which, self.making = which, making


class Watch:
    """Looks at the agents of a process that is playing.

    Args:
        board: what the process says of them.
        limit: the seconds that each has for a move.
        stop: set to stop the league.
    """

    def __init__(self, board: Board, limit: float, stop: threading.Event) -> None:
        self._board, self._limit, self._stop = board, limit, stop
        self._looked, self._still, self._late = time.monotonic(), 0.0, False

    def look(self) -> None:
        """See whether the agent whose turn it is has taken too long.

        Raises:
            StoppedError: `stop` was set.
            LateError: it has, also by the look before: one look may come between a move and its
                report.
        """
        if self._stop.is_set():
            raise StoppedError
        before, self._looked = self._looked, time.monotonic()
        which, seconds, making = self._board.read()
        still = self._still + max(0.0, self._looked - before - STILL)
        self._still = max(0.0, min(still, seconds))  # only what was during this call of the agent
        late = which != NOBODY and seconds - self._still > self._limit
        if late and self._late:
            raise LateError(which, making)
        self._late = late


class Worker:
    """A process that plays one game after the other; started when needed, replaced when it ends."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._made: dict[str, str] = {}

    def play_pair(self, job: PairJob, stop: threading.Event) -> Outcome:
        """Play both games of a pair.

        Raises:
            StoppedError: `stop` was set.
            LeagueError: the process keeps ending for no fault of an agent.
        """
        for name, identity in zip(job.agents, job.ids, strict=True):
            if self._made.get(name, identity) != identity:
                self.close()  # the process keeps the code that it has loaded
        self._made.update(zip(job.agents, job.ids, strict=True))
        return play_pair(job, lambda game: self._play(game, job.limit, stop))

    def close(self) -> None:
        """End the process, and those it has started."""
        child, self._child = self._child, None
        self._made.clear()
        if child is not None:
            child.end()
            self._board.close()

    def _play(self, job: Mapping[str, Any], limit: float, stop: threading.Event) -> dict[str, Any]:
        for _ in range(TRIES):
            report = self._attempt(job, limit, stop)
            if report is not None:
                return report
        raise LeagueError(
            f"the process that plays {job['game']} ended {TRIES} times while no agent was thinking"
        )

    def _attempt(
        self, job: Mapping[str, Any], limit: float, stop: threading.Event
    ) -> dict[str, Any] | None:
        """The report of a game; None if the process ended while no agent was thinking."""
        child = self._running()
        watch = Watch(self._board, limit, stop)
        try:
            answer = child.ask(json.dumps(job).encode(), look=watch.look)
        except LateError as error:
            self.close()
            if error.making:
                return unfit(error.which, f"cannot be made in {limit:g} s")
            return lost(error.which, f"time-out: no move in {limit:g} s")
        except ChildEndedError as error:
            which, _, making = self._board.read()
            self.close()
            if which == NOBODY:
                return None
            how = error.how or str(error)
            if making:
                return unfit(which, f"cannot be made: it crashed its process: {how}")
            return lost(which, f"crashed its process: {how}")
        report: dict[str, Any] = json.loads(answer)
        return report

    def _running(self) -> Child:
        if self._child is None:
            with _memory() as (number, inherited):
                self._board = Board(number)
                self._board.write(NOBODY)
                self._child = Child(
                    module_words("azumaya.baselines.arena.league.games", str(number)),
                    pass_fds=inherited, env={**os.environ, **ONE_THREAD},
                )  # fmt: skip
        return self._child


@contextlib.contextmanager
def _memory() -> Iterator[tuple[int, tuple[int, ...]]]:
    """The number that makes a board, and the descriptors that a process inherits for it."""
    if sys.platform == "win32":
        yield secrets.randbits(48), ()
        return
    with tempfile.TemporaryFile() as file:  # without a name: nothing is left of it
        file.truncate(Board.SIZE)
        yield file.fileno(), (file.fileno(),)


def play_locally(jobs: Iterable[PairJob], processes: int) -> Iterator[Outcome]:
    """Play pairs in processes on this machine; results come in the order in which they end.

    Closing the iterator ends the processes.

    Raises:
        LeagueError: games cannot be played.
    """
    left, stop = iter(jobs), threading.Event()
    running: dict[Future[Outcome], Worker] = {}
    with contextlib.ExitStack() as workers, ThreadPoolExecutor(processes) as threads:

        def begin(worker: Worker) -> None:
            for job in itertools.islice(left, 1):
                running[threads.submit(worker.play_pair, job, stop)] = worker

        try:
            for _ in range(processes):
                begin(workers.enter_context(contextlib.closing(Worker())))
            while running:
                for ended in wait(running, WAIT, FIRST_COMPLETED).done:
                    worker = running.pop(ended)
                    yield ended.result()
                    begin(worker)
        finally:
            stop.set()


def play_remotely(job: PairJob) -> Outcome:
    """Play a pair in a process of Ray, which keeps a process of its own for the games."""
    if not _WORKERS:
        _WORKERS.append(Worker())
    return _WORKERS[0].play_pair(job, threading.Event())


def ray_crew(address: str) -> Crew:
    """A crew on the Ray cluster at an address, as `ray.init` takes it; `local` starts one here.

    Every machine needs azumaya, and the files of the agents under the same paths. A pair whose
    machine dies is played again on another one.

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
