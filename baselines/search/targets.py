"""What there is to learn from the searches of many games: policies, values, and moves to play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from azumaya.baselines.search.outcome import list_candidates, preferred_of
from azumaya.baselines.search.tree import tree_at
from azumaya.envs.kernels.compile import kernel


@kernel
def order_policy(room, count, exact, value, moves, visits):
    """Write the moves of the policy to learn, and their visits, most visits first.

    These are the moves visited of the first `count` candidates; or, if the value is proven, those
    that are proven to keep it. Returns their number.
    """
    size = 0
    for i in range(count):
        found, at = room[i], size
        keeps = found.low == found.high and found.value == value
        if not (keeps if exact else found.visits > 0):
            continue
        while at > 0 and (
            visits[at - 1] < found.visits
            or (visits[at - 1] == found.visits and moves[at - 1] > found.action)
        ):
            moves[at], visits[at] = moves[at - 1], visits[at - 1]
            at -= 1
        moves[at], visits[at] = found.action, found.visits
        size += 1
    return size


@kernel
def draw_move(moves, visits, count, drawn):
    """One of `count` moves, drawn by the shares of the visits with a number from 0 to 1."""
    total, reached = 0, 0.0
    for i in range(count):
        total += visits[i]
    for i in range(count - 1):
        reached += visits[i] / total
        if reached > drawn:
            return moves[i]
    return moves[count - 1]


@kernel
def write_shares(moves, visits, count, actions, shares):
    """Write the first `count` moves and their shares of these moves' visits."""
    total = 0
    for i in range(count):
        total += visits[i]
    for i in range(count):
        actions[i], shares[i] = moves[i], visits[i] / total


class Targets(NamedTuple):
    """Where it is noted what searches found, by row of `n`.

    Attributes:
        actions: the actions of the policy to learn, `(n, K)` int32.
        shares: their probabilities, `(n, K)` float32.
        values: what the player to move still gains, `(n,)` float32.
        exact: whether that is proven, `(n,)` bool.
    """

    actions: np.ndarray
    shares: np.ndarray
    values: np.ndarray
    exact: np.ndarray


@kernel
def note_searches(rows, drawn, sampled, gained, trees, room, ranked, targets):
    """Note what searches found in some rows of targets, and return the moves to play.

    The policy has the shares of the visits; or, if the value is proven, all moves alike that keep
    it. `gained` is what the player to move has gained before. `room` and `ranked`, `(2, A)`, are
    scratch space for all moves of a position.
    """
    moves, visits, chosen = ranked[0], ranked[1], np.empty(rows.shape[0], np.int64)
    actions, exact = targets.actions, targets.exact
    for g in range(rows.shape[0]):
        row, tree = rows[g], tree_at(trees, g)
        root, count = tree.nodes[0], list_candidates(tree, 0, room)
        best = room[preferred_of(room, count)]
        value, chosen[g] = best.value, best.action
        exact[row] = root.low == root.high
        if exact[row]:
            value = np.float64((1 - 2 * root.mover) * root.low)
        count = order_policy(room, count, exact[row], value, moves, visits)
        if sampled and not exact[row]:
            chosen[g] = draw_move(moves, visits, count, drawn[g])
        if exact[row]:
            visits[:count] = 1
        count = min(count, actions.shape[1])
        write_shares(moves, visits, count, actions[row], targets.shares[row])
        targets.values[row] = value - gained[g]
    return chosen
