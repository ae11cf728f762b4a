"""Processes that play games for a league, each watched by a thread."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.agents.program import close_pipe
from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.games import GRACE, NOBODY, Board, lost, unfit
from azumaya.baselines.arena.league.results import PairKey, PairResult, read_card
from azumaya.baselines.system.keeper import KeptProcess, how_ended
from azumaya.baselines.system.threads import Together
from azumaya.envs import OptionError

LOOK = 0.05
"""Seconds between looks at a process that is playing."""
STILL = 1.0
"""The longest time between two looks, in seconds, on a machine that runs. If it is longer, the
machine stood still, as when it is suspended, and the rest is not counted as an agent's time."""
TRIES = 3
"""How often a game is begun whose process ends while no agent is thinking."""
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class LeagueError(RuntimeError):
    """Games cannot be played: their processes end before any agent is asked."""


class StoppedError(Exception):
    """The league is being stopped."""


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


class Worker:
    """A process that plays one game after the other; started when needed, replaced when it ends."""

    def __init__(self) -> None:
        self._process: KeptProcess | None = None
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

    def card(self, name: str, games: Iterable[str]) -> AgentCard:
        """The card of an agent, as `card_of` makes it, which may take as long as a first move.

        Raises:
            OptionError: `card_of` refuses it, or making it ended its process or took too long.
            AgentFailedError: the agent raised an exception when it was asked what it plays.
        """
        job = {"card": name, "games": list(games)}
        report = self._play(job, GRACE["python"], threading.Event())
        if "failed" in report:
            raise AgentFailedError(report["failed"])
        if "unfit" in report:
            raise OptionError(f"agent {name}: {report['unfit'][1]}")
        if "refused" in report:
            raise OptionError(report["refused"])
        return read_card(report["card"])

    def close(self) -> None:
        """End the process, and those it has started."""
        process, self._process = self._process, None
        self._made.clear()
        if process is None:
            return
        process.end()
        close_pipe(process.stdin)
        close_pipe(process.stdout)
        self._board.close()

    def _play(self, job: Mapping[str, Any], limit: float, stop: threading.Event) -> dict[str, Any]:
        for _ in range(TRIES):
            report = self._attempt(job, limit, stop)
            if report is not None:
                return report
        raise LeagueError(
            f"the process that plays {job['game']} ended {TRIES} times while no agent was thinking"
            if "game" in job
            else f"the process that makes {job['card']} ended {TRIES} times before it was made"
        )

    def _attempt(
        self, job: Mapping[str, Any], limit: float, stop: threading.Event
    ) -> dict[str, Any] | None:
        """The report of a game; None if the process ended while no agent was thinking."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):  # it has ended, which is seen below
            process.stdin.write(json.dumps(job).encode() + b"\n")
            process.stdin.flush()
        answer, looked, still, late = b"", time.monotonic(), 0.0, False
        while not answer.endswith(b"\n"):
            if stop.is_set():
                raise StoppedError
            readable = _readable(process.stdout)
            before, looked = looked, time.monotonic()
            still += max(0.0, looked - before - STILL)
            if readable:
                part = os.read(process.stdout.fileno(), 1 << 16)
                if not part:
                    return self._after_the_end(process)
                answer += part
                continue
            which, seconds, making = self._board.read()
            still = max(0.0, min(still, seconds))  # only what was during this call of the agent
            confirmed, late = late, which != NOBODY and seconds - still > limit
            if confirmed and late:  # one look may come between a move and its report
                self.close()
                if making:
                    return unfit(which, f"cannot be made in {limit:g} s")
                return lost(which, f"time-out: no move in {limit:g} s")
        report: dict[str, Any] = json.loads(answer)
        return report

    def _after_the_end(self, process: KeptProcess) -> dict[str, Any] | None:
        which, _, making = self._board.read()
        code = process.wait()
        self.close()
        how = how_ended(code)
        if which == NOBODY:
            return None
        if making:
            return unfit(which, f"cannot be made: it crashed its process: {how}")
        return lost(which, f"crashed its process: {how}")

    def _running(self) -> KeptProcess:
        if self._process is None:
            with tempfile.TemporaryFile() as file:  # without a name: nothing is left of it
                file.truncate(Board.SIZE)
                number = file.fileno()
                self._board = Board(number)
                self._board.write(NOBODY)
                self._process = KeptProcess(
                    [sys.executable, "-P", "-m", "azumaya.baselines.arena.league.child",
                     str(number)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=(number,),
                    env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
                )  # fmt: skip
        return self._process


def _readable(pipe: IO[bytes]) -> bool:
    """Wait for a moment until a pipe can be read; `select` cannot if its number is above 1,023."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        return bool(selector.select(LOOK))


def play_locally(jobs: Iterable[PairJob], processes: int) -> Iterator[Outcome]:
    """Play pairs in processes on this machine; results come in the order in which they end.

    Closing the iterator ends the processes.

    Raises:
        LeagueError: games cannot be played.
    """
    waiting, lock, stop = iter(jobs), threading.Lock(), threading.Event()
    results: queue.SimpleQueue[Outcome | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        worker = Worker()
        try:
            while not stop.is_set():
                with lock:
                    job = next(waiting, None)
                if job is None:
                    break
                results.put(worker.play_pair(job, stop))
            results.put(None)
        except BaseException as error:
            results.put(error)
        finally:
            worker.close()

    threads = Together([work] * processes, stop)
    try:
        threads.start()
        left = processes
        while left:
            result = results.get()
            if isinstance(result, BaseException):
                raise result
            if result is None:
                left -= 1
            else:
                yield result
    finally:
        threads.end()
