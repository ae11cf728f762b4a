"""The kernels of PUCT, built for each game and each evaluation.

A node is expanded on its first visit, with all of its children. With a compiled evaluation, each of
them is evaluated by it, or proven if the game is over there. The priors are the softmax of these
values for the player to move, over a temperature times the stake.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.evaluation import within
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.tree import (
    LN2,
    back_up_kernel,
    best_child,
    clear_slot,
    expand,
    tighten,
)
from azumaya.baselines.search.uct_kernels import (
    DEEPEST,
    legal_kernel,
    rollout_kernel,
    stake,
)
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

LOG2_E = 1.4426950408889634
SHUFFLED = 1 << 41
"""The index of the draw that orders the children of a node."""
SMALLEST = -40.0
"""Exponents are cut off here."""
WIDENING = 8
"""A node's visits for each evaluated move after which more moves are evaluated."""


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
def puct_reach(node):
    """The reach of a visited node in PUCT."""
    return node.prior / (1.0 + node.visits)


@functools.cache
def descend_kernel(kernels: GameKernels) -> Any:
    """The kernel that descends to a node that is unexpanded, proven or due to be widened.

    `descend(weight, trial, nodes, mean, reach, stats, path)` plays the moves in `trial[0]`, writes
    the slots to `path` and returns the depth reached. A node some of whose moves are not evaluated
    is due when it was visited often enough, or when the best of the others is proven, so that there
    is nothing to learn about it.
    """
    play = kernels.rules.play

    @kernel
    def descend(weight, trial, nodes, mean, reach, stats, path):
        slot, depth = 0, 0
        path[0] = 0
        while nodes[slot].low != nodes[slot].high and nodes[slot].count > 0:
            node = nodes[slot]
            part = node.tried < node.count
            if part and node.visits >= WIDENING * node.tried:
                break
            visits = np.float64(node.visits + node.pending)
            factor = weight * stake(stats) * np.sqrt(visits)
            child = best_child(nodes, mean, reach, slot, factor)
            if part and nodes[child].low == nodes[child].high:
                break
            depth, slot = depth + 1, child
            path[depth] = slot
            if nodes[slot].low != nodes[slot].high:
                play(trial[0], np.int64(nodes[slot].action))
        return depth

    return descend


@kernel
def shuffle(nodes, first, count, key):
    """Put the actions of newly made children in random order, in which ties are broken."""
    for i in range(count - 1, 0, -1):
        one, other = first + i, first + draw_below(key, i, i + 1)
        nodes[one].action, nodes[other].action = nodes[other].action, nodes[one].action


@functools.cache
def look_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel that finds the values of a node's children, `upto` of them in all.

    `look(trial, child, nodes, mean, stats, slot, upto, weights, scratch, here)` starts from the
    node's position in `trial[0]`, and from the first child that has no value yet; `child` is room
    for a position. Without a `value` kernel, children are worth `here`.
    """
    play = kernels.rules.play

    @kernel
    def look(trial, child, nodes, mean, stats, slot, upto, weights, scratch, here):
        node, bound = nodes[slot], stats[0].bound
        for at in range(node.first + node.tried, node.first + upto):
            action = nodes[at].action
            clear_slot(nodes, at, action, bound)
            nodes[at].pending = 0
            child[0] = trial[0]
            play(child[0], np.int64(action))
            if child[0].over != RUNNING:
                nodes[at].low = nodes[at].high = child[0].payoff
                found = np.float64(child[0].payoff)
            elif value is not None:
                found = within(value(child[0], weights, scratch), bound)
            else:
                found = here
            mean[at] = found
            stats[0].worst = min(stats[0].worst, found)
            stats[0].best = max(stats[0].best, found)
        node.tried = upto

    return look


@kernel
def rank(nodes, mean, reach, slot, heat):
    """Give the evaluated children of a node priors; returns the expected value."""
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
    share(nodes, reach, slot, total)
    return value / total


@kernel
def share(nodes, reach, slot, total):
    """Divide the priors of a node's evaluated children by their sum."""
    node = nodes[slot]
    for at in range(node.first, node.first + node.tried):
        nodes[at].prior /= total
        reach[at] = 0.0 if nodes[at].low == nodes[at].high else puct_reach(nodes[at])


@kernel
def settle(nodes, mean, slot):
    """Update a node's bounds after its children were looked at; returns whether they changed."""
    node = nodes[slot]
    best = np.int64(-1)
    for at in range(node.first, node.first + node.tried):
        if nodes[at].low == nodes[at].high and (
            best < 0 or (1 - 2 * node.mover) * (nodes[at].low - nodes[best].low) > 0
        ):
            best = np.int64(at)
    return best >= 0 and tighten(nodes, mean, slot, best)


@functools.cache
def simulate_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel that makes simulations `first` to `last - 1` of a search.

    `simulate(first, last, key, weight, temperature, rollouts, delay, root, trial, child, words,
    nodes, mean, reach, stats, path, weights, scratch)` returns the number made, which is smaller if
    the root is proven. `rollouts` is the share of a random rollout in a simulation's result; a node
    below the root is expanded once it has had `delay` visits. `root`, `trial` and `child` are
    `(1,)` states; `path` has room for `DEEPEST + 1` slots.
    """
    descend, look = descend_kernel(kernels), look_kernel(kernels, value)
    legal, back_up = legal_kernel(kernels), back_up_kernel(puct_reach)
    rollout = rollout_kernel(kernels)

    @kernel
    def simulate(
        first, last, key, weight, temperature, rollouts, delay, root, trial, child, words, nodes,
        mean, reach, stats, path, weights, scratch,
    ):  # fmt: skip
        root, trial, child = borrow(root), borrow(trial), borrow(child)
        words, path, nodes = borrow(words), borrow(path), borrow(nodes)
        mean, reach, stats = borrow(mean), borrow(reach), borrow(stats)
        weights, scratch = borrow(weights), borrow(scratch)
        for s in range(first, last):
            if nodes[0].low == nodes[0].high:
                return s - first
            own = random_word(key, s)
            trial[0] = root[0]
            depth = descend(weight, trial, nodes, mean, reach, stats, path)
            slot, changed = path[depth], False
            result = np.float64(mean[slot])
            if nodes[slot].low == nodes[slot].high:
                result = np.float64(nodes[slot].low)
            else:
                ripe = depth < DEEPEST and (depth == 0 or nodes[slot].visits >= delay)
                if ripe and not stats[0].full:
                    legal(trial[0], words)
                    if expand(nodes, stats, slot, words, trial[0].to_move):
                        key_of = random_word(own, SHUFFLED)
                        shuffle(nodes, nodes[slot].first, nodes[slot].count, key_of)
                        look(
                            trial, child, nodes, mean, stats, slot, nodes[slot].count, weights,
                            scratch, result,
                        )  # fmt: skip
                        result = rank(nodes, mean, reach, slot, temperature * stake(stats))
                        changed = settle(nodes, mean, slot)
                if rollouts > 0.0 and nodes[slot].low != nodes[slot].high:
                    result += rollouts * (rollout(trial, words, own, depth, 0, stats) - result)
            back_up(nodes, mean, reach, stats, path, depth, result, changed, True)
            stats[0].simulations += 1
        return last - first

    return simulate
