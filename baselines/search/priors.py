"""The priors of a node's children, and what is proven by looking at them."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.tree import LN2, puct_reach, tighten
from azumaya.envs.kernels.compile import kernel

LOG2_E = 1.4426950408889634
SMALLEST = -40.0
"""Exponents are cut off here."""


@kernel
def exp_of(x):
    """e**x for x from `SMALLEST` to 0, to within 2e-6; x below that counts as `SMALLEST`.

    It uses only exact arithmetic, so every platform searches the same tree.
    """
    halvings = -max(x, SMALLEST) * LOG2_E
    whole = np.int64(halvings)
    y = -LN2 * (halvings - whole)
    result = 1.0
    for k in range(7, 0, -1):
        result = 1.0 + result * y / k
    return result / (1 << whole)


@kernel
def shuffle(nodes, first, count, key):
    """Put the actions of newly made children in random order, in which ties are broken."""
    for i in range(count - 1, 0, -1):
        one, other = first + i, first + draw_below(key, i, i + 1)
        nodes[one].action, nodes[other].action = nodes[other].action, nodes[one].action


@kernel
def rank(tree, slot, heat):
    """Give the evaluated children of a node priors by their values; returns the expected value."""
    nodes, mean = tree.nodes, tree.mean
    node = nodes[slot]
    sign, best = np.float64(1 - 2 * node.mover), -1e30
    for at in range(node.first, node.first + node.tried):
        best = max(best, sign * mean[at])
    total, value = 0.0, 0.0
    for at in range(node.first, node.first + node.tried):
        weight = exp_of((sign * mean[at] - best) / heat)
        nodes[at].prior = weight
        total += weight
        value += weight * mean[at]
    share(tree, slot, total)
    return value / total


@kernel
def rank_by_logits(tree, slot, logits, heat):
    """Give the children of a node priors by the logits of their actions."""
    nodes = tree.nodes
    node, best, total = nodes[slot], -np.inf, 0.0
    for at in range(node.first, node.first + node.count):
        best = max(best, np.float64(logits[nodes[at].action]))
    for at in range(node.first, node.first + node.count):
        weight = exp_of((np.float64(logits[nodes[at].action]) - best) / heat)
        nodes[at].prior = weight
        total += weight
    share(tree, slot, total)


@kernel
def share(tree, slot, total):
    """Divide the priors of a node's evaluated children by their sum."""
    nodes = tree.nodes
    node = nodes[slot]
    for at in range(node.first, node.first + node.tried):
        nodes[at].prior /= total
        tree.reach[at] = 0.0 if nodes[at].low == nodes[at].high else puct_reach(nodes[at])


@kernel
def settle(tree, slot):
    """Update a node's bounds after its children were looked at; returns whether they changed."""
    nodes = tree.nodes
    node = nodes[slot]
    best = np.int64(-1)
    for at in range(node.first, node.first + node.tried):
        if nodes[at].low == nodes[at].high and (
            best < 0 or (1 - 2 * node.mover) * (nodes[at].low - nodes[best].low) > 0
        ):
            best = np.int64(at)
    return best >= 0 and tighten(tree, slot, best)
