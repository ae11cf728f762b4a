"""The kernels of PUCT that evaluates few moves of a node at first, and learns from all moves made.

Two records of the moves in rollouts spare evaluations. The *history* says how well each player did
in rollouts in which they made a move; the moves of a node that did best are evaluated first, and
twice as many once the node was visited often. A node also knows how well its player did in the
simulations in which they made a move there or later (*all moves as first*, AMAF; in trees also
called RAVE: Gelly and Silver 2011), which counts for the value of the move.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import choose_kernel
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.puct_kernels import (
    SHUFFLED,
    descend_kernel,
    look_kernel,
    puct_reach,
    rank,
    settle,
    shuffle,
)
from azumaya.baselines.search.tree import NEVER, PRIOR_NODE, back_up_kernel, expand
from azumaya.baselines.search.uct_kernels import DEEPEST, LONGEST, legal_kernel, stake
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ONE, ZERO, get, lowest, put_bit
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

# The own fields come first, or numba would take the record for a subtype of a node of PUCT.
AMAF_NODE = np.dtype(
    [
        ("made", np.int64),  # simulations that made the move here or later
        ("amaf", np.float32),  # their mean result, for player_0
        ("value", np.float32),  # the evaluation, for player_0
        *((name, PRIOR_NODE[name]) for name in PRIOR_NODE.fields or ()),
    ]
)
"""A node of PUCT with AMAF."""
HISTORY = np.dtype([("gain", np.float64), ("rollouts", np.int64)])
"""The mean result for a player of the rollouts in which they made a move, and their number."""

EVALUATION_VISITS = 8
"""The visits that an evaluation counts as, beside a move's own results and AMAF."""


@functools.cache
def marked_rollout_kernel(kernels: GameKernels) -> Any:
    """The kernel `rollout(trial, words, key, n, played)`: play randomly to the end.

    Draws from `n` on choose the moves of `trial[0]`, which are set in the row of `played` of the
    player who makes them. Returns the result for player_0, after `LONGEST` moves the payoff so far.
    """
    play, legal, choose = kernels.rules.play, legal_kernel(kernels), choose_kernel(kernels.words)

    @kernel
    def rollout(trial, words, key, n, played):
        end = n + LONGEST
        while trial[0].over == RUNNING and n < end:
            legal(trial[0], words)
            action = choose(words, key, n)
            put_bit(played[trial[0].to_move], action)
            play(trial[0], action)
            n += 1
        return np.float64(trial[0].payoff)

    return rollout


@kernel
def bring_forward(nodes, slot, upto, history):
    """Move the moves of a node that did best so far before its other unevaluated ones."""
    node = nodes[slot]
    for at in range(node.first + node.tried, node.first + upto):
        best, highest = at, -1e30
        for other in range(at, node.first + node.count):
            gain = history[node.mover, nodes[other].action].gain
            if gain > highest:
                best, highest = other, gain
        nodes[at].action, nodes[best].action = nodes[best].action, nodes[at].action


@kernel
def blend(nodes, mean, at):
    """Set a move's value for selection: its results, its evaluation, and AMAF by their counts."""
    node = nodes[at]
    if node.low == node.high or abs(mean[at]) >= NEVER:
        return
    own = node.visits + EVALUATION_VISITS
    value = (node.total + EVALUATION_VISITS * np.float64(node.value)) / own
    mean[at] = value + node.made / (node.made + own) * (node.amaf - value)


@kernel
def credit(nodes, mean, path, depth, played, result):
    """Credit the result of a simulation to all moves made in it, at the nodes of its path.

    `played` holds the moves made below the path; those of the path are added.
    """
    for d in range(depth, -1, -1):
        node = nodes[path[d]]
        for at in range(node.first, node.first + node.tried):
            if get(played[node.mover], nodes[at].action):
                nodes[at].made += 1
                nodes[at].amaf += (result - nodes[at].amaf) / nodes[at].made
                blend(nodes, mean, at)
        if d > 0:
            put_bit(played[nodes[path[d - 1]].mover], node.action)


@kernel
def learn(history, played, result):
    """Add the result of a rollout to the history of the moves `played` in it."""
    for player in range(2):
        gain = result if player == 0 else -result
        for w in range(played.shape[1]):
            left = played[player, w]
            while left != ZERO:
                known = history[player, 64 * w + lowest(left)]
                left &= left - ONE
                known.rollouts += 1
                known.gain += (gain - known.gain) / known.rollouts


@functools.cache
def widen_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel that evaluates the next moves of a node, the most promising ones first.

    `widen(trial, child, nodes, mean, reach, stats, slot, upto, heat, history, weights, scratch)`
    evaluates moves until `upto` are, and sets the priors of all these moves anew. Returns the
    expected value, and whether the node's bounds changed.
    """
    look = look_kernel(kernels, value)

    @kernel
    def widen(
        trial, child, nodes, mean, reach, stats, slot, upto, heat, history, weights, scratch,
    ):  # fmt: skip
        first = nodes[slot].first + nodes[slot].tried
        if upto < nodes[slot].count:
            bring_forward(nodes, slot, upto, history)
        look(trial, child, nodes, mean, stats, slot, upto, weights, scratch, 0.0)
        for at in range(first, nodes[slot].first + upto):
            nodes[at].value = mean[at]
            nodes[at].amaf = 0.0
            nodes[at].made = 0
        expected = rank(nodes, mean, reach, slot, heat)
        return expected, settle(nodes, mean, slot)

    return widen


@functools.cache
def simulate_amaf_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel of `puct_kernels.simulate_kernel` with AMAF.

    At first, `breadth` moves of a node below the root are evaluated. `played` is room for a row of
    words for each player; `history` has a row of `A` moves for each.
    """
    descend, widen = descend_kernel(kernels), widen_kernel(kernels, value)
    legal, back_up = legal_kernel(kernels), back_up_kernel(puct_reach)
    rollout = marked_rollout_kernel(kernels)

    @kernel
    def simulate(
        first, last, key, weight, temperature, rollouts, delay, root, trial, child, words, breadth,
        played, history, nodes, mean, reach, stats, path, weights, scratch,
    ):  # fmt: skip
        root, trial, child = borrow(root), borrow(trial), borrow(child)
        words, played, history = borrow(words), borrow(played), borrow(history)
        nodes, mean, reach = borrow(nodes), borrow(mean), borrow(reach)
        stats, path = borrow(stats), borrow(path)
        weights, scratch = borrow(weights), borrow(scratch)
        for s in range(first, last):
            if nodes[0].low == nodes[0].high:
                return s - first
            own = random_word(key, s)
            trial[0] = root[0]
            played[:] = ZERO
            depth = descend(weight, trial, nodes, mean, reach, stats, path)
            slot, changed = path[depth], False
            node = nodes[slot]
            result = node.total / node.visits if node.visits else np.float64(mean[slot])
            if node.low == node.high:
                result = np.float64(node.low)
            else:
                upto = np.int64(2 * node.tried)
                ripe = depth < DEEPEST and (depth == 0 or node.visits >= delay)
                if upto == 0 and ripe and not stats[0].full:
                    legal(trial[0], words)
                    if expand(nodes, stats, slot, words, trial[0].to_move):
                        shuffle(nodes, node.first, node.count, random_word(own, SHUFFLED))
                        upto = np.int64(node.count if depth == 0 else breadth)
                if upto > 0:
                    new = node.tried == 0
                    expected, changed = widen(
                        trial, child, nodes, mean, reach, stats, slot, min(upto, node.count),
                        temperature * stake(stats), history, weights, scratch,
                    )  # fmt: skip
                    if new:
                        result = expected
                if node.low != node.high:
                    end = rollout(trial, words, own, depth, played)
                    learn(history, played, end)
                    result += rollouts * (end - result)
            back_up(nodes, mean, reach, stats, path, depth, result, changed, True)
            credit(nodes, mean, path, depth, played, result)
            stats[0].simulations += 1
        return last - first

    return simulate
