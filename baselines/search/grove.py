"""The trees of many games that are searched at once, for PUCT with a network."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.search.evaluator import (
    NOT_FINITE,
    AnyEvaluator,
    Evaluator,
    PackedEvaluator,
    begin_packed,
    checked,
)
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.simulations import LEAF, Leaves, round_kernel, take_in
from azumaya.baselines.search.tree import PRIOR_NODE, plant
from azumaya.baselines.search.trees import Trees, follow
from azumaya.baselines.search.walks import DEEPEST, Desk, Terms, new_desk
from azumaya.envs import Position
from azumaya.envs.engine.kernels import move_kernel
from azumaya.envs.engine.workers import Workers
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states
from azumaya.envs.kernels.states import words_of
from azumaya.envs.observation import unpack_bits, unpack_planes

FREE = 256
"""The most simulations in one round that end without the network, at a node that is proven."""
LEAST, SMALLEST = 64, 16
"""The fewest trees for each thread, and of a slice."""
HALVES = 512
"""The fewest trees of which a half is searched while the network evaluates the others' leaves."""


class Grove(Trees):
    """The trees of several games, and the leaves that wait for a network.

    Args:
        kernels: the game's kernels.
        num_actions: the number of actions.
        games: the number of trees.
        leaves: the most leaves of each tree in one round.
        slots: nodes for each tree.
        threads: the most threads that work on them.
    """

    def __init__(
        self,
        kernels: GameKernels,
        num_actions: int,
        games: int,
        leaves: int,
        slots: int,
        threads: int,
    ) -> None:
        super().__init__(kernels, games, slots, PRIOR_NODE)
        rows = games * leaves
        self.num_actions, self._each = num_actions, leaves
        self.leaves = Leaves(
            np.zeros(games, np.uint64), np.zeros(games, bool), self.roots,
            kernels.game.new_states(rows), np.zeros((rows, kernels.words), np.uint64),
            np.zeros((rows, kernels.game.observation.packed_words), np.uint64),
            np.zeros((rows, DEEPEST + 1), np.int64), as_states(np.zeros(rows, LEAF)),
            np.zeros((rows, num_actions), np.float32), np.zeros(rows),
        )  # fmt: skip
        self._round, self._move = round_kernel(kernels), move_kernel(kernels.game)
        self._workers, self._desks = Workers(threads, LEAST, SMALLEST), threading.local()

    def start(self, positions: Sequence[Position], keys: Sequence[int], kept: bool) -> None:
        """Prepare a search, in the first rows; with `kept` trees that follow a position go on."""
        self.begin(positions, kept)
        self.go_on(keys)

    def go_on(self, keys: Sequence[int] | np.ndarray) -> None:
        """Prepare another search of the first trees, with a key each."""
        self.count = len(keys)
        self.leaves.keys[: self.count], self.leaves.calm[: self.count] = keys, True
        self.leaves.rows["waits"] = 0  # if the last search was interrupted, some do
        self.arrays.stats["simulations"] = 0

    def move(self, actions: np.ndarray) -> None:
        """Follow the games of the last search by a move each, as `advance` does."""
        rows, run = np.arange(len(actions)), self._workers.run
        run(self._move, len(rows), lambda: (rows, actions, self.roots), fixed=True)
        run(follow, len(rows), lambda: (actions, self.arrays, self._blank), fixed=True)

    def arrange(self, rows: Sequence[int]) -> None:
        """Go on with the games of some rows; those that are elsewhere now have new trees."""
        words_of(self.roots)[: len(rows)] = words_of(self.roots)[list(rows)]
        for g, row in enumerate(rows):
            if g != row:
                plant(self.arrays, g, self.arrays.stats["bound"][g], self._blank)

    def parts(self) -> list[tuple[int, int]]:
        """The first and the last tree, exclusive, of the parts that are searched in turn."""
        if self.count < HALVES:
            return [(0, self.count)]
        half = self.count // 2
        return [(0, half), (half, self.count)]

    def play_round(self, first: int, last: int, limit: int, terms: Terms) -> bool:
        """Expand the evaluated leaves of trees `first` to `last - 1`, and select the next ones.

        Returns whether a search has simulations left, and a root that is not proven.
        """

        def arguments() -> tuple[Any, ...]:
            return first, limit, FREE, terms, self.arrays, self.leaves, self._desk()

        return any(self._workers.run(self._round, last - first, arguments, fixed=True))

    def _desk(self) -> Desk:
        """The desk of the thread that asks."""
        if not hasattr(self._desks, "own"):
            self._desks.own = new_desk(self.kernels)
        own: Desk = self._desks.own
        return own

    def ask(self, first: int, last: int, evaluator: AnyEvaluator, batch: int) -> Callable[[], None]:
        """Begin to evaluate the leaves that wait in trees `first` to `last - 1`.

        They are evaluated `batch` at a time, or all at once if they stay packed. The function
        returned waits for the evaluation, and takes it in.
        """
        waits = self.leaves.rows["waits"][first * self._each : last * self._each]
        waiting = first * self._each + np.flatnonzero(waits)
        if not isinstance(evaluator, PackedEvaluator):
            return functools.partial(self._evaluate, waiting, evaluator, batch)
        if len(waiting) == 0:
            return lambda: None
        observed, words = (
            all_.take(waiting, 0) for all_ in (self.leaves.observed, self.leaves.words)
        )
        answer = begin_packed(evaluator, observed, words)
        return lambda: self._take(waiting, answer(), len(waiting))

    def _evaluate(self, waiting: np.ndarray, evaluator: Evaluator, batch: int) -> None:
        for at in range(0, len(waiting), batch):
            rows = waiting[at : at + batch]
            given = evaluator.evaluate(self._planes(rows, batch), self._masks(rows, batch))
            self._take(rows, given, batch)

    def _take(self, rows: np.ndarray, given: Any, size: int) -> None:
        """Check and keep what an evaluator gave for leaves in a batch of some size."""
        found = checked(given, (size, self.num_actions))
        logits, values = (np.require(each, requirements=["C", "W"]) for each in found)
        if not take_in(rows, logits.view(np.uint32), values, self.leaves):
            raise OptionError(NOT_FINITE)

    def _masks(self, rows: np.ndarray, size: int) -> np.ndarray:
        """The legal actions of some leaves, in a batch that is filled up with none."""
        masks = np.zeros((size, self.num_actions), bool)
        masks[: len(rows)] = unpack_bits(self.leaves.words[rows], self.num_actions)
        return masks

    def _planes(self, rows: np.ndarray, size: int) -> np.ndarray:
        """The observations of some leaves, in a batch that is filled up with zeros."""
        game, view = self.kernels.game, self.kernels.game.observation
        planes = np.zeros((size, len(view.planes), *view.shape), np.int8)
        planes[: len(rows)] = unpack_planes(game, self.leaves.observed[rows])
        return planes
