"""PUCT that evaluates few moves of a node at first, and learns from all moves made.

Two records of the moves in rollouts spare evaluations. The *history* says how well each player did
in rollouts in which they made a move; the moves of a node that did best are evaluated first, and
twice as many once the node was visited often. A node also knows how well its player did in the
simulations in which they made a move there or later (*all moves as first*, AMAF; in trees also
called RAVE: Gelly and Silver 2011), which counts for the value of the move.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.tree import NEVER
from azumaya.envs.kernels.bits import ONE, ZERO, get, lowest, put_bit
from azumaya.envs.kernels.compile import kernel

EVALUATION_VISITS = 8
"""The visits that an evaluation counts as, beside a move's own results and AMAF."""


@kernel
def bring_forward(tree, slot, upto):
    """Move the moves of a node that did best so far before its other unevaluated ones."""
    nodes = tree.nodes
    node = nodes[slot]
    for at in range(node.first + node.tried, node.first + upto):
        best, highest = at, -1e30
        for other in range(at, node.first + node.count):
            gained = tree.history[node.mover, nodes[other].action].gained
            if gained > highest:
                best, highest = other, gained
        nodes[at].action, nodes[best].action = nodes[best].action, nodes[at].action


@kernel
def note_value(tree, at):
    """Remember a move's evaluation, which is its mean before it is visited."""
    tree.amaf[at].value = tree.mean[at]
    tree.amaf[at].gain = 0.0
    tree.amaf[at].made = 0


@kernel
def blend(tree, at):
    """Set a move's value for selection: its results, its evaluation, and AMAF by their counts."""
    node, all_moves = tree.nodes[at], tree.amaf[at]
    if node.low == node.high or abs(tree.mean[at]) >= NEVER:
        return
    own = node.visits + EVALUATION_VISITS
    value = (node.total + EVALUATION_VISITS * np.float64(all_moves.value)) / own
    share = all_moves.made / (all_moves.made + own)
    tree.mean[at] = value + share * (all_moves.gain - value)


@kernel
def credit(tree, path, depth, played, result):
    """Credit the result of a simulation to all moves made in it, at the nodes of its path.

    `played` holds the moves made below the path; those of the path are added.
    """
    nodes = tree.nodes
    for d in range(depth, -1, -1):
        node = nodes[path[d]]
        for at in range(node.first, node.first + node.tried):
            if get(played[node.mover], nodes[at].action):
                all_moves = tree.amaf[at]
                all_moves.made += 1
                all_moves.gain += (result - all_moves.gain) / all_moves.made
                blend(tree, at)
        if d > 0:
            put_bit(played[nodes[path[d - 1]].mover], node.action)


@kernel
def learn(history, played, result):
    """Add the result of a rollout to the history of the moves `played` in it."""
    for player in range(2):
        gained = result if player == 0 else -result
        for w in range(played.shape[1]):
            left = played[player, w]
            while left != ZERO:
                known = history[player, 64 * w + lowest(left)]
                left &= left - ONE
                known.rollouts += 1
                known.gained += (gained - known.gained) / known.rollouts
