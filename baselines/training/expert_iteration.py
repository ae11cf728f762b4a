"""Train a value by expert iteration: search teaches the network that it searches with.

    python -m azumaya.baselines.training.expert_iteration --game sudoku_moyo --seed 1

A small network estimates who wins a position (`azumaya.baselines.values`). It plays games against
itself, and alpha-beta with the network at the horizon chooses the moves. Searching makes a value
better, and so the network learns what the search found:

- the value of each position of a game, mixed with the values that followed it and the result;
- the values of the positions in the search tree, or the bounds that the search found for them;
- the end: from the last position backwards the solver finds exact values, as far as it can.

The agent that comes out plays by one step of lookahead; search uses the same value at full speed:
`azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains, from top to bottom: the hyperparameters; playing and solving one game; playing
many games in threads; and learning. `value_run.py` has what all scripts that train a compiled value
share. Measuring, saving, stopping, the final evaluation and the learning curve are in `session.py`,
which all training scripts share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Annotated

import numpy as np

from azumaya.baselines.arena.matches import Score
from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.training.checks import Count, Numbers
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.session import run_training
from azumaya.baselines.training.value_run import FILES, ValueConfig, ValueRun, agent_files
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.lessons import (
    harvest_kernel,
    imagine_kernel,
    prepare_kernel,
    step_kernel,
    study_kernel,
)
from azumaya.baselines.values.network import scratch_words
from azumaya.envs import Position
from azumaya.envs.game import RUNNING

PROGRAM = "azumaya.baselines.training.expert_iteration"

# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(ValueConfig):
    """Every hyperparameter of a run; `ValueConfig` has those that other scripts share."""

    script = Script(PROGRAM, agent_files, FILES, prefix="expert_iteration-")

    steps: Annotated[int, Numbers(1, 10**15)] = 2_000_000
    """Total positions to learn from; the last games are always completed."""
    measure_every: Count = 200_000
    """Positions between two evaluations for the learning curve."""
    games: Annotated[int, Numbers(1, 100_000)] = 32
    """Games played between two updates."""
    nodes: Annotated[int, Numbers(1, 10**9)] = 100
    """Positions that the teacher's search visits for each move; it completes at least one ply."""
    tree: Annotated[int, Numbers(0, 100_000)] = 32
    """The most positions to learn from in the tree of one search."""
    exact_nodes: Annotated[int, Numbers(0, 10**9)] = 300
    """Positions that the solver visits at most for each position; 0 means no exact values."""


# ---- one game ----

MEGABYTES = 4
"""Memory for the table of each thread's search; it fits in a core's cache."""


@dataclass(frozen=True)
class Lessons:
    """What can be learned from one game, see `azumaya.baselines.values.lessons`.

    Attributes:
        states: positions, `(n,)`.
        lows: the lower bounds of their values, `(n,)` float32.
        highs: the upper bounds, `(n,)` float32.
        plies: the length of the game.
        solved: how many of its positions, from the last on, were solved.
        result: player_0's payoff.
    """

    states: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    plies: int
    solved: int
    result: int


class Teacher:
    """Plays games and finds out what can be learned from them; each thread has its own.

    Games with hidden draws are searched as if they had none, in a world in which these are drawn
    anew. What a search proves there is no exact value of the game.
    """

    def __init__(self, config: Config, run: ValueRun) -> None:
        self.config, self.game, self.setup, self.bound = config, run.game, run.setup, run.bound
        kernels = kernels_of(Position(run.game, **config.options))
        self.hidden = kernels.hidden_draws
        kernels = replace(kernels, resample=None)
        self.room = Room(kernels, MEGABYTES, run.value().evaluation())
        self.memory = self.room.memory
        self.study, self.harvest = study_kernel(kernels, run.shape), harvest_kernel(kernels)
        self.imagine, self.step = imagine_kernel(run.game), step_kernel(kernels)
        self.now, self.world = run.game.new_states(1), run.game.new_states(1)
        self.words = np.zeros(kernels.words, np.uint64)
        self.found = run.game.new_states(config.tree)
        self.lows, self.highs = (np.zeros(config.tree, np.float32) for _ in range(2))

    def lessons(self, key: np.uint64) -> Lessons:
        """Play a game; it depends on its key and on the weights alone."""
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.game.rules.reset(self.now, 0, self.setup.starts, key)
        path, values, fixed = self.play(key)
        over, result = self.now["over"][0] != RUNNING, int(self.now["payoff"][0])
        last = result / self.bound if over else values[-1]
        solved = self.solve(key, path, values, fixed)
        targets = self.look_back(values, fixed, last)
        self.parts.append((np.concatenate(path), targets, targets))
        columns = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        return Lessons(*columns, len(path), solved, result)

    def play(self, key: np.uint64) -> tuple[list[np.ndarray], list[float], list[bool]]:
        """Play a game from `now` on.

        Returns:
            Its positions; their values for player_0; and whether these are final, because they are
            proven or because a random move followed.
        """
        config, now, world = self.config, self.now, self.world
        path: list[np.ndarray] = []
        values, fixed = [], []
        while now["over"][0] == RUNNING and len(path) < config.most_plies:
            t = len(path)
            path.append(now.copy())
            self.imagine(now, world, key, t)
            self.room.forget(int(key) ^ t)
            action, value, proven, _ = self.study(
                world, False, config.nodes, self.bound, self.memory
            )
            self.gather(world)
            random = self.step(now, action, key, t, config.explore, self.words)
            values.append(value)
            fixed.append(random or (proven and not self.hidden))
        return path, values, fixed

    def solve(
        self, key: np.uint64, path: list[np.ndarray], values: list[float], fixed: list[bool]
    ) -> int:
        """Replace values by exact ones, from the last position on until one cannot be solved.

        Returns:
            How many were solved.
        """
        if not self.config.exact_nodes or self.hidden:
            return 0
        self.room.forget(int(key))
        for t in range(len(path) - 1, -1, -1):
            _, value, proven, found = self.study(
                path[t], True, self.config.exact_nodes, self.bound, self.memory
            )
            if not (found and proven):
                return len(path) - 1 - t
            values[t], fixed[t] = value, True
            self.gather(path[t])
        return len(path)

    def gather(self, root: np.ndarray) -> None:
        """Add the positions below one that was just searched."""
        size = self.harvest(root, self.bound, self.memory, self.found, self.lows, self.highs)
        self.parts.append(
            (self.found[:size].copy(), self.lows[:size].copy(), self.highs[:size].copy())
        )

    def look_back(self, values: list[float], fixed: list[bool], last: float) -> np.ndarray:
        """The TD(lambda) returns of a game, `(plies,)` float32; `last` is the value of its end."""
        decay, behind = self.config.decay, last
        targets = np.zeros(len(values), np.float32)
        for t in reversed(range(len(values))):
            if fixed[t]:
                behind = values[t]
            elif t < len(values) - 1:
                behind = decay * behind + (1 - decay) * values[t]
            targets[t] = behind
        return targets


# ---- many games ----


class School:
    """Teachers in threads; a game does not depend on which of them plays it."""

    def __init__(self, config: Config, run: ValueRun) -> None:
        self._free: SimpleQueue[Teacher] = SimpleQueue()
        for _ in range(config.threads):
            self._free.put(Teacher(config, run))
        self._pool = ThreadPoolExecutor(config.threads)

    def teach(self, keys: np.ndarray) -> list[Lessons]:
        """Play a game for each key; the results are in the order of the keys."""
        games = [self._pool.submit(self._play, key) for key in keys]
        try:
            return [game.result() for game in games]
        finally:
            for game in games:
                game.cancel()

    def _play(self, key: np.uint64) -> Lessons:
        teacher = self._free.get()
        try:
            return teacher.lessons(key)
        finally:
            self._free.put(teacher)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


# ---- learning ----

CHUNK = 4096
"""Lessons whose features are kept at a time."""


class ExpertLearner(ValueRun):
    """Expert iteration in a training session."""

    config: Config

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.school = School(config, self)
        self._prepare = prepare_kernel(self.game, self.shape)
        self._scratch = np.zeros(scratch_words(self.game, self.shape), np.uint64)
        self._found = np.zeros((CHUNK, features_of(self.game).room), np.int32)
        self._counts, self._useful = (np.zeros(CHUNK, np.int64) for _ in range(2))
        self._begun, self._targets = (np.zeros(CHUNK, np.float32) for _ in range(2))

    def update(self) -> None:
        """Play games and learn from them once."""
        games = self.school.teach(self.keys())
        states = np.concatenate([game.states for game in games])
        lows = np.concatenate([game.lows for game in games])
        highs = np.concatenate([game.highs for game in games])
        order = np.random.default_rng((self.config.seed, self.updates)).permutation(len(states))
        used, error = 0, 0.0
        for at in range(0, len(order), CHUNK):
            rows = order[at : at + CHUNK]
            learned, total = self.learn_from(states[rows], lows[rows], highs[rows])
            used, error = used + learned, error + total
        self.updates += 1
        self.done += used
        plies = np.array([game.plies for game in games])
        values = {
            "train/error": error / max(used, 1),
            "train/plies": float(plies.mean()),
            "train/solved": sum(game.solved for game in games) / float(plies.sum()),
            "train/lessons_per_ply": len(states) / float(plies.sum()),
            "train/player_0": float(np.mean([np.sign(game.result) for game in games])),
        }
        self.logs.write(values, self.steps)

    def learn_from(
        self, states: np.ndarray, lows: np.ndarray, highs: np.ndarray
    ) -> tuple[int, float]:
        """Learn from up to `CHUNK` lessons, `(n,)` each.

        Returns:
            How many there was something to learn from, and the sum of their squared errors.
        """
        rows = self._found, self._counts, self._begun, self._targets
        count = self._prepare(
            states, lows, highs, self.weights, self._scratch, *rows, self._useful
        )
        return count, count * self.fit(self._useful[:count], *rows)


@contextlib.contextmanager
def make_learner(config: Config) -> Iterator[ExpertLearner]:
    """The learner; its threads end with it."""
    learner = ExpertLearner(config)
    try:
        yield learner
    finally:
        learner.school.close()


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, make_learner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    run_script(run_words)
