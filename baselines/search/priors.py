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


# ---- noise at the root ----


@kernel
def root_priors(rows, trees, places, slots, priors, counts):
    """Write the slots and priors of some roots' children to rows `i`, in the order of actions.

    `places` is scratch space with an entry for each action. The numbers of children go to `counts`.
    """
    for i in range(rows.shape[0]):
        nodes, hidden, seen = trees.nodes[rows[i]], trees.stats[rows[i]].hidden, 0
        at = np.int64(nodes[0].first)
        places[:] = 0
        while at > 0 if hidden else seen < nodes[0].tried:
            places[nodes[at].action] = at
            seen += 1
            at = np.int64(nodes[at].next) if hidden else at + 1
        counts[i] = 0
        for action in range(places.shape[0]):
            if places[action] > 0:
                slots[i, counts[i]] = places[action]
                priors[i, counts[i]] = nodes[places[action]].prior
                counts[i] += 1


@kernel
def mix_noise(rows, slots, counts, drawn, noise, trees):
    """Mix `drawn` into the priors of some roots' children, of which `root_priors` tells."""
    for i in range(rows.shape[0]):
        g = rows[i]
        for k in range(counts[i]):
            child = trees.nodes[g, slots[i, k]]
            child.prior += noise * (drawn[i, k] - child.prior)
            open_ = child.low != child.high
            trees.reach[g, slots[i, k]] = child.prior / (1.0 + child.visits) if open_ else 0.0
