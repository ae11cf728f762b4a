"""Train a value by self-play with TD(lambda), everything compiled, then evaluate its agent.

    python -m azumaya.baselines.training.td_value --game sudoku_moyo --seed 1

A small network estimates who wins a position (`azumaya.baselines.values`). It plays games against
itself: each move is the one after which it thinks best of the position, some are random. From each
game it learns TD(lambda) returns, that is, a position's value is moved towards a mixture of the
values that followed it and the result. The agent that comes out plays by one step of lookahead;
search uses the same value at full speed: `azumaya evaluate alphabeta:10ms:PATH uct:10ms`.

This file contains, from top to bottom: the hyperparameters; playing, in several threads; learning;
and the state of a run. Measuring, saving, stopping, the final evaluation and the learning curve are
in `session.py`, which all training scripts share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import Sidecar, describe, sidecar_of
from azumaya.baselines.arena.exam_results import take_exam
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.arena.matches import Score
from azumaya.baselines.search.evaluation import random_games
from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.training.checks import Count, Numbers, Share
from azumaya.baselines.training.command import (
    TrainingError,
    exit_code,
    read_words,
    run_script,
)
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.logs import RunLog
from azumaya.baselines.training.run_folder import RunFolder, Script
from azumaya.baselines.training.saved_parts import agent_note, saved_count
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.session import Learner, Overseer, run_training
from azumaya.baselines.values.champion import SEARCH, searcher
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.learning import Moments, learn_kernel
from azumaya.baselines.values.lookahead import self_play_kernel
from azumaya.baselines.values.network import F32, first_weights, scratch_words
from azumaya.baselines.values.value import (
    KIND,
    MOST_WIDTH,
    Value,
    ValueAgent,
    shape_of,
    value_files,
)
from azumaya.envs import Position, find_game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.position import episode_key
from azumaya.envs.setup import prepare

PROGRAM = "azumaya.baselines.training.td_value"
FILES = ("policy.safetensors", "policy.json")
WEIGHTS, MEAN, SQUARE, STEPS = "weights", "adam.mean", "adam.square", "adam.steps"
LATEST = "weights.latest"
"""Names of arrays in a save: the agent's parameters, Adam's moments, the parameters that learn."""
WARMING = 10
"""Updates over which averaging begins: at first an average forgets faster."""


def agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    return value_files("policy", save.arrays[WEIGHTS], sidecar_of(save.notes.get("agent")))


# ---- the hyperparameters ----


@dataclass(frozen=True)
class Config(RunConfig):
    """Every hyperparameter of a run."""

    script = Script(PROGRAM, agent_files, FILES, prefix="td_value-")

    steps: Annotated[int, Numbers(1, 10**15)] = 5_000_000
    """Total plies to learn from; the last games are always completed."""
    measure_every: Count = 500_000
    """Plies between two evaluations for the learning curve."""
    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that play games. Results do not depend on their number."""
    features: Literal["shared", "plain"] = "shared"
    """Whether numbers, cells and patterns that are alike share weights, or no bit shares any."""
    width: Annotated[int, Numbers(1, MOST_WIDTH)] = 16
    """Hidden units of the network."""
    games: Annotated[int, Numbers(1, 100_000)] = 128
    """Games played between two updates."""
    most_plies: Annotated[int, Numbers(1, 100_000)] = 400
    """A game that lasts longer counts with the value of its last position."""
    explore: Share = 0.1
    """Fraction of moves that are random."""
    decay: Share = 0.8
    """TD(lambda)'s lambda: 1 learns from results alone, 0 from the next value alone."""
    learning_rate: Annotated[float, Numbers(0, 1, above=True)] = 0.002
    """Adam's initial learning rate."""
    final_share: Share = 0.05
    """The learning rate at the end, as a fraction of the initial one."""
    batch: Count = 64
    """Positions in a batch."""
    averaging: Share = 0.98
    """How much of the agent's weights stays after each update; the rest are the weights just
    learned. With 0 the agent has the last weights."""
    search: Literal["alphabeta", "puct"] = "alphabeta"
    """The search that the agent plays best with; it is stored with the agent."""

    @property
    def plain(self) -> bool:
        """Whether the features are plain."""
        return self.features == "plain"

    def sidecar(self, num_actions: int, **notes: Any) -> Sidecar:
        """The sidecar of this run's checkpoints."""
        game = find_game(self.game)
        kind = features_of(game, self.plain).kind
        notes = {"features": kind, "seed": self.seed, SEARCH: self.search, **notes}
        sizes = {"width": self.width}
        return describe(game, num_actions, KIND, sizes, options=dict(self.options), notes=notes)


# ---- playing ----

PART = 8
"""Games that a thread plays at a time; Ctrl-C takes effect when they are over."""


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
        room = features_of(self.game, config.plain).room
        self.found = np.zeros((*size, room), np.int32)
        self.counts, self.begun = np.zeros(size, np.int64), np.zeros(size, np.float32)
        self.targets = np.zeros(size, np.float32)
        self.lengths, self.results = (np.zeros(config.games, np.int64) for _ in range(2))
        self._starts = self.game.new_states(config.games)
        self._play = self_play_kernel(self.game, self.shape)
        self._pool = ThreadPoolExecutor(config.threads)

    def play(self, number: int, weights: np.ndarray) -> None:
        """Play the games of update `number` with these weights.

        Game `g` of an update depends on the seed, the numbers and the weights alone.
        """
        games = self.config.games
        keys = np.array([episode_key(self.config.seed, g, number) for g in range(games)], np.uint64)
        for g, key in enumerate(keys):
            self.game.rules.reset(self._starts, g, self.setup.starts, key)
        parts = [(at, min(at + PART, games)) for at in range(0, games, PART)]
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
            first, last, self._starts, keys, self.config.explore, F32(self.config.decay), weights,
            np.zeros(scratch_words(game, self.shape), np.uint64),
            np.zeros(word_count(self.setup.num_actions), np.uint64),
            game.new_states(1), game.new_states(1), self.found, self.counts, self.begun,
            self.targets, np.zeros((self.counts.shape[1], 3), np.float32), self.lengths,
            self.results,
        )  # fmt: skip

    def positions(self) -> np.ndarray:
        """The numbers of all positions, game by game, `(n,)` int64."""
        plies = self.counts.shape[1]
        return np.flatnonzero(np.arange(plies) < self.lengths[:, None])

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


# ---- learning ----


class ValueLearner(Learner):
    """TD(lambda) in a training session."""

    def __init__(self, config: Config) -> None:
        self.config, self.table = config, Table(config)
        self.shape, game = self.table.shape, self.table.game
        start = Position(game, **config.options)
        _, scores = random_games(kernels_of(start), self.table.setup)
        scale = max(2.0 * float(np.abs(scores).mean()), 1.0)
        self.weights = first_weights(self.shape, config.seed, scale, payoff_bound(start))
        self.average = self.weights.copy()
        self.moments = Moments.new(self.shape)
        self.gradient = np.zeros(self.shape.learned, np.float32)
        self.touched = np.zeros(self.shape.rows, np.int64)
        self.marks = np.zeros(self.shape.rows, np.bool_)
        self.done = self.updates = 0

    @property
    def steps(self) -> int:
        """The number of plies learned from so far."""
        return self.done

    @property
    def goal(self) -> int:
        """The number of plies to learn from; the last games may exceed it."""
        return self.config.steps

    def agent(self) -> ValueAgent:
        """The agent as trained so far."""
        return ValueAgent(self.value())

    def value(self) -> Value:
        """The value as trained so far."""
        return Value(self.table.game, self.config.width, self.average, plain=self.config.plain)

    def searching(self, milliseconds: float) -> Agent:
        """The agent with search."""
        start = Position(self.table.game, **self.config.options)
        return searcher(self.value(), start, self.config.search, milliseconds=milliseconds)

    def check(self) -> None:
        """Check that all weights are finite."""
        if not np.isfinite(self.weights).all():
            raise TrainingError(
                f"after {self.steps:,} steps the weights are no longer finite; start another run "
                "with a smaller --learning-rate"
            )

    def learn(self, overseer: Overseer) -> None:
        """Update until all steps are done."""
        while self.steps < self.config.steps:
            overseer.between_updates()
            self.update()
            overseer.display.advance(self.steps)

    def update(self) -> None:
        """Play games and learn from them once."""
        table, config = self.table, self.config
        table.play(self.updates, self.weights)
        order = table.positions()
        np.random.default_rng((config.seed, self.updates)).shuffle(order)
        share = min(1.0, self.steps / config.steps)
        rate = config.learning_rate * (1 - (1 - config.final_share) * share)
        kept = self.moments
        error = learn_kernel(self.shape)(
            order, config.batch, rate, table.found.reshape(-1, table.found.shape[2]),
            table.counts.ravel(), table.begun.ravel(), table.targets.ravel(), self.weights,
            kept.mean, kept.square, kept.steps, self.gradient, self.touched, self.marks,
        )  # fmt: skip
        self.updates += 1
        self.done += len(order)
        self.follow()
        found = {
            "train/error": float(error),
            "train/plies": float(table.lengths.mean()),
            "train/player_0": float(np.sign(table.results).mean()),
        }
        self.logs.write(found, self.steps)

    def follow(self) -> None:
        """Move the agent's weights towards those just learned."""
        kept = F32(min(self.config.averaging, self.updates / (self.updates + WARMING)))
        self.average = kept * self.average + (F32(1) - kept) * self.weights

    # ---- logs ----

    def begin(self, run: RunFolder, save: Save | None) -> None:
        """Open the logs."""
        self.logs = RunLog(run, self.steps)

    def measured(self, rates: Mapping[str, float]) -> None:
        """Log the win rates and, if the game has an exam, the share of wins kept in it."""
        values = {f"eval/{name}": rate for name, rate in rates.items()}
        if has_exam(self.config.game) and not self.config.options:
            kept = take_exam(self.agent(), self.config.game).kept_wins
            if kept is not None:
                values["eval/exam"] = kept
        self.logs.write(values, self.steps)

    def close(self) -> None:
        """Close the logs."""
        self.logs.close()

    # ---- saves ----

    def moment(self, curve: list[dict[str, float]], lines: int) -> Save:
        """Copy everything needed to resume the run."""
        kept = self.moments
        arrays = {
            WEIGHTS: self.average.copy(),
            LATEST: self.weights.copy(),
            MEAN: kept.mean.copy(),
            SQUARE: kept.square.copy(),
            STEPS: kept.steps.copy(),
        }
        sidecar = self.config.sidecar(self.table.setup.num_actions, steps=self.steps)
        notes = {"updates": self.updates, "agent": agent_note(sidecar)}
        return Save(self.steps, curve, lines, notes, arrays)

    def restore(self, save: Save) -> None:
        """Continue from a save."""
        learned = (self.shape.learned,)
        weights, average = (
            save.take(name, np.float32, (self.shape.size,)) for name in (LATEST, WEIGHTS)
        )
        self.moments = Moments(
            save.take(MEAN, np.float32, learned).copy(),
            save.take(SQUARE, np.float32, learned).copy(),
            save.take(STEPS, np.int64, (1,)).copy(),
        )
        self.weights, self.average = weights.copy(), average.copy()
        self.done, self.updates = save.steps, saved_count(save, "updates")


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
    run_script(run_words)
