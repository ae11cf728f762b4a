"""The kernels of UCT, built for each game from the kernels of its record."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import choose_kernel
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.tree import (
    back_up_kernel,
    best_child,
    expand,
    log_of,
    offered_child,
    try_child,
    uct_reach,
)
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ZERO
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

DEEPEST = 512
"""The largest depth of the tree in moves; a path can hold this many."""
REDRAWN = 1 << 40
"""The index of the draw that redraws hidden information in each simulation."""
LONGEST = 1 << 16
"""The most moves of a rollout. Without a limit of plies some positions have no end, such as one
marble against one in Abalone, and nothing could stop a search inside a kernel."""


@functools.cache
def legal_kernel(kernels: GameKernels) -> Any:
    """The kernel `legal(state, words)`, which clears `words` before it sets the legal actions."""
    write_legal, size = kernels.rules.write_legal, kernels.words

    @kernel
    def legal(state, words):
        for w in range(size):
            words[w] = ZERO
        write_legal(state, words)

    return legal


@functools.cache
def rollout_kernel(kernels: GameKernels) -> Any:
    """The kernel `rollout(trial, words, key, n, cut, stats)`: play randomly to the end.

    Draws from `n` on choose the moves of `trial[0]`. The rollout is cut off after `cut` moves (0
    means `LONGEST`), and then judged by the game's `evaluate`; in games with payoffs above 1 it is
    what `own_evaluation` says, whose stake and scale are in `stats`. Returns the result for
    player_0.
    """
    play, legal, choose = kernels.rules.play, legal_kernel(kernels), choose_kernel(kernels.words)
    evaluate = kernels.rules.evaluate

    @kernel
    def rollout(trial, words, key, n, cut, stats):
        end = n + (min(cut, LONGEST) if cut > 0 else LONGEST)
        while trial[0].over == RUNNING and n < end:
            legal(trial[0], words)
            play(trial[0], choose(words, key, n))
            n += 1
        result = np.float64(trial[0].payoff)
        if trial[0].over == RUNNING:
            score = np.float64(evaluate(trial[0], 0))
            stats[0].cuts += 1
            stats[0].cut_evaluations += abs(score)
            if stats[0].bound > 1:
                # Not with the stake of this search: it grows with the results, and these with it.
                bound = np.float64(stats[0].bound)
                result += stats[0].cut_stake * score / (abs(score) + stats[0].cut_scale)
                result = min(max(result, -bound), bound)
            elif score != 0.0:
                # The scale of `evaluate` depends on the game, so it is measured by the average so
                # far: an evaluation of that size counts as half a win.
                usual = stats[0].cut_evaluations / stats[0].cuts
                result += score / (abs(score) + usual)
        return result

    return rollout


@kernel
def stake(stats):
    """Half of the range of the results so far and 0; the game's payoff bound if that is 1."""
    if stats[0].bound == 1:
        return 1.0
    return max(0.5 * (stats[0].best - stats[0].worst), 0.5)


@functools.cache
def descend_kernel(kernels: GameKernels) -> Any:
    """The kernel that descends to a node that is unexpanded, proven or the end of the game.

    `descend(key, weight, trial, words, nodes, mean, reach, stats, path)` plays the moves in
    `trial[0]` and writes the slots to `path`. It returns the depth reached and whether the node
    there has just been found to end the game. A node is expanded on its second visit, the root on
    its first.
    """
    play, legal = kernels.rules.play, legal_kernel(kernels)

    @kernel
    def descend(key, weight, trial, words, nodes, mean, reach, stats, path):
        slot, depth = 0, 0
        path[0] = 0
        while nodes[slot].low != nodes[slot].high:
            node = nodes[slot]
            if node.count == 0:
                if trial[0].over != RUNNING:
                    node.low = node.high = trial[0].payoff
                    return depth, True
                if (node.visits == 0 and depth > 0) or stats[0].full or depth == DEEPEST:
                    break
                legal(trial[0], words)
                if not expand(nodes, stats, slot, words, trial[0].to_move):
                    break
            if node.tried < node.count:
                slot = try_child(nodes, stats, slot, key, depth)
            else:
                factor = weight * stake(stats) * np.sqrt(log_of(node.visits))
                slot = best_child(nodes, mean, reach, slot, factor)
            depth += 1
            path[depth] = slot
            if nodes[slot].low != nodes[slot].high:
                play(trial[0], np.int64(nodes[slot].action))
        return depth, False

    return descend


@functools.cache
def simulate_kernel(kernels: GameKernels) -> Any:
    """The kernel that makes simulations `first` to `last - 1` of a search.

    `simulate(first, last, key, weight, cut, root, trial, words, nodes, mean, reach, stats, path)`
    returns the number made, which is smaller if the root is proven. `root` and `trial` are `(1,)`
    states; `path` has room for `DEEPEST + 1` slots. Simulation `s` draws from
    `random_word(key, s)`: the choice at depth `d` is draw `d`, in the tree and in the rollout.
    """
    descend, rollout = descend_kernel(kernels), rollout_kernel(kernels)
    back_up = back_up_kernel(uct_reach)

    @kernel
    def simulate(
        first, last, key, weight, cut, root, trial, words, nodes, mean, reach, stats, path
    ):
        root, trial, words, path = borrow(root), borrow(trial), borrow(words), borrow(path)
        nodes, mean, reach, stats = borrow(nodes), borrow(mean), borrow(reach), borrow(stats)
        for s in range(first, last):
            if nodes[0].low == nodes[0].high:
                return s - first
            own = random_word(key, s)
            trial[0] = root[0]
            depth, ended = descend(own, weight, trial, words, nodes, mean, reach, stats, path)
            node = nodes[path[depth]]
            if node.low == node.high:
                result = np.float64(node.low)
            else:
                result = rollout(trial, words, own, depth, cut, stats)
            back_up(nodes, mean, reach, stats, path, depth, result, ended, True)
            stats[0].simulations += 1
        return last - first

    return simulate


@functools.cache
def simulate_hidden_kernel(kernels: GameKernels) -> Any:
    """The kernel of `simulate_kernel` for games with hidden draws.

    Each simulation redraws hidden information, so the search cannot see it. A node represents the
    sequence of moves that leads to it, whatever was drawn, and nothing is ever proven.
    """
    play, legal, rollout = kernels.rules.play, legal_kernel(kernels), rollout_kernel(kernels)
    resample, back_up = kernels.rules.resample, back_up_kernel(uct_reach)
    assert resample is not None

    @kernel
    def simulate(
        first, last, key, weight, cut, root, trial, words, nodes, mean, reach, stats, path
    ):
        root, trial, words, path = borrow(root), borrow(trial), borrow(words), borrow(path)
        nodes, mean, reach, stats = borrow(nodes), borrow(mean), borrow(reach), borrow(stats)
        for s in range(first, last):
            own = random_word(key, s)
            trial[0] = root[0]
            resample(trial[0], random_word(own, REDRAWN))
            slot, depth = 0, 0
            path[0] = 0
            while trial[0].over == RUNNING and depth < DEEPEST:
                if nodes[slot].visits == 0 and depth > 0:
                    break
                legal(trial[0], words)
                nodes[slot].mover = trial[0].to_move
                child = offered_child(
                    nodes, mean, reach, stats, slot, words, own, depth, weight * stake(stats)
                )
                if child < 0:
                    break
                depth, slot = depth + 1, child
                path[depth] = slot
                play(trial[0], np.int64(nodes[slot].action))
            result = rollout(trial, words, own, depth, cut, stats)
            back_up(nodes, mean, reach, stats, path, depth, result, False, False)
            stats[0].simulations += 1
        return last - first

    return simulate
