"""The kernels of PUCT with a network: many trees at once, whose leaves are evaluated in batches.

A round has three parts: `select` walks down every tree to the leaves that need an evaluation, the
network evaluates them, and `finish` expands the leaves and passes the values up. Each tree is a row
of the arrays. If a tree has several leaves in one batch, those that wait count as lost for the
player who chose them (virtual loss), so that the next ones are looked for elsewhere.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.evaluation import within
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.puct_hidden import (
    add_moves,
    child_by_prior,
    count_listed,
    list_shuffled,
)
from azumaya.baselines.search.puct_kernels import (
    SHUFFLED,
    descend_kernel,
    exp_of,
    look_kernel,
    puct_reach,
    settle,
    share,
    shuffle,
)
from azumaya.baselines.search.tree import back_up_kernel, expand
from azumaya.baselines.search.uct_kernels import DEEPEST, REDRAWN, legal_kernel, stake
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ZERO
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

LEAF = np.dtype(
    [
        ("key", np.uint64),  # the key of the simulation
        ("depth", np.int32),  # where the leaf lies on its path
        ("waits", np.int32),  # 1: a position that needs an evaluation
    ]
)


@kernel
def lose(nodes, mean, reach, stats, path, depth):
    """Count a simulation as pending, and as lost for the players who chose its moves."""
    for d in range(depth + 1):
        node = nodes[path[d]]
        node.pending += 1
        if d > 0:
            mover = nodes[path[d - 1]].mover
            loss = 2.0 * mover - 1.0
            if stats[0].bound > 1:
                loss = stats[0].worst if mover == 0 else stats[0].best
            many = node.visits + node.pending
            mean[path[d]] = (node.total + node.pending * loss) / many
            reach[path[d]] = node.prior / (1.0 + many)


@kernel
def came_back(nodes, path, depth):
    """Count a simulation as no longer pending."""
    for d in range(depth + 1):
        nodes[path[d]].pending -= 1


@functools.cache
def select_kernel(kernels: GameKernels) -> Any:
    """The kernel that selects the leaves of trees `start` to `stop - 1`.

    `select(start, stop, each, limit, free, keys, weight, roots, trials, words, fresh, observed,
    leaves, nodes, mean, reach, stats, paths)` gives every tree up to `each` leaves, as long as it
    has fewer than `limit` simulations. Leaf `i` of tree `g` has row `g * each + i` of `trials`
    (positions), `words` (legal actions), `observed` (packed observations of the player to move),
    `leaves` and `paths`. Simulations that end at a proven node are finished at once, up to `free`
    of them for each leaf. `fresh` is not used.
    """
    descend, legal, observe = descend_kernel(kernels), legal_kernel(kernels), kernels.rules.observe
    back_up = back_up_kernel(puct_reach)

    @kernel
    def next_leaf(
        g, row, limit, free, waiting, keys, weight, roots, trials, leaves, nodes, mean, reach,
        stats, paths,
    ):  # fmt: skip
        path, state = paths[row], trials[row : row + 1]
        own, of = nodes[g], stats[g : g + 1]
        limit = min(limit, of[0].simulations + waiting + free)
        while own[0].low != own[0].high and of[0].simulations + waiting < limit:
            leaves[row].key = random_word(keys[g], of[0].simulations + waiting)
            state[0] = roots[g]
            depth = descend(weight, state, own, mean[g], reach[g], of, path)
            node = own[path[depth]]
            if node.pending > 0:
                return False
            stuck = (of[0].full or depth == DEEPEST) and node.visits > 0
            if node.low != node.high and not stuck:
                leaves[row].depth = depth
                return True
            result = np.float64(node.low if node.low == node.high else mean[g, path[depth]])
            back_up(own, mean[g], reach[g], of, path, depth, result, False, True)
            of[0].simulations += 1
        return False

    @kernel
    def select(
        start, stop, each, limit, free, keys, weight, roots, trials, words, fresh, observed, leaves,
        nodes, mean, reach, stats, paths,
    ):  # fmt: skip
        for g in range(start, stop):
            waiting = 0
            for i in range(each):
                row = g * each + i
                leaves[row].waits = 0
                if waiting < i or not next_leaf(
                    g, row, limit, free, waiting, keys, weight, roots, trials, leaves, nodes, mean,
                    reach, stats, paths,
                ):  # fmt: skip
                    continue
                leaves[row].waits, waiting = 1, waiting + 1
                legal(trials[row], words[row])
                observed[row] = ZERO
                observe(trials[row], np.int64(trials[row].to_move), observed[row])
                lose(nodes[g], mean[g], reach[g], stats[g : g + 1], paths[row], leaves[row].depth)
        return 0

    return select


@functools.cache
def finish_kernel(kernels: GameKernels) -> Any:
    """The kernel that finishes the simulations that `select` began.

    `finish(start, stop, each, logits, values, trials, child, words, fresh, moves, found, scores,
    leaves, nodes, mean, reach, stats, paths, heat, nothing, scratch)`: `logits` `(rows, A)` and
    `values` `(rows,)` are the network's, the latter what the player to move still gains. The priors
    are the softmax of the logits over `heat`; new children are worth what their parent is, unless
    the game is over there. `fresh`, `moves`, `found` and `scores` are not used; `nothing` and
    `scratch` are empty.
    """
    look, back_up = look_kernel(kernels, None), back_up_kernel(puct_reach)

    @kernel
    def finish(
        start, stop, each, logits, values, trials, child, words, fresh, moves, found, scores,
        leaves, nodes, mean, reach, stats, paths, heat, nothing, scratch,
    ):  # fmt: skip
        for row in range(start * each, stop * each):
            if not leaves[row].waits:
                continue
            g, depth, changed = row // each, leaves[row].depth, False
            own, of, path = nodes[g], stats[g : g + 1], paths[row]
            came_back(own, path, depth)
            slot, state = path[depth], trials[row : row + 1]
            result = final_value(state, values[row], of)
            if (
                not of[0].full
                and depth < DEEPEST
                and expand(own, of, slot, words[row], state[0].to_move)
            ):
                key = random_word(leaves[row].key, SHUFFLED)
                shuffle(own, own[slot].first, own[slot].count, key)
                upto = own[slot].count
                look(state, child, own, mean[g], of, slot, upto, nothing, scratch, result)
                rank_by_logits(own, reach[g], slot, logits[row], heat)
                changed = settle(own, mean[g], slot)
            back_up(own, mean[g], reach[g], of, path, depth, result, changed, True)
            of[0].simulations += 1
        return 0

    return finish


@kernel
def final_value(state, value, stats):
    """What the player to move still gains, as the final payoff of player_0."""
    sign = 1 - 2 * np.float64(state[0].to_move)
    return within(np.float64(state[0].payoff) + sign * value, stats[0].bound)


@kernel
def rank_by_logits(nodes, reach, slot, logits, heat):
    """Give the children of a node priors by the logits of their actions."""
    node, best, total = nodes[slot], -np.inf, 0.0
    for at in range(node.first, node.first + node.count):
        best = max(best, np.float64(logits[nodes[at].action]))
    for at in range(node.first, node.first + node.count):
        weight = exp_of((np.float64(logits[nodes[at].action]) - best) / heat)
        nodes[at].prior = weight
        total += weight
    share(nodes, reach, slot, total)


@functools.cache
def select_hidden_kernel(kernels: GameKernels) -> Any:
    """The kernel of `select_kernel` for games with hidden draws, with one leaf for each tree.

    Each simulation redraws hidden information, and ends at the first node at which a legal move
    has no child yet, or at the end of the game. `fresh` is room for one row of words.
    """
    play, legal, resample = kernels.rules.play, legal_kernel(kernels), kernels.rules.resample
    assert resample is not None
    observe, back_up = kernels.rules.observe, back_up_kernel(puct_reach)

    @kernel
    def walk(state, row, words, fresh, weight, nodes, mean, reach, stats, path):
        slot, depth = np.int64(0), 0
        path[0] = 0
        while state[0].over == RUNNING:
            legal(state[0], words[row])
            for w in range(fresh.shape[0]):
                fresh[w] = words[row, w]
            nodes[slot].mover = state[0].to_move
            if depth == DEEPEST or (count_listed(nodes, slot, fresh) > 0 and not stats[0].full):
                break
            found = child_by_prior(nodes, mean, reach, slot, words[row], weight * stake(stats))
            if found < 0:
                break
            depth, slot = depth + 1, found
            path[depth] = slot
            play(state[0], np.int64(nodes[slot].action))
        return depth

    @kernel
    def select(
        start, stop, each, limit, free, keys, weight, roots, trials, words, fresh, observed, leaves,
        nodes, mean, reach, stats, paths,
    ):  # fmt: skip
        for g in range(start, stop):
            of, state = stats[g : g + 1], trials[g : g + 1]
            leaves[g].waits = 0
            most = min(limit, of[0].simulations + free)
            while of[0].simulations < most:
                own = random_word(keys[g], of[0].simulations)
                state[0] = roots[g]
                resample(state[0], random_word(own, REDRAWN))
                depth = walk(
                    state, g, words, fresh, weight, nodes[g], mean[g], reach[g], of, paths[g]
                )
                if state[0].over == RUNNING:
                    leaves[g].key, leaves[g].depth, leaves[g].waits = own, depth, 1
                    observed[g] = ZERO
                    observe(state[0], np.int64(state[0].to_move), observed[g])
                    break
                result = np.float64(state[0].payoff)
                back_up(nodes[g], mean[g], reach[g], of, paths[g], depth, result, False, False)
                of[0].simulations += 1
        return 0

    return select


@functools.cache
def finish_hidden_kernel(kernels: GameKernels) -> Any:
    """The kernel of `finish_kernel` for games with hidden draws, with one leaf for each tree.

    `fresh` is room for one row of words; `moves`, `found` and `scores` for every action.
    """
    back_up = back_up_kernel(puct_reach)

    @kernel
    def finish(
        start, stop, each, logits, values, trials, child, words, fresh, moves, found, scores,
        leaves, nodes, mean, reach, stats, paths, heat, nothing, scratch,
    ):  # fmt: skip
        for g in range(start, stop):
            if not leaves[g].waits:
                continue
            depth, of = leaves[g].depth, stats[g : g + 1]
            slot = paths[g, depth]
            result = final_value(trials[g : g + 1], values[g], of)
            for w in range(fresh.shape[0]):
                fresh[w] = words[g, w]
            new = count_listed(nodes[g], slot, fresh)
            if new > 0 and depth < DEEPEST and not of[0].full:
                key = random_word(leaves[g].key, SHUFFLED)
                count = list_shuffled(words[g], moves, key)
                for i in range(count):
                    found[i], scores[i] = result, logits[g, moves[i]] / heat
                add_moves(nodes[g], mean[g], reach[g], of, slot, fresh, moves, found, scores, count)
            back_up(nodes[g], mean[g], reach[g], of, paths[g], depth, result, False, False)
            of[0].simulations += 1
        return 0

    return finish
