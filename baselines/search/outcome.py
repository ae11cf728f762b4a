"""What a tree search found: the moves tried, their values, and the move to play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.search.tree import Tree
from azumaya.envs.game import as_states
from azumaya.envs.kernels.compile import kernel

CANDIDATE = np.dtype(
    [
        ("action", np.int64),
        ("visits", np.int64),
        ("value", np.float64),
        ("low", np.int64),
        ("high", np.int64),
    ]
)
"""A `Candidate` in an array."""


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


def outcome_of(tree: Tree, line: bool = True) -> Outcome:
    """The result of a search so far, with or without the line of best moves.

    At least one simulation must have been made.
    """
    sign = 1 - 2 * int(tree.nodes["mover"][0])
    candidates = _candidates(tree, 0)
    best = preferred(candidates)
    exact = tree.proven
    value = float(sign * tree.nodes["low"][0]) if exact else best.value
    by_visits = sorted(candidates, key=lambda c: (-c.visits, c.action))
    return Outcome(
        best.action, value, exact, tuple(by_visits), _line(tree) if line else (),
        tree.simulations, bool(tree.stats["full"][0]),
    )  # fmt: skip


def children_of(tree: Tree, slot: int) -> np.ndarray:
    """The slots of a node's visited children, in the order of their first visits."""
    node = tree.nodes[slot]
    if not tree.stats["hidden"][0]:
        return np.arange(node["first"], node["first"] + node["tried"])
    slots, at = [], int(node["first"])
    while at:
        slots.append(at)
        at = int(tree.nodes["next"][at])
    return np.array(slots, np.int64)


def _candidates(tree: Tree, slot: int) -> list[Candidate]:
    room = as_states(np.empty(tree.nodes["count"][slot], CANDIDATE))
    count = list_candidates(tree, slot, room)
    return [Candidate(*each) for each in room[:count].tolist()]


def _line(tree: Tree) -> tuple[int, ...]:
    line, slot = [], 0
    while len(children := children_of(tree, slot)):
        best = preferred(_candidates(tree, slot)).action
        line.append(best)
        slot = int(children[list(tree.nodes["action"][children]).index(best)])
    return tuple(line)


def preferred(candidates: Sequence[Candidate]) -> Candidate:
    """The move to play: the most visited one, unless another is proven to be better.

    Ties go to the first in the given order, which the search has drawn at random.
    """
    rows = [(c.action, c.visits, c.value, c.low, c.high) for c in candidates]
    return candidates[preferred_of(as_states(np.array(rows, CANDIDATE)), len(rows))]


# ---- kernels ----


@kernel
def list_candidates(tree, slot, room):
    """Write a node's visited children to `room`, in their order; returns their number."""
    nodes, mean, hidden = tree.nodes, tree.mean, tree.stats[0].hidden
    node = nodes[slot]
    sign, at, count = 1 - 2 * node.mover, np.int64(node.first), 0
    while at > 0 if hidden else count < node.tried:
        child, found = nodes[at], room[count]
        found.action, found.visits = child.action, child.visits
        found.low = child.low if sign > 0 else -child.high
        found.high = child.high if sign > 0 else -child.low
        if found.low == found.high:
            found.value = found.low
        elif child.visits > 0:
            found.value = sign * child.total / child.visits
        else:
            value = sign * np.float64(mean[at])
            found.value = min(max(value, np.float64(found.low)), np.float64(found.high))
        count += 1
        at = np.int64(child.next) if hidden else at + 1
    return count


@kernel
def preferred_of(room, count):
    """The index of the candidate that `preferred` returns, of the first `count`."""
    least, sure, tried = room[0].low, -1, -1
    for i in range(1, count):
        least = max(least, room[i].low)
    for i in range(count):
        found = room[i]
        better = sure < 0 or found.value > room[sure].value
        if found.high >= least and found.low == found.high and better:
            sure = i
    for i in range(count):
        found = room[i]
        if found.high < least or found.low == found.high:
            continue
        if sure >= 0 and found.high <= room[sure].value:
            continue
        more = tried < 0 or found.visits > room[tried].visits
        if more or (found.visits == room[tried].visits and found.value > room[tried].value):
            tried = i
    if tried < 0 or (sure >= 0 and room[tried].value <= room[sure].value):
        return sure
    return tried
