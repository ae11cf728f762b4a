"""The kernels of PUCT for games with hidden draws.

Each simulation redraws hidden information. A node represents the sequence of moves that leads to
it, whatever was drawn, so that the legal moves of a node differ between simulations and its
children form a linked list.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.evaluation import within
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.puct_kernels import SHUFFLED, exp_of, puct_reach
from azumaya.baselines.search.tree import back_up_kernel, clear_slot
from azumaya.baselines.search.uct_kernels import (
    DEEPEST,
    REDRAWN,
    legal_kernel,
    rollout_kernel,
    stake,
)
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ONE, U64, ZERO, get, lowest, popcount
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word


@kernel
def count_listed(nodes, slot, fresh):
    """For hidden draws: clear the actions that have a child from `fresh`; returns what is left."""
    at = np.int64(nodes[slot].first)
    while at:
        action = nodes[at].action
        fresh[action >> 6] &= ~(ONE << U64(action & 63))
        at = np.int64(nodes[at].next)
    left = 0
    for w in range(fresh.shape[0]):
        left += popcount(fresh[w])
    return left


@kernel
def child_by_prior(nodes, mean, reach, slot, words, weight):
    """For hidden draws: the slot of the child to select, among the actions set in `words`.

    A prior is divided by the sum of those of the moves that are legal in this draw, and a move's
    bonus grows with the simulations in which it was legal. Returns -1 if no move has a child.
    """
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
            value = sign * mean[at] + factor * reach[at]
            if value > highest:
                best, highest = at, value
        at = np.int64(nodes[at].next)
    return best


@kernel
def append_child(nodes, stats, slot, action):
    """For hidden draws: a new child of a node, first in its list; -1 if the slots are used up."""
    at = stats[0].used
    if at == nodes.shape[0]:
        stats[0].full = 1
        return np.int64(-1)
    stats[0].used += 1
    clear_slot(nodes, at, action, stats[0].bound)
    nodes[at].pending = 0
    nodes[at].next = nodes[slot].first
    nodes[slot].first = at
    nodes[slot].count += 1
    return np.int64(at)


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
def add_moves(nodes, mean, reach, stats, slot, fresh, moves, values, scores, count):
    """For hidden draws: make children of those of the legal `moves` that are set in `fresh`.

    `moves`, `values` and `scores` have `count` entries. The priors are the softmax of the scores,
    relative to the average of the moves that are legal in this draw. Returns the expected value.
    """
    best, total, result = scores[0], 0.0, 0.0
    for i in range(1, count):
        best = max(best, scores[i])
    for i in range(count):
        scores[i] = exp_of(scores[i] - best)
        total += scores[i]
        result += scores[i] * values[i]
    for i in range(count):
        if get(fresh, moves[i]):
            at = append_child(nodes, stats, slot, moves[i])
            if at < 0:
                break
            mean[at] = values[i]
            nodes[at].prior = count * scores[i] / total
            reach[at] = nodes[at].prior
    return result / total


@functools.cache
def widen_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel that adds the moves which are new in this draw to a node, for hidden draws.

    `widen(trial, child, words, fresh, moves, values, scores, nodes, mean, reach, stats, slot, key,
    temperature, weights, scratch)` evaluates all legal moves, `words`, and makes children of those
    in `fresh`. Returns the expected value.
    """
    play = kernels.rules.play

    @kernel
    def widen(
        trial, child, words, fresh, moves, values, scores, nodes, mean, reach, stats, slot, key,
        temperature, weights, scratch,
    ):  # fmt: skip
        count, bound = list_shuffled(words, moves, key), stats[0].bound
        for i in range(count):
            child[0] = trial[0]
            play(child[0], np.int64(moves[i]))
            if child[0].over != RUNNING:
                values[i] = child[0].payoff
            else:
                values[i] = within(value(child[0], weights, scratch), bound)
            stats[0].worst = min(stats[0].worst, values[i])
            stats[0].best = max(stats[0].best, values[i])
        heat = (1 - 2 * np.float64(trial[0].to_move)) * temperature * stake(stats)
        for i in range(count):
            scores[i] = values[i] / heat
        return add_moves(nodes, mean, reach, stats, slot, fresh, moves, values, scores, count)

    return widen


@functools.cache
def simulate_hidden_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel of `simulate_kernel` for games with hidden draws.

    Each simulation redraws hidden information. A node represents the sequence of moves that leads
    to it, whatever was drawn, and nothing is ever proven. A simulation ends at the first node at
    which a legal move has no child yet. `fresh` is a second row of words; `moves` and `values` have
    room for every action.
    """
    play, legal, resample = kernels.rules.play, legal_kernel(kernels), kernels.rules.resample
    assert resample is not None
    widen, rollout = widen_kernel(kernels, value), rollout_kernel(kernels)
    back_up = back_up_kernel(puct_reach)

    @kernel
    def simulate(
        first, last, key, weight, temperature, rollouts, delay, root, trial, child, words, fresh,
        moves, values, scores, nodes, mean, reach, stats, path, weights, scratch,
    ):  # fmt: skip
        root, trial, child = borrow(root), borrow(trial), borrow(child)
        words, fresh, moves = borrow(words), borrow(fresh), borrow(moves)
        values, scores, path = borrow(values), borrow(scores), borrow(path)
        nodes, mean = borrow(nodes), borrow(mean)
        reach, stats = borrow(reach), borrow(stats)
        weights, scratch = borrow(weights), borrow(scratch)
        for s in range(first, last):
            own = random_word(key, s)
            trial[0] = root[0]
            resample(trial[0], random_word(own, REDRAWN))
            slot, depth = np.int64(0), 0
            path[0] = 0
            estimated, result = False, 0.0
            while trial[0].over == RUNNING and depth < DEEPEST:
                legal(trial[0], words)
                for w in range(words.shape[0]):
                    fresh[w] = words[w]
                nodes[slot].mover = trial[0].to_move
                new = count_listed(nodes, slot, fresh) > 0
                if new and depth > 0 and nodes[slot].visits < delay:
                    break
                if new and not stats[0].full:
                    result = widen(
                        trial, child, words, fresh, moves, values, scores, nodes, mean, reach,
                        stats, slot, random_word(own, SHUFFLED), temperature, weights, scratch,
                    )  # fmt: skip
                    estimated = True
                    break
                found = child_by_prior(nodes, mean, reach, slot, words, weight * stake(stats))
                if found < 0:
                    break
                depth, slot = depth + 1, found
                path[depth] = slot
                play(trial[0], np.int64(nodes[slot].action))
            if trial[0].over != RUNNING:
                result = np.float64(trial[0].payoff)
            else:
                if not estimated:
                    result = within(value(trial[0], weights, scratch), stats[0].bound)
                if rollouts > 0.0:
                    result += rollouts * (rollout(trial, words, own, depth, 0, stats) - result)
            back_up(nodes, mean, reach, stats, path, depth, result, False, False)
            stats[0].simulations += 1
        return last - first

    return simulate
