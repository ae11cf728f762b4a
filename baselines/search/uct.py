"""UCT: Monte Carlo tree search with random rollouts, on one position or many."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.search.budget import Budget, Rooms, share, spend
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    kernels_of,
    payoff_bound,
)
from azumaya.baselines.search.tree import SLOT_BYTES, STATS, clear_slot, new_nodes
from azumaya.baselines.search.uct_kernels import (
    DEEPEST,
    simulate_hidden_kernel,
    simulate_kernel,
)
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.errors import OptionError
from azumaya.envs.game import as_states
from azumaya.envs.whole import as_whole

MEGABYTES = 64
EXPLORATION = 0.8
"""Weight of what is little known, for results from -1 to 1."""


@dataclass(frozen=True)
class Candidate:
    """One move as UCT sees it, for the player to move.

    Attributes:
        action: the action.
        visits: simulations that began with it.
        value: mean result of these, or the proven one: what the game will have paid in the end.
        low: what is proven that it gives at least.
        high: what is proven that it gives at most.
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
    """What a UCT search has found.

    Attributes:
        best: the action to play.
        value: what the player to move will have gained by the end; exact if `exact`.
        exact: whether the value is proven.
        candidates: the moves tried, most visits first.
        line: the best moves for both, from `best` on, as far as the tree goes.
        simulations: how many were made.
        full: whether the tree has used up its memory and no longer grew.
    """

    best: int
    value: float
    exact: bool
    candidates: tuple[Candidate, ...]
    line: tuple[int, ...]
    simulations: int
    full: bool


class Tree:
    """Room for one UCT search at a time, and the search that is in it.

    Args:
        kernels: of the game.
        megabytes: memory for nodes.

    Raises:
        OptionError: the memory would not hold the moves of one position.
    """

    def __init__(self, kernels: GameKernels, megabytes: float = MEGABYTES) -> None:
        slots = int(megabytes * 2**20) // SLOT_BYTES
        least = 64 * kernels.words + 1
        if slots < least:
            raise OptionError(
                f"megabytes={megabytes!r}: the moves of one position need "
                f"{math.ceil(least * SLOT_BYTES / 2**20 * 100) / 100}"
            )
        self.kernels = kernels
        self.bytes = slots * SLOT_BYTES
        make = simulate_hidden_kernel if kernels.hidden_draws else simulate_kernel
        self._simulate = make(kernels)
        self.nodes, self._mean, self._reach = new_nodes(slots)
        self._stats = as_states(np.zeros(1, STATS))
        self._root, self._trial = kernels.new_states(1), kernels.new_states(1)
        self._words = np.zeros(kernels.words, np.uint64)
        self._path = np.zeros(DEEPEST + 1, np.int64)
        self._key, self._weight, self._cut = np.uint64(0), EXPLORATION, 0

    def begin(self, position: Position, key: int, weight: float, cut: int) -> None:
        """Set a search up: no simulations yet."""
        self._root[:] = position.state
        self._key, self._weight, self._cut = np.uint64(key), float(weight), cut
        self._stats[:] = np.zeros(1, STATS)
        self._stats["used"], self._stats["bound"] = 1, payoff_bound(position)
        clear_slot(self.nodes, 0, -1, payoff_bound(position))

    def advance(self, steps: int) -> int:
        """Make up to so many simulations more; returns how many were made."""
        done = int(self._stats["simulations"][0])
        return int(
            self._simulate(
                done, done + steps, self._key, self._weight, self._cut, self._root, self._trial,
                self._words, self.nodes, self._mean, self._reach, self._stats, self._path,
            )
        )  # fmt: skip

    @property
    def finished(self) -> bool:
        """Whether the result of the position is proven."""
        return bool(self.nodes["low"][0] == self.nodes["high"][0])

    def outcome(self) -> Outcome:
        """What the search has found so far; at least one simulation must have been made."""
        sign = 1 - 2 * int(self.nodes["mover"][0])
        candidates = self._candidates(0)
        best = preferred(candidates)
        exact = self.finished
        value = float(sign * self.nodes["low"][0]) if exact else best.value
        by_visits = sorted(candidates, key=lambda c: (-c.visits, c.action))
        return Outcome(
            best.action, value, exact, tuple(by_visits), self._line(),
            int(self._stats["simulations"][0]), bool(self._stats["full"][0]),
        )  # fmt: skip

    def _children(self, slot: int) -> np.ndarray:
        """The slots of a node's children that have been tried, in the order of first visits."""
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
        found = []
        for child in self.nodes[self._children(slot)]:
            low, high = sorted((sign * int(child["low"]), sign * int(child["high"])))
            mean = low if low == high else sign * float(child["total"]) / int(child["visits"])
            found.append(Candidate(int(child["action"]), int(child["visits"]), mean, low, high))
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

    Equals are taken in the order given, which the search has drawn at random.
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
    """UCT with its settings; search as many positions as you like with one object.

    Args:
        budget: simulations or time for each position.
        exploration: weight of what is little known, for results from -1 to 1; with larger payoffs
            it grows with the range of results met.
        cut: plies after which a rollout is cut off and `evaluate` judges; 0: rollouts go to the
            end.
        megabytes: memory for nodes, for each thread.
        threads: positions searched at once; None for as many as there are cores.

    Raises:
        OptionError: an argument has a value it cannot take.
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
            raise OptionError(f"exploration={exploration!r}: a number from 0 is needed")
        if as_whole(cut) is None or cut < 0:
            raise OptionError(f"cut={cut!r}: a whole number from 0 is needed")
        self.budget, self.exploration, self.cut = budget, exploration, int(cut)
        self.megabytes, self.threads = megabytes, check_threads(threads)
        self.rooms = Rooms(functools.partial(Tree, megabytes=megabytes), self.threads)

    def search(self, positions: Sequence[Position], keys: Sequence[int]) -> list[Outcome]:
        """Search each position, all of one game and running; chance comes from its key.

        With a budget in simulations, the result depends on position, key and settings only.

        Raises:
            OptionError: a position is over, or the memory would not hold its moves.
        """
        if not positions:
            return []
        check_running(positions)

        def work(i: int, room: Tree, stopped: Callable[[], bool]) -> Outcome:
            room.begin(positions[i], int(keys[i]), self.exploration, self.cut)
            spend(room, self.budget, stopped)
            return room.outcome()

        return share(
            work, len(positions), self.rooms.take(kernels_of(positions[0]), len(positions))
        )


def check_running(positions: Sequence[Position]) -> None:
    """Refuse positions in which there is nothing to search."""
    for i, position in enumerate(positions):
        if position.is_over:
            raise OptionError(f"position {i}: the game is over; a running position is needed")
