"""The children of a node in games with hidden draws.

Each simulation redraws hidden information. A node represents the sequence of moves that leads to
it, whatever was drawn, so the legal moves of a node differ between simulations: its children form a
linked list, and nothing is ever proven.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.priors import exp_of
from azumaya.baselines.search.tree import clear_slot, log_of
from azumaya.envs.kernels.bits import ONE, U64, ZERO, count, get, lowest, select_in
from azumaya.envs.kernels.compile import kernel


@kernel
def new_slot(tree, action):
    """A slot for another move; -1 if the slots are used up."""
    stats = tree.stats
    at = stats[0].used
    if at == tree.nodes.shape[0]:
        stats[0].full = 1
        return np.int64(-1)
    stats[0].used += 1
    clear_slot(tree, at, action)
    return np.int64(at)


@kernel
def offered_child(tree, slot, words, key, n, weight):
    """The slot of the child that UCT selects, among the actions set in `words`.

    A child's bound counts the simulations in which its move was legal. Untried moves come first.
    Returns -1 if a slot is needed but none is left. Clears `words`.
    """
    nodes = tree.nodes
    node = nodes[slot]
    sign, highest = 1 - 2 * node.mover, -1e30
    best, last = np.int64(-1), np.int64(0)
    at = np.int64(node.first)
    while at:
        action = nodes[at].action
        here = ONE << np.uint64(action & 63)
        if words[action >> 6] & here != ZERO:
            words[action >> 6] &= ~here
            nodes[at].offered += 1
            factor = weight * np.sqrt(log_of(nodes[at].offered))
            value = sign * tree.mean[at] + factor * tree.reach[at]
            if value > highest:
                best, highest = at, value
        last, at = at, np.int64(nodes[at].next)
    untried = take_one(words, key, n)
    if untried < 0:
        return best
    at = new_slot(tree, untried)
    if at < 0:
        return best
    nodes[at].offered = 1
    if last:
        nodes[last].next = at
    else:
        node.first = at
    node.count += 1
    return at


@kernel
def take_one(words, key, n):
    """A random one of the actions set in `words`; -1 if there is none."""
    total = count(words, words.shape[0])
    if total == 0:
        return -1
    return select_in(words, words.shape[0], draw_below(key, n, total))


@kernel
def count_listed(tree, slot, fresh):
    """Clear the actions that have a child from `fresh`; returns what is left."""
    at = np.int64(tree.nodes[slot].first)
    while at:
        action = tree.nodes[at].action
        fresh[action >> 6] &= ~(ONE << U64(action & 63))
        at = np.int64(tree.nodes[at].next)
    return count(fresh, fresh.shape[0])


@kernel
def child_by_prior(tree, slot, words, weight):
    """The slot of the child that PUCT selects, among the actions set in `words`.

    A prior is divided by the sum of those of the moves that are legal in this draw, and a move's
    bonus grows with the simulations in which it was legal. Returns -1 if no move has a child.
    """
    nodes = tree.nodes
    node, total = nodes[slot], 0.0
    at = np.int64(node.first)
    while at:
        if get(words, nodes[at].action):
            nodes[at].offered += 1
            total += nodes[at].prior
        at = np.int64(nodes[at].next)
    best, highest, sign = np.int64(-1), -1e30, 1 - 2 * node.mover
    at = np.int64(node.first)
    while at:
        if get(words, nodes[at].action):
            factor = weight * np.sqrt(np.float64(nodes[at].offered)) / total
            value = sign * tree.mean[at] + factor * tree.reach[at]
            if value > highest:
                best, highest = at, value
        at = np.int64(nodes[at].next)
    return best


@kernel
def list_shuffled(words, moves, key):
    """Write the actions set in `words` to `moves`, in random order; returns their number."""
    count = 0
    for w in range(words.shape[0]):
        left = words[w]
        while left != ZERO:
            moves[count] = 64 * w + lowest(left)
            left &= left - ONE
            count += 1
    for i in range(count - 1, 0, -1):
        other = draw_below(key, i, i + 1)
        moves[i], moves[other] = moves[other], moves[i]
    return count


@kernel
def add_moves(tree, slot, desk, count):
    """Make children of those of the `count` legal moves of the desk that are set in its `fresh`.

    The priors are the softmax of the scores, relative to the average of the moves that are legal in
    this draw. New children come first in the list. Returns the expected value.
    """
    moves, values, scores = desk.moves, desk.values, desk.scores
    best, total, result = scores[0], 0.0, 0.0
    for i in range(1, count):
        best = max(best, scores[i])
    for i in range(count):
        scores[i] = exp_of(scores[i] - best)
        total += scores[i]
        result += scores[i] * values[i]
    node = tree.nodes[slot]
    for i in range(count):
        if get(desk.fresh, moves[i]):
            at = new_slot(tree, moves[i])
            if at < 0:
                break
            child = tree.nodes[at]
            child.pending = 0
            child.next = node.first
            node.first = at
            node.count += 1
            tree.mean[at] = values[i]
            child.prior = count * scores[i] / total
            tree.reach[at] = child.prior
    return result / total
