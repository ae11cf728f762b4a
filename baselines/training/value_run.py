"""What the scripts that train a compiled value share: weights, learning, logs and saves.

A script contributes a `Config` with options of its own and a `ValueRun` with a `play_and_learn`;
`value_config.py` has the options that they share, `players.py` those who play games.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import sidecar_of
from azumaya.baselines.arena.exam_results import take_exam
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.game_options import by_default
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.baselines.training.command import TrainingError
from azumaya.baselines.training.loop import LoggedLearner
from azumaya.baselines.training.players import Make, Players
from azumaya.baselines.training.saved_parts import agent_note, saved_count
from azumaya.baselines.training.saves import Save
from azumaya.baselines.training.value_config import ValueConfig
from azumaya.baselines.values.champion import searcher
from azumaya.baselines.values.learning import Moments, Room, follow, learn_kernel, prefer_kernel
from azumaya.baselines.values.network import F32
from azumaya.baselines.values.value import (
    Value,
    ValueAgent,
    shape_of,
    untrained,
    value_files,
)
from azumaya.envs import Position, find_game
from azumaya.envs.position import episode_key
from azumaya.envs.setup import prepare

WEIGHTS, MEAN, SQUARE, STEPS = "weights", "adam.mean", "adam.square", "adam.steps"
LATEST = "weights.latest"
"""Names of arrays in a save: the agent's parameters, Adam's moments, the parameters that learn."""
WARMING = 10
"""Updates over which averaging begins: at first an average forgets faster."""
QUESTIONS = 16
"""Questions in a batch."""


def value_agent_files(save: Save) -> dict[str, bytes]:
    """The agent in a save, as the files of a checkpoint called `policy`."""
    return value_files("policy", save.arrays[WEIGHTS], sidecar_of(save.notes.get("agent")))


# ---- the run ----


class ValueRun(LoggedLearner):
    """A training session that learns a compiled value.

    Args:
        config: the options of the run.
        make: makes those who play its games.
        part: how many games one of them plays at a time.

    Attributes:
        players: who plays the games.
        game: the game.
        setup: the prepared options of the game.
        shape: the network's sizes.
        bound: the largest payoff.
        weights: the network's parameters, with which games are played.
        average: those of the agent, an average over the last updates; rows of features that have
            never occurred are zero, or as in the network that learning began with.
    """

    config: ValueConfig

    def __init__(self, config: ValueConfig, make: Make[Any], part: int) -> None:
        super().__init__(config)
        self.game = find_game(config.game)
        self.setup = prepare(self.game, config.options)
        self.shape = shape_of(self.game, config.width, config.plain)
        self.bound = payoff_bound(Position(self.game, **config.options))
        start = untrained(self.game, config.width, config.seed, config.options, config.plain)
        self.weights = start.weights
        self.average = self.weights.copy()
        self.shape.first_layer(self.average)[:] = 0  # until something has been learned from a row
        self.moments = Moments.new(self.shape)
        self._room = Room.new(self.shape)
        self.players = Players(make, config, part)

    @abstractmethod
    def play_and_learn(self) -> tuple[int, dict[str, float]]:
        """Play games and learn from them once; returns what `update` does."""

    def value(self) -> Value:
        """The network that learns; it shares the weights."""
        return Value(self.game, self.config.width, self.weights, plain=self.config.plain)

    def averaged(self) -> Value:
        """The network with averaged weights, which it shares."""
        return replace(self.value(), weights=self.average)

    def agent(self) -> ValueAgent:
        """The agent as trained so far."""
        return ValueAgent(self.averaged())

    def searching(self, milliseconds: float) -> Agent:
        """The agent with search."""
        start = Position(self.game, **self.config.options)
        return searcher(self.averaged(), start, self.config.search, milliseconds=milliseconds)

    def check(self) -> None:
        """Check that all weights are finite."""
        if not np.isfinite(self.weights).all():
            raise TrainingError(
                f"after {self.steps:,} steps the weights are no longer finite; start another run "
                "with a smaller --learning-rate"
            )

    def update(self) -> tuple[int, dict[str, float]]:
        """Learn, then move the agent's weights towards those just learned."""
        found = self.play_and_learn()
        self._follow(self.updates + 1)
        return found

    def _follow(self, updates: int) -> None:
        """Move the agent's weights towards those that `updates` updates have learned.

        Rows of features that have not occurred yet stay as they are.
        """
        kept = np.float32(min(self.config.averaging, updates / (updates + WARMING)))
        shape, square = self.shape, self.moments.square
        follow(kept, shape.rows, shape.width, square, self.average, self.weights)

    def keys(self) -> np.ndarray:
        """The keys of the games of the next update, `(games,)` uint64."""
        seed, number = self.config.seed, self.updates
        return np.array([episode_key(seed, g, number) for g in range(self.config.games)], np.uint64)

    def fit(
        self,
        order: np.ndarray,
        found: np.ndarray,
        offsets: np.ndarray,
        begun: np.ndarray,
        targets: np.ndarray,
    ) -> float:
        """Learn from positions once, in this order; returns the mean squared error.

        The arguments are those of `learn_kernel`.
        """
        error = learn_kernel(self.shape)(
            order, self.config.batch, self._rate(), found, offsets, begun, targets, *self._learning
        )
        return float(error)

    def prefer(
        self,
        firsts: np.ndarray,
        right: np.ndarray,
        again: np.ndarray,
        found: np.ndarray,
        offsets: np.ndarray,
        begun: np.ndarray,
        targets: np.ndarray,
    ) -> float:
        """Learn from questions once, of which there is one at least.

        Returns how often the best-valued move was right, from 0 to 1.

        The arguments are those of `prefer_kernel`, and `again` of `Questions`.
        """
        order = np.random.default_rng((self.config.seed, self.updates)).permutation(len(firsts) - 1)
        signs, scores = np.where(again, F32(1), F32(-1)), np.zeros(np.diff(firsts).max(), F32)
        hits = prefer_kernel(self.shape)(
            order, QUESTIONS, self._rate(), firsts, right, signs, found, offsets, begun, targets,
            scores, *self._learning,
        )  # fmt: skip
        return float(hits)

    def _rate(self) -> float:
        """The learning rate by now."""
        return self.config.learning_rate * (1 - (1 - self.config.final_share) * self.progress)

    @property
    def _learning(self) -> tuple[np.ndarray, ...]:
        """The parameters and what learning needs beside them."""
        kept, room = self.moments, self._room
        return (
            self.weights, kept.mean, kept.square, kept.steps, room.gradient, room.touched,
            room.marks, room.hidden,
        )  # fmt: skip

    def measured(self, rates: Mapping[str, float]) -> None:
        """Log the win rates and, if the game has an exam, the share of wins kept in it."""
        if has_exam(self.config.game) and by_default(self.config.game, self.config.options):
            kept = take_exam(self.agent(), self.config.game).kept_wins
            if kept is not None:
                rates = {**rates, "exam": kept}
        super().measured(rates)

    def close(self) -> None:
        """End the threads and workers, and close the logs."""
        self.players.close()
        super().close()

    # ---- saves ----

    def snapshot(self, curve: list[dict[str, float]], lines: int) -> Save:
        """Copy everything needed to resume the run."""
        kept = self.moments
        arrays = {
            WEIGHTS: self.average.copy(),
            LATEST: self.weights.copy(),
            MEAN: kept.mean.copy(),
            SQUARE: kept.square.copy(),
            STEPS: kept.steps.copy(),
        }
        sidecar = self.config.sidecar(self.setup.num_actions, steps=self.steps)
        notes = {"updates": self.updates, "agent": agent_note(sidecar)}
        return Save(self.steps, curve, lines, notes, arrays)

    def restore(self, save: Save) -> None:
        """Continue from a save."""
        learned = (self.shape.learned,)
        size = (self.shape.size,)
        average, weights = (save.take(name, np.float32, size) for name in (WEIGHTS, LATEST))
        self.moments = Moments(
            save.take(MEAN, np.float32, learned).copy(),
            save.take(SQUARE, np.float32, learned).copy(),
            save.take(STEPS, np.int64, (1,)).copy(),
        )
        self.weights[:], self.average[:] = weights, average
        self.done, self.updates = save.steps, saved_count(save, "updates")
