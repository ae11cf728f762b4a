"""Train a value by self-play with TD(lambda), everything compiled, then evaluate its agent.

    python -m azumaya.baselines.training.td_value --game sudoku_moyo --seed 1

A small network estimates who will win from a position (`azumaya.baselines.values`). It plays games
against itself: it draws a few moves at random and plays the one that leads to the position it
values most, and some of its moves are random altogether. From each game it learns TD(lambda)
returns, that is, a position's value is moved towards a mixture of the values that followed it and
the result. The agent that comes out plays by one step of lookahead, over all moves; search uses the
same value at full speed: `azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains, from top to bottom: the hyperparameters; playing; and learning. `players.py`
has the threads and workers, and `value_run.py` what else the scripts share that train a compiled
value. Measuring, saving, stopping, the final evaluation and the learning curve are in `session.py`,
which all training scripts share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import numpy as np

from azumaya.baselines.arena.matches import Score
from azumaya.baselines.training.checks import Count, Numbers
from azumaya.baselines.training.command import exit_code, read_words, run_script
from azumaya.baselines.training.config import AGENT_FILES
from azumaya.baselines.training.run_folder import Script
from azumaya.baselines.training.session import run_training
from azumaya.baselines.training.value_config import ValueConfig
from azumaya.baselines.training.value_run import (
    ValueRun,
    value_agent_files,
)
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.joined import Joinable, offsets_of
from azumaya.baselines.values.network import F32, scratch_words
from azumaya.baselines.values.self_play import self_play_kernel
from azumaya.baselines.values.value import shape_of
from azumaya.envs import find_game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.setup import prepare

PROGRAM = "azumaya.baselines.training.td_value"

# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(ValueConfig):
    """Every hyperparameter of a run; `ValueConfig` has those that other scripts share."""

    script = Script(PROGRAM, value_agent_files, AGENT_FILES, prefix="td_value-")

    steps: Annotated[int, Numbers(1, 10**15)] = 5_000_000
    """Total plies to learn from; the last games are always completed."""
    most_moves: Annotated[int, Numbers(0, 1_000_000)] = 16
    """Moves judged in a position, drawn at random; with 0 all are."""
    measure_every: Count = 500_000
    """Plies between two evaluations for the learning curve."""


# ---- playing ----

PART = 8
"""Games that a thread or worker plays at a time."""


@dataclass(frozen=True)
class Games(Joinable):
    """What can be learned from `G` games with `N` positions and `M` features, one after another.

    Attributes:
        lengths: the plies of each game, `(G,)` int64.
        results: player_0's payoffs, `(G,)` int64.
        counts: how many features each position has, `(N,)` int64.
        begun: what the network's sum starts with, `(N,)` float32.
        targets: what the value should be, for the player to move, `(N,)` float32.
        found: the features, `(M,)` uint16 or, where these are too small for row numbers, int32.
    """

    lengths: np.ndarray
    results: np.ndarray
    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray

    @property
    def offsets(self) -> np.ndarray:
        """Where the features of each position begin, and where the last ones end, `(N + 1,)`."""
        return offsets_of(self.counts)


class SelfPlayer:
    """Plays games against itself; `Players` has one for each thread or worker."""

    def __init__(self, config: Config) -> None:
        self.config, self.game = config, find_game(config.game)
        self.setup = prepare(self.game, config.options)
        shape = shape_of(self.game, config.width, config.plain)
        self._play = self_play_kernel(self.game, shape)
        plies = min(config.most_plies, self.game.options.max_steps(self.setup.settings))
        room, most = features_of(self.game, config.plain).room, PART * plies
        self._starts = self.game.new_states(PART)
        self._scratch = (
            np.zeros(scratch_words(self.game, shape), np.uint64),
            np.zeros((2, word_count(self.setup.num_actions)), np.uint64),
            self.game.new_states(1), self.game.new_states(1), np.zeros(room, np.int32),
            np.zeros((plies, 3), np.float32),
        )  # fmt: skip
        small = shape.rows <= np.iinfo(np.uint16).max + 1
        self._found = np.zeros(most * room, np.uint16 if small else np.int32)
        self._counts, self._begun = np.zeros(most, np.int64), np.zeros(most, np.float32)
        self._targets = np.zeros(most, np.float32)

    def play_games(self, keys: np.ndarray, weights: np.ndarray) -> Games:
        """Play a game for each key; the result depends on keys and weights alone.

        Args:
            keys: the keys of the games, `(G,)` uint64, with `G <= PART`.
            weights: the network's parameters.
        """
        config, lengths = self.config, np.zeros(len(keys), np.int64)
        results = np.zeros_like(lengths)
        for g, key in enumerate(keys):
            self.game.rules.reset(self._starts, g, self.setup.starts, key)
        self._play(
            self._starts, keys, config.explore, config.random_seats,
            config.most_moves or self.setup.num_actions, F32(config.decay), weights, *self._scratch,
            self._found, self._counts, self._begun, self._targets, lengths, results,
        )  # fmt: skip
        positions = int(lengths.sum())
        counts, begun, targets = (
            array[:positions].copy() for array in (self._counts, self._begun, self._targets)
        )
        found = self._found[: counts.sum()].copy()
        return Games(lengths, results, counts, begun, targets, found)


# ---- learning ----


class ValueLearner(ValueRun):
    """TD(lambda) in a training session."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, SelfPlayer, PART)

    def play_and_learn(self) -> tuple[int, dict[str, float]]:
        """Play games and learn from them once; returns the plies learned from, and metrics."""
        games = Games.joined(self.players.play(self.keys(), self.weights))
        order = np.arange(len(games.targets))
        np.random.default_rng((self.config.seed, self.updates)).shuffle(order)
        error = self.fit(order, games.found, games.offsets, games.begun, games.targets)
        return len(order), {
            "error": error,
            "plies": float(games.lengths.mean()),
            "player_0": float(np.sign(games.results).mean()),
        }


def main(config: Config) -> list[Score]:
    """Train, evaluate, draw; `run_training` lists the errors."""
    return run_training(config, ValueLearner)


def run_words(words: Sequence[str] | None = None) -> int:
    """Run a command line; returns 0, 1 on failure, 2 for invalid input, 130 after Ctrl-C."""
    return exit_code(lambda: main(read_words(Config, words, __doc__)))


if __name__ == "__main__":
    # under the name that workers import, so that what they are sent has that name, too
    run_script(import_module(PROGRAM).run_words)
