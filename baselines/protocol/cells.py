"""Cells of the table: an agent is trained within a budget, then measured as all others are."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.names import find_agent
from azumaya.baselines.arena.exam_results import answers_of
from azumaya.baselines.arena.exams import Part, has_exam, load_exam
from azumaya.baselines.arena.intervals import of_pairs, share_of_pairs, wilson
from azumaya.baselines.arena.league.cards import digest_of
from azumaya.baselines.arena.rounds import play_both_seats, start_set
from azumaya.baselines.arena.starts import some_positions
from azumaya.baselines.protocol.tracks import TRACKS, Job, Track, agent_name, algorithm_of
from azumaya.baselines.system.machine import commit, cpu_model, version
from azumaya.envs.errors import told

FIELD = ("random", "greedy", "uct:100", "champion")
"""The opponents of all contenders."""
COUNTED = FIELD[1:]
"""Those against which the mean rate is taken: nobody loses to the random agent for long."""
PART: Part = "held-out"
STARTS = 100
"""Starts of the games against each opponent, played in both seats."""
SEEDS_APART = 1_000
"""The distance between the first starts of two seeds."""
LOG = "log.txt"
"""The file in the folder of a table with what training and agents print."""
TIMED = 32
"""Positions on which the time per move is measured, one at a time."""


@dataclass(frozen=True)
class Cell:
    """The result of a cell.

    Attributes:
        job: which cell.
        agent: the digest of the agent's files; empty if it has none.
        steps: the steps that its training made; 0 if the library did not train it.
        minutes: how long training took, its measurements and interruptions included.
        wins, draws: the won and the drawn positions of the exam's held-out part; 0 if the game has
            no exam.
        kept_wins, kept_draws: in how many of them the agent's move kept that.
        regret: how much less a move gained than the best one, on average over the exam.
        pairs: by opponent, how many pairs of games gave the agent 0, 1, 2, 3 and 4 half points.
        milliseconds: the mean time of a move.
        azumaya, commit, cpu: what measured it, and where.
    """

    job: Job
    agent: str
    steps: int
    minutes: float
    wins: int
    kept_wins: int
    draws: int
    kept_draws: int
    regret: float
    pairs: Mapping[str, tuple[int, ...]]
    milliseconds: float
    azumaya: str
    commit: str
    cpu: str

    @property
    def exam(self) -> float | None:
        """The share of won positions kept; None if the game has no exam."""
        return self.kept_wins / self.wins if self.wins else None

    @property
    def exam_interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of that share."""
        return None if self.exam is None else wilson(self.exam, self.wins)

    def rate(self, opponent: str) -> float:
        """The share of games won against an opponent, draws as halves; 1/2 against itself."""
        if opponent == self.job.contender:
            return 0.5
        return share_of_pairs(self.pairs[opponent])

    def interval(self, opponent: str) -> tuple[float, float]:
        """The 95 % interval of the rate against an opponent, from pairs of games."""
        return of_pairs(self.pairs[opponent])

    @property
    def mean_rate(self) -> float:
        """The mean of the rates against the opponents that count."""
        return sum(map(self.rate, COUNTED)) / len(COUNTED)


def make_cell(job: Job, folder: Path, starts: int = STARTS) -> Cell:
    """Train the agent of a cell unless that is done, and measure it.

    Args:
        job: the cell.
        folder: where trained runs are kept.
        starts: of the games against each opponent.

    Raises:
        OptionError, CheckpointError: the contender cannot be made, or does not play the game.
        RunError: training failed.
    """
    steps, minutes, policy = 0, 0.0, Path()
    if algorithm := algorithm_of(job.contender):
        track = TRACKS[job.track]
        run = folder / track.name / f"{algorithm}-{job.game}-{job.seed}"
        steps, minutes = _trained(algorithm, track, job, run)
        policy = run / "policy"
    name = agent_name(job, policy)
    agent = find_agent(name)
    return Cell(
        job=job,
        agent=digest_of(name, agent),
        steps=steps,
        minutes=minutes,
        **_exam(agent, job),
        pairs=_games(agent, job, starts),
        milliseconds=_milliseconds(agent, job),
        azumaya=version(),
        commit=commit(),
        cpu=cpu_model(),
    )


def _trained(algorithm: str, track: Track, job: Job, run: Path) -> tuple[int, float]:
    """Train a run; returns its steps and minutes."""
    finished = import_module("azumaya.baselines.training.finished")  # which needs the extra train
    words = words_of(track, job, run)
    command = [f"azumaya.baselines.training.{algorithm}", *words]
    curve = finished.trained(algorithm, run, words, command, resumed=not track.minutes)
    return int(curve[-1]["steps"]), round(finished.minutes_of(run), 2)


def words_of(track: Track, job: Job, run: Path) -> list[str]:
    """The options of the script that trains a run."""
    given = {
        "game": job.game, "seed": job.seed, "output": run, "steps": track.steps,
        "time": f"{track.minutes:g}min", "threads": track.threads,
        "measure-every": -(-track.steps // 5),
        "measure-starts": 50, "final-starts": 1, "ladder-starts": 0,
    }  # fmt: skip
    if track.device != "cpu":
        given["device"] = track.device
    return [f"--{name}={value}" for name, value in given.items()]


def _exam(agent: Agent, job: Job) -> dict[str, Any]:
    """The fields of a cell with what the exam found."""
    if not has_exam(job.game):
        return {"wins": 0, "kept_wins": 0, "draws": 0, "kept_draws": 0, "regret": 0.0}
    found = answers_of(agent, load_exam(job.game, PART), job.seed)
    return {
        "wins": len(found.wins),
        "kept_wins": sum(answer.kept for answer in found.wins),
        "draws": len(found.draws),
        "kept_draws": sum(answer.kept for answer in found.draws),
        "regret": round(found.regret, 6),
    }


def _games(agent: Agent, job: Job, starts: int) -> dict[str, tuple[int, ...]]:
    """The games against all opponents but the agent itself, counted by pairs."""
    begun, found = start_set(job.game, seed=job.seed * SEEDS_APART), {}
    for opponent in FIELD:
        if opponent != job.contender:
            agents = agent, find_agent(opponent)
            found[opponent] = play_both_seats(begun, agents, begun.at_most(starts))[0].pairs
    return found


def _milliseconds(agent: Agent, job: Job) -> float:
    """The mean time of a move, asked for one position at a time; the first does not count."""
    positions = list(some_positions(job.game, {}, job.seed * SEEDS_APART, TIMED + 1))
    agent.act(positions[:1], [0])
    began = time.perf_counter()
    for key, position in enumerate(positions[1:]):
        agent.act([position], [key])
    return round(1000 * (time.perf_counter() - began) / TIMED, 4)


@dataclass(frozen=True)
class Failure:
    """A cell that could not be made.

    Attributes:
        job: which cell.
        reason: what went wrong, on one line.
    """

    job: Job
    reason: str

    @classmethod
    def by(cls, job: Job, error: Exception) -> Failure:
        """What an exception says, with its type if that is not one to be expected."""
        known = isinstance(error, (ValueError, OSError, AgentFailedError))
        return cls(job, str(error) if known else told(error))


def digest_now(job: Job) -> str | Failure:
    """The digest of the files of an agent that is not trained here, as they are now."""
    try:
        name = agent_name(job, Path())
        return digest_of(name, find_agent(name))
    except Exception as error:  # of the agent's own code, which may raise anything
        return Failure.by(job, error)


def digests_now(jobs: Sequence[Job], folder: Path) -> list[str | Failure]:
    """The same of several, in a process whose output goes to a file in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with _output_to(folder / LOG):
        return [*map(digest_now, jobs)]


def work(job: Job, folder: Path, starts: int) -> Cell | Failure:
    """`make_cell` in a process of its own, whose output goes to a file in the folder.

    Whatever goes wrong is the matter of this cell: hours of work may follow.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _output_to(folder / LOG):
        print(f"{job}:", flush=True)
        try:
            return make_cell(job, folder, starts)
        except Exception as error:
            traceback.print_exc()
            return Failure.by(job, error)


@contextlib.contextmanager
def _output_to(file: Path) -> Iterator[None]:
    """Within this, all that is written to the terminal is added to a file."""
    kept = [os.dup(number) for number in (1, 2)]
    try:
        with file.open("ab") as out:
            for number in (1, 2):
                os.dup2(out.fileno(), number)
            yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number, before in zip((1, 2), kept, strict=True):
            os.dup2(before, number)
            os.close(before)
