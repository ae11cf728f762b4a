"""UCT: Monte Carlo tree search with random rollouts, on one position or many."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from azumaya.baselines.search.budget import Budget, Rooms, share, spend
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    kernels_of,
    payoff_bound,
)
from azumaya.baselines.search.tree import NODE, SLOT_BYTES, STATS, clear_slot, move_root, new_nodes
from azumaya.baselines.search.uct_kernels import (
    DEEPEST,
    simulate_hidden_kernel,
    simulate_kernel,
)
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states
from azumaya.envs.whole import as_whole

MEGABYTES = 64
EXPLORATION = 0.8
"""Exploration weight, for results from -1 to 1."""


@dataclass(frozen=True)
class Candidate:
    """One move as UCT evaluates it, from the view of the player to move.

    Attributes:
        action: the action.
        visits: simulations that began with this action.
        value: the final payoff: the mean over these simulations, or the proven one.
        low: the proven lower bound.
        high: the proven upper bound.
    """

    action: int
    visits: int
    value: float
    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether the value is proven."""
        return self.low == self.high


@dataclass(frozen=True)
class Outcome:
    """The result of a UCT search.

    Attributes:
        best: the action to play.
        value: the final payoff of the player to move; an estimate unless `exact`.
        exact: whether the value is proven.
        candidates: the moves tried, most visits first.
        line: the best moves for both players, starting with `best`, as far as the tree goes; empty
            if not requested.
        simulations: the number of simulations made.
        full: whether the tree ran out of memory and stopped growing.
    """

    best: int
    value: float
    exact: bool
    candidates: tuple[Candidate, ...]
    line: tuple[int, ...]
    simulations: int
    full: bool


def slots_for(kernels: GameKernels, megabytes: float, slot_bytes: int) -> int:
    """The slots that fit into some memory; `OptionError` if one position's moves do not."""
    least = 64 * kernels.words + 1
    if not least * slot_bytes <= megabytes * 2**20 < math.inf:
        raise OptionError(
            f"megabytes={brief(megabytes)}: the moves of one position need "
            f"{math.ceil(least * slot_bytes / 2**20 * 100) / 100}"
        )
    return int(megabytes * 2**20) // slot_bytes


class Tree:
    """A UCT search and its memory, which can be reused for the next search.

    Args:
        kernels: the game's kernels.
        megabytes: memory for nodes.

    Raises:
        OptionError: the memory cannot hold the moves of one position.
    """

    layout: ClassVar[np.dtype[Any]] = NODE
    """The layout of a node."""

    def __init__(self, kernels: GameKernels, megabytes: float = MEGABYTES) -> None:
        slot_bytes = SLOT_BYTES + self.layout.itemsize - NODE.itemsize
        slots = slots_for(kernels, megabytes, slot_bytes)
        self.kernels = kernels
        self.bytes = slots * slot_bytes
        self._simulate = self._made(kernels)
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
        self._stats["used"], self._stats["bound"] = 1, payoff_bound(position)
        clear_slot(self.nodes, 0, -1, payoff_bound(position))

    def advance(self, steps: int) -> int:
        """Make up to `steps` more simulations; returns the number made."""
        done = int(self._stats["simulations"][0])
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
            children = self._children(0)
            found = children[self.nodes["action"][children] == action]
            if not len(found):
                self._restart(position, key)
                return
            move_root(self.nodes, self._mean, self._reach, self._stats, int(found[0]))
        self._stats["simulations"] = 0
        self._root[:] = position.state
        self._key = np.uint64(key)

    @property
    def finished(self) -> bool:
        """Whether the value of the position is proven."""
        return bool(self.nodes["low"][0] == self.nodes["high"][0])

    def outcome(self, line: bool = True) -> Outcome:
        """The result so far, with or without the line of best moves.

        At least one simulation must have been made.
        """
        sign = 1 - 2 * int(self.nodes["mover"][0])
        candidates = self._candidates(0)
        best = preferred(candidates)
        exact = self.finished
        value = float(sign * self.nodes["low"][0]) if exact else best.value
        by_visits = sorted(candidates, key=lambda c: (-c.visits, c.action))
        return Outcome(
            best.action, value, exact, tuple(by_visits), self._line() if line else (),
            int(self._stats["simulations"][0]), bool(self._stats["full"][0]),
        )  # fmt: skip

    def _children(self, slot: int) -> np.ndarray:
        """The slots of a node's visited children, in the order of their first visits."""
        node = self.nodes[slot]
        if not self.kernels.hidden_draws:
            return np.arange(node["first"], node["first"] + node["tried"])
        slots, at = [], int(node["first"])
        while at:
            slots.append(at)
            at = int(self.nodes["next"][at])
        return np.array(slots, np.int64)

    def _candidates(self, slot: int) -> list[Candidate]:
        sign = 1 - 2 * int(self.nodes["mover"][slot])
        children = self._children(slot)
        nodes, means = self.nodes[children], self._mean[children].tolist()
        names = ("action", "visits", "total", "low", "high")
        columns = (nodes[name].tolist() for name in names)  # plain numbers are faster to handle
        found = []
        for mean, action, visits, total, *bounds in zip(means, *columns, strict=True):
            low, high = sorted(sign * bound for bound in bounds)
            value = sign * total / visits if visits else min(max(sign * mean, low), high)
            found.append(Candidate(action, visits, float(low) if low == high else value, low, high))
        return found

    def _line(self) -> tuple[int, ...]:
        line, slot = [], 0
        while len(children := self._children(slot)):
            best = preferred(self._candidates(slot)).action
            line.append(best)
            slot = int(children[list(self.nodes["action"][children]).index(best)])
        return tuple(line)


def preferred(candidates: Sequence[Candidate]) -> Candidate:
    """The move to play: the most visited one, unless a proven one is better.

    Ties go to the first in the given order, which the search has drawn at random.
    """
    proven = [c for c in candidates if c.exact]
    open_ = [c for c in candidates if not c.exact]
    sure = max(proven, key=lambda c: c.value, default=None)
    if sure is not None:
        open_ = [c for c in open_ if c.high > sure.value]
    tried = max(open_, key=lambda c: (c.visits, c.value), default=None)
    if tried is None:
        assert sure is not None
        return sure
    return tried if sure is None or tried.value > sure.value else sure


class UCT:
    """UCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far.
        cut: plies after which a rollout is cut off and scored by `evaluate`; 0 means rollouts go to
            the end.
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
        if not 0 <= exploration < math.inf:
            raise OptionError(f"exploration={brief(exploration)}: a number from 0 is needed")
        if as_whole(cut) is None or cut < 0:
            raise OptionError(f"cut={brief(cut)}: a whole number from 0 is needed")
        self.budget, self.exploration, self.cut = budget, exploration, int(cut)
        self.megabytes, self.threads = megabytes, check_threads(threads)
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
            OptionError: a position is over, or the memory cannot hold its moves.
        """
        if not positions:
            return []
        check_running(positions)

        def work(i: int, room: Tree, stopped: Callable[[], bool]) -> Outcome:
            room.begin(positions[i], int(keys[i]), self.exploration, self.cut)
            spend(room, self.budget, stopped)
            return room.outcome(lines)

        return share(
            work, len(positions), self.rooms.take(kernels_of(positions[0]), len(positions))
        )


def check_running(positions: Sequence[Position]) -> None:
    """Refuse positions that are over."""
    for i, position in enumerate(positions):
        if position.is_over:
            raise OptionError(f"position {i}: the game is over; a running position is needed")
