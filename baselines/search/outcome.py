"""What a tree search found: the moves tried, their values, and the move to play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.search.tree import MOST_VISITS, Tree


@dataclass(frozen=True)
class Candidate:
    """One move as a search evaluates it, from the view of the player to move.

    Attributes:
        action: the action.
        visits: simulations that began with this action.
        value: the final payoff, what was gained before included: the mean over these simulations,
            or the proven one.
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
    """The result of a tree search.

    Attributes:
        best: the action to play.
        value: the final payoff of the player to move; an estimate unless `exact`.
        exact: whether the value is proven.
        candidates: the moves tried, most visits first. Their shares of the visits are what a policy
            learns in AlphaZero; where the result is proven at once, none of them has any.
        line: the best moves for both players, starting with `best`, as far as the tree goes; empty
            if not requested.
        simulations: the number of simulations made; with a tree that was kept, there are more
            visits than these.
        full: whether the tree ran out of memory and stopped growing.
    """

    best: int
    value: float
    exact: bool
    candidates: tuple[Candidate, ...]
    line: tuple[int, ...]
    simulations: int
    full: bool


@dataclass(frozen=True, eq=False)
class SearchedTree:
    """A tree after some simulations, as the moves and values that it holds.

    Attributes:
        arrays: those of the tree.
        hidden_draws: whether the game has hidden draws; children then form a linked list.
    """

    arrays: Tree
    hidden_draws: bool

    @property
    def proven(self) -> bool:
        """Whether the value of the position is proven."""
        return bool(self.arrays.nodes["low"][0] == self.arrays.nodes["high"][0])

    @property
    def simulations(self) -> int:
        """The simulations of this search so far."""
        return int(self.arrays.stats["simulations"][0])

    @property
    def simulations_left(self) -> int:
        """How many more simulations can be counted."""
        return MOST_VISITS - int(self.arrays.nodes["visits"][0])

    @property
    def finished(self) -> bool:
        """Whether no more simulations are of use, or none can be counted."""
        return self.proven or self.simulations_left == 0

    def outcome(self, line: bool = True) -> Outcome:
        """The result so far, with or without the line of best moves.

        At least one simulation must have been made.
        """
        sign = 1 - 2 * int(self.arrays.nodes["mover"][0])
        candidates = self._candidates(0)
        best = preferred(candidates)
        exact = self.proven
        value = float(sign * self.arrays.nodes["low"][0]) if exact else best.value
        by_visits = sorted(candidates, key=lambda c: (-c.visits, c.action))
        return Outcome(
            best.action, value, exact, tuple(by_visits), self._line() if line else (),
            self.simulations, bool(self.arrays.stats["full"][0]),
        )  # fmt: skip

    def children(self, slot: int) -> np.ndarray:
        """The slots of a node's visited children, in the order of their first visits."""
        node = self.arrays.nodes[slot]
        if not self.hidden_draws:
            return np.arange(node["first"], node["first"] + node["tried"])
        slots, at = [], int(node["first"])
        while at:
            slots.append(at)
            at = int(self.arrays.nodes["next"][at])
        return np.array(slots, np.int64)

    def child(self, action: int) -> int | None:
        """The slot of the root's child of an action; None if there is none."""
        children = self.children(0)
        found = children[self.arrays.nodes["action"][children] == action]
        return int(found[0]) if len(found) else None

    def _candidates(self, slot: int) -> list[Candidate]:
        sign = 1 - 2 * int(self.arrays.nodes["mover"][slot])
        children = self.children(slot)
        nodes, means = self.arrays.nodes[children], self.arrays.mean[children].tolist()
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
        while len(children := self.children(slot)):
            best = preferred(self._candidates(slot)).action
            line.append(best)
            slot = int(children[list(self.arrays.nodes["action"][children]).index(best)])
        return tuple(line)


def preferred(candidates: Sequence[Candidate]) -> Candidate:
    """The move to play: the most visited one, unless another is proven to be better.

    Ties go to the first in the given order, which the search has drawn at random.
    """
    least = max(c.low for c in candidates)
    candidates = [c for c in candidates if c.high >= least]
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
