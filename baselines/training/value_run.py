"""What the scripts that train a compiled value share: options, weights, learning, logs and saves.

A script contributes a `Config` with options of its own and a `ValueRun` with a `play_and_learn`;
`players.py` has those who play games.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.sidecar import Sidecar, describe, sidecar_of
from azumaya.baselines.arena.exam_results import take_exam
from azumaya.baselines.arena.exams import has_exam
from azumaya.baselines.game_options import by_default
from azumaya.baselines.search.game_kernels import payoff_bound
from azumaya.baselines.training.checks import Count, Numbers, Share
from azumaya.baselines.training.command import TrainingError
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.loop import LoggedLearner
from azumaya.baselines.training.players import Make, Players
from azumaya.baselines.training.saved_parts import agent_note, saved_count
from azumaya.baselines.training.saves import Save
from azumaya.baselines.values.champion import SEARCH, SearchName, searcher
from azumaya.baselines.values.feature_sets import features_of
from azumaya.baselines.values.learning import Moments, Room, follow, learn_kernel, prefer_kernel
from azumaya.baselines.values.network import F32
from azumaya.baselines.values.value import (
    KIND,
    MOST_WIDTH,
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


@dataclass(frozen=True)
class ValueConfig(RunConfig):
    """The options of a run that trains a compiled value by self-play."""

    threads: Annotated[int, Numbers(1, 1024)] = 2
    """Threads that play games. Results do not depend on their number."""
    features: Literal["shared", "plain"] | None = None
    """Whether numbers, cells and patterns that are alike share weights, or no bit shares any; the
    default is `shared`."""
    width: Annotated[int, Numbers(1, MOST_WIDTH)] = 16
    """Hidden units of the network."""
    games: Annotated[int, Numbers(1, 100_000)] = 128
    """Games played between two updates."""
    most_plies: Annotated[int, Numbers(1, 100_000)] = 400
    """A game that lasts longer counts with the value of its last position. One that the game's own
    limit ends counts with its result, which may be a draw, as in search."""
    explore: Share = 0.1
    """Fraction of moves that are random."""
    random_seats: Share = 0.0
    """Fraction of seats, drawn for each game, whose player makes only random moves, so that more
    positions are met in which something can be won."""
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
    workers: Annotated[int, Numbers(0, 1024)] = 0
    """Processes that play games; 0 means threads of this process. Results do not depend on it."""
    ray: str = ""
    """The address of a Ray cluster that plays games, or `local` to start one here."""
    search: SearchName = "alphabeta"
    """The search that the agent plays best with; it is stored with the agent. In games with hidden
    draws it has no effect: there agents search by PUCT."""

    def completed(self) -> Self:
        """As `RunConfig.completed`; also fills in the kind of features."""
        return replace(super().completed(), features=self.features or "shared")

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
        self.snapshots = Moments.new(self.shape)
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
        shape, square = self.shape, self.snapshots.square
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
        kept, room = self.snapshots, self._room
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
        kept = self.snapshots
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
        self.snapshots = Moments(
            save.take(MEAN, np.float32, learned).copy(),
            save.take(SQUARE, np.float32, learned).copy(),
            save.take(STEPS, np.int64, (1,)).copy(),
        )
        self.weights[:], self.average[:] = weights, average
        self.done, self.updates = save.steps, saved_count(save, "updates")
