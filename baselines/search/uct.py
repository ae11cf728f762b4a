"""UCT: Monte Carlo tree search with random rollouts, on one position or many."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from azumaya.baselines.search.arguments import (
    allocating,
    check_cut,
    check_exploration,
    check_megabytes,
)
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.evaluation import own_evaluation
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    payoff_bound,
)
from azumaya.baselines.search.outcome import Outcome, SearchedTree
from azumaya.baselines.search.tree import NODE, STATS, clear_slot, move_root, new_nodes, slot_bytes
from azumaya.baselines.search.uct_kernels import (
    DEEPEST,
    simulate_hidden_kernel,
    simulate_kernel,
)
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states

MEGABYTES = 64
EXPLORATION = 0.8
"""Exploration weight, for results from -1 to 1."""
MOST_SLOTS = 2**31 - 1
"""The most slots that a tree can number."""


def slots_for(kernels: GameKernels, megabytes: float, size: int) -> int:
    """The slots of some bytes that fit; `OptionError` if the moves of one position do not."""
    least = 64 * kernels.words + 1
    if least * size > check_megabytes(megabytes) * 2**20:
        raise OptionError(
            f"megabytes={brief(megabytes)}: the moves of one position need "
            f"{math.ceil(least * size / 2**20 * 100) / 100}"
        )
    return min(int(megabytes * 2**20) // size, MOST_SLOTS)


class Tree(SearchedTree):
    """A UCT search and its memory, which can be reused for the next search.

    Args:
        kernels: the game's kernels.
        megabytes: memory for nodes.

    Raises:
        OptionError: the memory cannot hold the moves of one position, or there is less.
    """

    layout: ClassVar[np.dtype[Any]] = NODE
    """The layout of a node."""

    def __init__(self, kernels: GameKernels, megabytes: float = MEGABYTES) -> None:
        slots = slots_for(kernels, megabytes, slot_bytes(self.layout))
        self.kernels = kernels
        self.hidden_draws = kernels.hidden_draws
        self._simulate = self._made(kernels)
        with allocating(megabytes):
            self.nodes, self._mean, self._reach = new_nodes(slots, self.layout)
        self._stats = as_states(np.zeros(1, STATS))
        self._root, self._trial = kernels.new_states(1), kernels.new_states(1)
        self._words = np.zeros(kernels.words, np.uint64)
        self._path = np.zeros(DEEPEST + 1, np.int64)
        self._key, self._weight, self._cut = np.uint64(0), EXPLORATION, 0

    def _made(self, kernels: GameKernels) -> Any:
        """The kernel that makes simulations."""
        make = simulate_hidden_kernel if kernels.hidden_draws else simulate_kernel
        return make(kernels)

    def begin(self, position: Position, key: int, weight: float, cut: int) -> None:
        """Set up a search, without simulations yet."""
        self._weight, self._cut = float(weight), cut
        self._restart(position, key)

    def _restart(self, position: Position, key: int) -> None:
        """Empty the tree and make a position its root; the settings stay the same."""
        self._root[:] = position.state
        self._key = np.uint64(key)
        self._stats[:] = np.zeros(1, STATS)
        bound = payoff_bound(position)
        self._stats["used"], self._stats["bound"] = 1, bound
        if self._cut and bound > 1:
            fitted = own_evaluation(position).weights
            self._stats["cut_stake"], self._stats["cut_scale"] = fitted
        clear_slot(self.nodes, 0, -1, bound)

    def advance(self, steps: int) -> int:
        """Make up to `steps` more simulations; returns the number made."""
        done, steps = int(self._stats["simulations"][0]), min(steps, self.simulations_left)
        return int(
            self._simulate(
                done, done + steps, self._key, self._weight, self._cut, self._root, self._trial,
                self._words, self.nodes, self._mean, self._reach, self._stats, self._path,
            )
        )  # fmt: skip

    def follow(self, position: Position, key: int, moves: Sequence[int]) -> None:
        """Continue at `position`, to which `moves` led, and keep the tree below them.

        For games without hidden draws. Where a move was never tried, the tree is new.
        """
        for action in moves:
            child = self.child(action)
            if child is None:
                self._restart(position, key)
                return
            move_root(self.nodes, self._mean, self._reach, self._stats, child)
        self._stats["simulations"] = 0
        self._root[:] = position.state
        self._key = np.uint64(key)


class UCT:
    """UCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far and 0.
        cut: plies after which a rollout is cut off and scored by the game's `evaluate`, for payoffs
            above 1 as `own_evaluation` does; 0 means rollouts go to the end.
        megabytes: memory for the nodes of each thread.
        threads: positions searched in parallel; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        exploration: float = EXPLORATION,
        cut: int = 0,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        self.budget, self.cut = check_budget(budget), check_cut(cut)
        self.exploration = check_exploration(exploration)
        self.megabytes, self.threads = check_megabytes(megabytes), check_threads(threads)
        self.rooms = Rooms(functools.partial(Tree, megabytes=megabytes), self.threads)

    def search(
        self, positions: Sequence[Position], keys: Sequence[int], *, lines: bool = True
    ) -> list[Outcome]:
        """Search running positions of the same game; each position's key seeds its draws.

        With a budget in simulations, the result depends only on position, key and settings.

        Args:
            positions: the positions.
            keys: one for each position.
            lines: whether to find the lines of best moves, which takes as long as some hundred
                simulations; without them `line` is empty.

        Raises:
            OptionError: a position or a key is invalid, or the memory cannot hold the moves of a
                position.
        """
        positions, keys = check_asked(positions, keys)

        def work(i: int, room: Tree, stopped: Callable[[], bool]) -> Outcome:
            room.begin(positions[i], keys[i], self.exploration, self.cut)
            spend(room, self.budget, stopped)
            return room.outcome(lines)

        return self.rooms.each(positions, work)
