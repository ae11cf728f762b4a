"""The trees of many games that are searched at once, for PUCT with a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from azumaya.baselines.search.batch_kernels import (
    LEAF,
    finish_hidden_kernel,
    finish_kernel,
    select_hidden_kernel,
    select_kernel,
)
from azumaya.baselines.search.evaluator import Evaluator, evaluated
from azumaya.baselines.search.game_kernels import GameKernels, payoff_bound
from azumaya.baselines.search.outcome import SearchedTree
from azumaya.baselines.search.puct_trees import new_lists
from azumaya.baselines.search.tree import PRIOR_NODE, STATS, move_root, new_nodes
from azumaya.baselines.search.uct_kernels import DEEPEST
from azumaya.envs import Position
from azumaya.envs.game import as_states
from azumaya.envs.observation import unpack_bits, unpack_planes

FREE = 256
"""The most simulations in one round that end at a proven node, without the network."""
NOISE = 0x6E6F6973
"""With it a search's key is that of its noise."""


class Grove:
    """The trees of several games that are searched at once.

    Args:
        kernels: the game's kernels.
        num_actions: the number of actions.
        games: the number of trees.
        leaves: the most leaves of each tree in one round.
        slots: nodes for each tree.
        threads: the number of threads that may work on it.

    Attributes:
        positions: the roots of the trees after a search, None for those that are not followed;
            empty while there are no trees to keep.
        advanced: whether the next search goes on with the trees.
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
        self.kernels, self.num_actions, self.leaves = kernels, num_actions, leaves
        rows, new = games * leaves, kernels.new_states
        nodes, mean, reach = new_nodes(games * slots, PRIOR_NODE)
        self.nodes, self.mean = nodes.reshape(games, slots), mean.reshape(games, slots)
        self.reach, self.stats = reach.reshape(games, slots), as_states(np.zeros(games, STATS))
        self.paths = np.zeros((rows, DEEPEST + 1), np.int64)
        self.roots, self.trials = new(games), new(rows)
        self.words = np.zeros((rows, kernels.words), np.uint64)
        self.observed = np.zeros((rows, kernels.game.observation.packed_words), np.uint64)
        self.rows = as_states(np.zeros(rows, LEAF))
        self.keys = np.zeros(games, np.uint64)
        hidden = kernels.hidden_draws
        self._select = (select_hidden_kernel if hidden else select_kernel)(kernels)
        self._finish = (finish_hidden_kernel if hidden else finish_kernel)(kernels)
        self._own = [(new(1), new_lists(kernels)) for _ in range(threads)]
        self._nothing = np.zeros(0, np.float32), np.zeros(0, np.uint64)
        self.positions: list[Position | None] = []
        self.advanced = False

    def begin(self, positions: Sequence[Position], keys: Sequence[int]) -> None:
        """Prepare a search, in the first rows: trees that do not follow a position are new."""
        followed = self.positions if self.advanced else []
        self.count, self.positions, self.advanced = len(positions), [], False
        self.calm = np.ones(self.count, bool)
        self.keys[: self.count] = keys
        self.stats["simulations"] = 0
        for g, position in enumerate(positions):
            if g >= len(followed) or position != followed[g]:
                self.plant(g, position)

    def plant(self, g: int, position: Position) -> None:
        """Begin a new tree."""
        bound, root, stats = payoff_bound(position), self.nodes[g, :1], self.stats[g : g + 1]
        self.roots[g], self.mean[g, 0] = position.state[0], 0.0
        root[:], stats[:] = np.zeros(1, PRIOR_NODE), np.zeros(1, STATS)
        root["low"], root["high"], stats["used"], stats["bound"] = -bound, bound, 1, bound

    def advance(self, moved: Sequence[tuple[int, Position | None]]) -> None:
        """Keep the part of each tree below an action, and the position that it led to."""
        self.positions = []  # if this is interrupted, the next search begins anew
        for g, (action, position) in enumerate(moved):
            if position is None:
                continue
            child = None if self.kernels.hidden_draws else self.tree(g).child(action)
            if child is None:
                self.plant(g, position)
            else:
                self.roots[g] = position.state[0]
                stats = self.stats[g : g + 1]
                move_root(self.nodes[g], self.mean[g], self.reach[g], stats, child)
        self.positions, self.advanced = [position for _, position in moved], True

    def disturb(self, noise: float, concentration: float) -> None:
        """Mix noise into the priors of the roots that have children, once in each search."""
        for g in np.flatnonzero(self.calm & (self.nodes["count"][: self.count, 0] > 0)):
            self.calm[g], nodes = False, self.nodes[g]
            children = self.tree(int(g))._children(0)
            children = children[np.argsort(nodes["action"][children])]
            random = np.random.Generator(
                np.random.Philox(key=np.array([self.keys[g], NOISE], np.uint64))
            )
            drawn = random.dirichlet(np.full(len(children), concentration / len(children)))
            few = nodes[children]
            few["prior"] += noise * (few["prior"].sum() * drawn - few["prior"])
            nodes["prior"][children] = few["prior"]
            reach = few["prior"] / (1.0 + few["visits"])
            self.reach[g, children] = np.where(few["low"] == few["high"], 0.0, reach)

    def unfinished(self, limit: int) -> bool:
        """Whether a search has simulations left, and a root that is not proven."""
        root = self.nodes[: self.count, 0]
        open_ = root["low"] != root["high"]
        return bool((open_ & (self.stats["simulations"][: self.count] < limit)).any())

    def select(self, first: int, last: int, thread: int, limit: int, weight: float) -> None:
        """Select leaves of the trees `first` to `last - 1`."""
        self._select(
            first, last, self.leaves, limit, FREE, self.keys, weight, self.roots, self.trials,
            self.words, self._own[thread][1][0], self.observed, self.rows, self.nodes, self.mean,
            self.reach, self.stats, self.paths,
        )  # fmt: skip

    def finish(
        self,
        first: int,
        last: int,
        thread: int,
        logits: np.ndarray,
        values: np.ndarray,
        heat: float,
    ) -> None:
        """Expand the leaves of the trees `first` to `last - 1`, and pass their values up."""
        child, lists = self._own[thread]
        self._finish(
            first, last, self.leaves, logits, values, self.trials, child, self.words, *lists,
            self.rows, self.nodes, self.mean, self.reach, self.stats, self.paths, heat,
            *self._nothing,
        )  # fmt: skip

    def evaluate(
        self, evaluator: Evaluator, batch: int, logits: np.ndarray, values: np.ndarray
    ) -> None:
        """Evaluate the leaves that wait, `batch` at a time, into the rows of the two arrays."""
        game, view = self.kernels.game, self.kernels.game.observation
        waiting = np.flatnonzero(self.rows["waits"][: self.count * self.leaves])
        for at in range(0, len(waiting), batch):
            rows = waiting[at : at + batch]
            planes = np.zeros((batch, len(view.planes), *view.shape), np.int8)
            masks = np.zeros((batch, self.num_actions), bool)
            planes[: len(rows)] = unpack_planes(game, self.observed[rows])
            masks[: len(rows)] = unpack_bits(self.words[rows], self.num_actions)
            found = evaluated(evaluator, planes, masks)
            logits[rows], values[rows] = (part[: len(rows)] for part in found)

    def tree(self, g: int) -> SearchedTree:
        """One of the trees."""
        tree = SearchedTree()
        tree.nodes, tree._mean = self.nodes[g], self.mean[g]
        tree._stats, tree.hidden_draws = self.stats[g : g + 1], self.kernels.hidden_draws
        return tree
