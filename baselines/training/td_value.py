"""Train a value by self-play with TD(lambda), everything compiled, then evaluate its agent.

    python -m azumaya.baselines.training.td_value --game sudoku_moyo --seed 1

A small network estimates who wins a position (`azumaya.baselines.values`). It plays games against
itself: of a few moves drawn at random it makes the one after which it thinks best of the position,
and some of its moves are random altogether. From each game it learns TD(lambda) returns, that is, a
position's value is moved towards a mixture of the values that followed it and the result. The agent
that comes out plays by one step of lookahead, over all moves; search uses the same value at full
speed: `azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains, from top to bottom: the hyperparameters; playing, in several threads; and
learning. `value_run.py` has what all scripts that train a compiled value share. Measuring, saving,
stopping, the final evaluation and the learning curve are in `session.py`, which all training
scripts share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import numpy as np

from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training.checks import Count, Numbers, Share
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.crews import crew_of
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.session import run_training
from azumaya.baselines.training.value_run import (
    FILES,
    Task,
    ValueConfig,
    ValueRun,
    agent_files,
    kept_for,
    play_by,
)
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.lookahead import self_play_kernel
from azumaya.baselines.values.network import F32, scratch_words
from azumaya.baselines.values.packing import gather, scatter
from azumaya.baselines.values.value import shape_of
from azumaya.envs import find_game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.setup import prepare

PROGRAM = "azumaya.baselines.training.td_value"

# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(ValueConfig):
    """Every hyperparameter of a run; `ValueConfig` has those that other scripts share."""

    script = Script(PROGRAM, agent_files, FILES, prefix="td_value-")

    steps: Annotated[int, Numbers(1, 10**15)] = 5_000_000
    """Total plies to learn from; the last games are always completed."""
    random_seats: Share = 0.0
    """Fraction of seats, drawn for each game, whose player makes only random moves, so that more
    positions are met in which something can be won."""
    most_moves: Annotated[int, Numbers(0, 1_000_000)] = 16
    """Moves judged in a position, drawn at random; with 0 all are."""
    measure_every: Count = 500_000
    """Plies between two evaluations for the learning curve."""


# ---- playing ----

PART = 8
"""Games that a thread or worker plays at a time; Ctrl-C takes effect when they are over."""


@dataclass(frozen=True)
class Games:
    """Games of a worker: `G` games with `N` positions and `M` features, all after one another.

    Attributes:
        lengths: as in `Table`.
        results: as in `Table`.
        counts: as in `Table`, `(N,)`.
        begun: as in `Table`, `(N,)`.
        targets: as in `Table`, `(N,)`.
        found: the features, `(M,)` uint16 or, where these are too small for row numbers, int32.
    """

    lengths: np.ndarray
    results: np.ndarray
    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray


def play_games(task: Task[Config], keys: np.ndarray) -> Games:
    """Play some games in a worker, which keeps a table of its own."""
    config, weights = task
    table = kept_for(config, Table)
    table.play(keys, weights)
    return table.packed(len(keys))


class Table:
    """The games of an update: `G` games of at most `T` plies, with `F` numbers for features.

    Attributes:
        found: the features of each position, `(G, T, F)` int32.
        counts: how many there are, `(G, T)` int64.
        begun: what the network's sum starts with, `(G, T)` float32.
        targets: what the value should be, for the player to move, `(G, T)` float32.
        lengths: the plies of each game, `(G,)` int64.
        results: player_0's payoffs, `(G,)` int64.
    """

    def __init__(self, config: Config) -> None:
        self.config, self.game = config, find_game(config.game)
        self.setup = prepare(self.game, config.options)
        self.shape = shape_of(self.game, config.width, config.plain)
        plies = min(config.most_plies, self.game.options.max_steps(self.setup.settings))
        size = (config.games, plies)
        self.found = np.zeros((*size, features_of(self.game, config.plain).room), np.int32)
        self.counts, self.begun = np.zeros(size, np.int64), np.zeros(size, np.float32)
        self.targets = np.zeros(size, np.float32)
        self.lengths, self.results = (np.zeros(config.games, np.int64) for _ in range(2))
        self._starts = self.game.new_states(config.games)
        self._play = self_play_kernel(self.game, self.shape)
        self._pool = ThreadPoolExecutor(config.threads)
        self._crew = crew_of(config.workers, config.ray)

    def play(self, keys: np.ndarray, weights: np.ndarray) -> None:
        """Play a game for each key with these weights; it depends on nothing else.

        Raises:
            CrewError: workers keep dying.
        """
        parts = [(at, min(at + PART, len(keys))) for at in range(0, len(keys), PART)]
        if self._crew is not None:
            played = play_by(self._crew, play_games, (self.config, weights), keys, PART)
            for place, games in zip(parts, played, strict=True):
                self._put(slice(*place), games)
            return
        for g, key in enumerate(keys):
            self.game.rules.reset(self._starts, g, self.setup.starts, key)
        done = [self._pool.submit(self._play_part, *part, keys, weights) for part in parts]
        try:
            for part in done:
                part.result()
        finally:
            for part in done:
                part.cancel()

    def _play_part(self, first: int, last: int, keys: np.ndarray, weights: np.ndarray) -> None:
        game = self.game
        self._play(
            first, last, self._starts, keys, self.config.explore,
            self.config.random_seats, self.config.most_moves or self.setup.num_actions,
            F32(self.config.decay), weights,
            np.zeros(scratch_words(game, self.shape), np.uint64),
            np.zeros((2, word_count(self.setup.num_actions)), np.uint64),
            game.new_states(1), game.new_states(1), self.found, self.counts, self.begun,
            self.targets, np.zeros((self.counts.shape[1], 3), np.float32), self.lengths,
            self.results,
        )  # fmt: skip

    def packed(self, games: int) -> Games:
        """The first games, without the room that is left in the arrays."""
        part = slice(0, games)
        there, lengths = self._filled(part), self.lengths[part].copy()
        counts = self.counts[part][there]
        small = self.shape.rows <= np.iinfo(np.uint16).max + 1
        found = np.empty(int(counts.sum()), np.uint16 if small else np.int32)
        gather(self.found[part], self.counts[part], lengths, found)
        return Games(
            lengths, self.results[part].copy(), counts, self.begun[part][there],
            self.targets[part][there], found,
        )  # fmt: skip

    def _put(self, part: slice, games: Games) -> None:
        """Put a worker's games into a part of the arrays."""
        self.lengths[part], self.results[part] = games.lengths, games.results
        there = self._filled(part)
        self.counts[part][there] = games.counts
        self.begun[part][there], self.targets[part][there] = games.begun, games.targets
        scatter(games.found, self.counts[part], games.lengths, self.found[part])

    def _filled(self, part: slice) -> np.ndarray:
        """Which positions of some games there are, as a mask."""
        mask: np.ndarray = np.arange(self.counts.shape[1]) < self.lengths[part, None]
        return mask

    def positions(self) -> np.ndarray:
        """The numbers of all positions, game by game, `(n,)` int64."""
        return np.flatnonzero(self._filled(slice(None)))

    def close(self) -> None:
        """End the threads and workers."""
        self._pool.shutdown()
        if self._crew is not None:
            self._crew.close()


# ---- learning ----


class ValueLearner(ValueRun):
    """TD(lambda) in a training session."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.table = Table(config)

    def update(self) -> None:
        """Play games and learn from them once."""
        table = self.table
        table.play(self.keys(), self.weights)
        order = table.positions()
        np.random.default_rng((self.config.seed, self.updates)).shuffle(order)
        found = table.found.reshape(-1, table.found.shape[2])
        rest = table.counts.ravel(), table.begun.ravel(), table.targets.ravel()
        error = self.fit(order, found, *rest)
        self.updates += 1
        self.done += len(order)
        values = {
            "train/error": error,
            "train/plies": float(table.lengths.mean()),
            "train/player_0": float(np.sign(table.results).mean()),
        }
        self.logs.write(values, self.steps)


@contextlib.contextmanager
def make_learner(config: Config) -> Iterator[ValueLearner]:
    """The learner; its threads end with it."""
    learner = ValueLearner(config)
    try:
        yield learner
    finally:
        learner.table.close()


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, make_learner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    # under the name that workers import, so that what they are sent has that name, too
    run_script(import_module(PROGRAM).run_words)
