"""The trees of many games that are searched at once, for PUCT with a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.baselines.search.evaluator import NOT_FINITE, AnyEvaluator, PackedEvaluator, checked
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.priors import mix_noise, root_priors
from azumaya.baselines.search.simulations import (
    LEAF,
    Leaves,
    finish_kernel,
    select_kernel,
    take_in,
)
from azumaya.baselines.search.tree import PRIOR_NODE, plant
from azumaya.baselines.search.trees import Trees, follow
from azumaya.baselines.search.walks import DEEPEST, Terms, new_desk
from azumaya.envs import Position
from azumaya.envs.engine.kernels import move_kernel
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states
from azumaya.envs.kernels.compile import Settled
from azumaya.envs.kernels.states import words_of
from azumaya.envs.observation import unpack_bits, unpack_planes

FREE = 256
"""The most simulations in one round that end without the network, at a node that is proven."""
NOISE = 0x6E6F6973
"""With it a search's key is that of its noise."""


class Grove(Trees):
    """The trees of several games, and the leaves that wait for a network.

    Args:
        kernels: the game's kernels.
        num_actions: the number of actions.
        games: the number of trees.
        leaves: the most leaves of each tree in one round.
        slots: nodes for each tree.
        threads: the number of threads that may work on it.
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
            np.zeros(games, np.uint64), self.roots, kernels.game.new_states(rows),
            np.zeros((rows, kernels.words), np.uint64),
            np.zeros((rows, kernels.game.observation.packed_words), np.uint64),
            np.zeros((rows, DEEPEST + 1), np.int64), as_states(np.zeros(rows, LEAF)),
            np.zeros((rows, num_actions), np.float32), np.zeros(rows),
        )  # fmt: skip
        self._select, self._finish = map(Settled, (select_kernel(kernels), finish_kernel(kernels)))
        self._move = move_kernel(kernels.game)
        self._desks = [new_desk(kernels) for _ in range(threads)]
        self._philox = np.random.Philox(key=np.array([0, NOISE], np.uint64))
        self._new_state: Any = self._philox.state

    def start(self, positions: Sequence[Position], keys: Sequence[int], kept: bool) -> None:
        """Prepare a search, in the first rows; with `kept` trees that follow a position go on."""
        self.begin(positions, kept)
        self.go_on(keys)

    def go_on(self, keys: Sequence[int] | np.ndarray) -> None:
        """Prepare another search of the first trees, with a key each."""
        self.count = len(keys)
        self.calm = np.ones(self.count, bool)
        self.leaves.keys[: self.count] = keys
        self.arrays.stats["simulations"] = 0

    def move(self, actions: np.ndarray) -> None:
        """Follow the games of the last search by a move each, as `advance` does."""
        rows = np.arange(len(actions))
        self._move(0, len(rows), rows, actions, self.roots)
        follow(0, len(rows), actions, self.arrays, self._blank)

    def arrange(self, rows: Sequence[int]) -> None:
        """Go on with the games of some rows; those that are elsewhere now have new trees."""
        words_of(self.roots)[: len(rows)] = words_of(self.roots)[list(rows)]
        for g, row in enumerate(rows):
            if g != row:
                plant(self.arrays, g, self.arrays.stats["bound"][g], self._blank)

    def disturb(self, noise: float, concentration: float) -> None:
        """Mix noise into the priors of the roots that have children, once in each search."""
        rows = np.flatnonzero(self.calm & (self.arrays.nodes["count"][: self.count, 0] > 0))
        self.calm[rows] = False
        shape, places = (len(rows), self.num_actions), np.empty(self.num_actions, np.int64)
        slots, priors, drawn = (np.empty(shape, kind) for kind in (np.int64, np.float32, float))
        counts = np.empty(len(rows), np.int64)
        root_priors(rows, self.arrays, places, slots, priors, counts)
        random, state = np.random.Generator(self._philox), self._new_state
        for i, (key, count) in enumerate(zip(self.leaves.keys[rows], counts.tolist(), strict=True)):
            state["state"]["key"][0] = key
            self._philox.state = state  # in a tenth of the time in which a new one is made
            alike = np.full(count, concentration / count)
            drawn[i, :count] = priors[i, :count].sum() * random.dirichlet(alike)
        mix_noise(rows, slots, counts, drawn, noise, self.arrays)

    def unfinished(self, limit: int) -> bool:
        """Whether a search has simulations left, and a root that is not proven."""
        root = self.arrays.nodes[: self.count, 0]
        open_ = root["low"] != root["high"]
        return bool((open_ & (self.arrays.stats["simulations"][: self.count] < limit)).any())

    def select(self, first: int, last: int, thread: int, limit: int, terms: Terms) -> None:
        """Select leaves of the trees `first` to `last - 1`."""
        self._select(first, last, limit, FREE, terms, self.arrays, self.leaves, self._desks[thread])

    def finish(self, first: int, last: int, thread: int, terms: Terms) -> None:
        """Expand the leaves of the trees `first` to `last - 1`, and pass their values up."""
        self._finish(first, last, terms, self.arrays, self.leaves, self._desks[thread])

    def evaluate(self, evaluator: AnyEvaluator, batch: int) -> None:
        """Evaluate the leaves that wait, `batch` at a time, or all at once if they stay packed."""
        leaves = self.leaves
        waiting = np.flatnonzero(leaves.rows["waits"][: self.count * self._each])
        if isinstance(evaluator, PackedEvaluator):
            if len(waiting):
                observed, words = leaves.observed[waiting], leaves.words[waiting]
                self._take(waiting, evaluator.evaluate_packed(observed, words), len(waiting))
            return
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
