"""What there is to learn from the searches of many games: policies, values, and moves to play."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.outcome import list_candidates, preferred_of
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


@kernel
def note_searches(
    rows, drawn, sampled, gained, hidden_draws, trees, room, moves, visits, actions, shares, values,
    exact, chosen,
):  # fmt: skip
    """Note what searches found in some rows of lessons, and choose the moves to play.

    The policy has the shares of the visits; or, if the value is proven, all moves alike that keep
    it. `gained` is what the player to move has gained before.
    """
    for g in range(rows.shape[0]):
        row, nodes = rows[g], trees.nodes[g]
        root, count = nodes[0], list_candidates(nodes, trees.mean[g], 0, hidden_draws, room)
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
        write_shares(moves, visits, min(count, actions.shape[1]), actions[row], shares[row])
        values[row] = value - gained[g]
