"""What a simulation is worth at the leaf where its walk ends: by a rollout or by an evaluation."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.amaf import bring_forward, learn, note_value
from azumaya.baselines.search.choice import choose_kernel
from azumaya.baselines.search.evaluation import within
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.hidden import add_moves, list_shuffled
from azumaya.baselines.search.priors import rank, settle, shuffle
from azumaya.baselines.search.tree import clear_slot, expand, stake
from azumaya.baselines.search.walks import DEEPEST
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import count, put_bit
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

LONGEST = 1 << 16
"""The most moves of a rollout. Without a limit of plies some positions have no end, such as one
marble against one in Abalone, and nothing could stop a search inside a kernel."""
SHUFFLED = 1 << 41
"""The index of the draw that orders the children of a node."""


@functools.cache
def rollout_kernel(kernels: GameKernels, marks: bool = False) -> Any:
    """The kernel `rollout(desk, key, n, cut, stats)`: play randomly to the end.

    Draws from `n` on choose the moves of `desk.trial`; with `marks`, they are set in the row of
    `desk.played` of the player who makes them. The rollout is cut off after `cut` moves (0 means
    `LONGEST`), and then judged by the game's `evaluate`; in games with payoffs above 1 it is what
    `own_evaluation` says, whose stake and scale are in `stats`. Returns the result for player_0.
    """
    play, legal, choose = kernels.rules.play, legal_kernel(kernels), choose_kernel(kernels.words)
    evaluate = kernels.rules.evaluate

    @kernel
    def rollout(desk, key, n, cut, stats):
        trial, words = desk.trial, desk.words
        end = n + (min(cut, LONGEST) if cut > 0 else LONGEST)
        while trial[0].over == RUNNING and n < end:
            legal(trial[0], words)
            action = choose(words, key, n)
            if marks:
                put_bit(desk.played[trial[0].to_move], action)
            play(trial[0], action)
            n += 1
        result = np.float64(trial[0].payoff)
        if trial[0].over == RUNNING:
            score = np.float64(evaluate(trial[0], 0))
            stats[0].cuts += 1
            stats[0].cut_evaluations += abs(score)
            if score != 0.0 and stats[0].bound > 1:
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


@functools.cache
def rollout_leaf_kernel(kernels: GameKernels) -> Any:
    """The kernel `leaf(key, depth, terms, tree, desk)` of UCT.

    It returns the result for player_0, and whether the bounds of the last node of the path changed.
    """
    rollout = rollout_kernel(kernels)

    @kernel
    def leaf(key, depth, terms, tree, desk):
        return rollout(desk, key, depth, terms.cut, tree.stats), False

    return leaf


@functools.cache
def children_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel that finds the values of a node's children, `upto` of them in all.

    `look(tree, desk, slot, upto, here)` starts from the node's position in `desk.trial`,
    and from the first child that has no value yet. Without a `value` kernel, children are worth
    `here`, unless the game is over there.
    """
    play = kernels.rules.play

    @kernel
    def look(tree, desk, slot, upto, here):
        nodes, mean, stats, child = tree.nodes, tree.mean, tree.stats, desk.child
        node = nodes[slot]
        for at in range(node.first + node.tried, node.first + upto):
            action = nodes[at].action
            clear_slot(tree, at, action)
            nodes[at].pending = 0
            child[0] = desk.trial[0]
            play(child[0], np.int64(action))
            if child[0].over != RUNNING:
                nodes[at].low = nodes[at].high = child[0].payoff
                found = np.float64(child[0].payoff)
            elif value is not None:
                found = within(value(child[0], desk.weights, desk.memory), stats[0].bound)
            else:
                found = here
            mean[at] = found
            stats[0].worst = min(stats[0].worst, found)
            stats[0].best = max(stats[0].best, found)
        node.tried = upto

    return look


@kernel
def expand_shuffled(key, tree, desk, slot):
    """Give a node a child for each legal action in `desk.words`; False if there is no memory."""
    if not expand(tree, slot, desk.words, desk.trial[0].to_move):
        return False
    node = tree.nodes[slot]
    shuffle(tree.nodes, node.first, node.count, random_word(key, SHUFFLED))
    return True


@functools.cache
def widen_kernel(kernels: GameKernels, value: Any, amaf: bool) -> Any:
    """The kernel that evaluates moves of a node until `upto` are, with AMAF the best ones first.

    `widen(terms, tree, desk, slot, upto)` sets the priors of all these moves anew. It returns the
    expected value, and whether the node's bounds changed.
    """
    look = children_kernel(kernels, value)

    @kernel
    def widen(terms, tree, desk, slot, upto):
        node = tree.nodes[slot]
        first = node.first + node.tried
        if amaf and upto < node.count:
            bring_forward(tree, slot, upto)
        look(tree, desk, slot, upto, 0.0)
        if amaf:
            for at in range(first, node.first + upto):
                note_value(tree, at)
        expected = rank(tree, slot, terms.temperature * stake(tree.stats))
        return expected, settle(tree, slot)

    return widen


@functools.cache
def value_leaf_kernel(kernels: GameKernels, value: Any, amaf: bool) -> Any:
    """The kernel `leaf` of PUCT: a node is expanded, and its moves are evaluated.

    Before a node has had `delay` visits, its result so far stands for an evaluation. With AMAF only
    `breadth` moves are evaluated at first, and twice as many whenever the node is due.
    """
    legal, widen = legal_kernel(kernels), widen_kernel(kernels, value, amaf)
    rollout = rollout_kernel(kernels, amaf)

    @kernel
    def leaf(key, depth, terms, tree, desk):
        slot, changed, upto = desk.path[depth], False, np.int64(0)
        node = tree.nodes[slot]
        result = np.float64(tree.mean[slot])
        if amaf:
            upto = 2 * np.int64(node.tried)
            if node.visits > 0:  # the mean is blended with all moves
                result = node.total / node.visits
        ripe = depth < DEEPEST and (depth == 0 or node.visits >= terms.delay)
        if upto == 0 and ripe and not tree.stats[0].full:
            legal(desk.trial[0], desk.words)
            if expand_shuffled(key, tree, desk, slot):
                upto = np.int64(node.count)
                if amaf and depth > 0:
                    upto = np.int64(terms.breadth)
        if upto > 0:
            new = node.tried == 0
            expected, changed = widen(terms, tree, desk, slot, min(upto, np.int64(node.count)))
            if new:
                result = expected
        if terms.rollouts > 0.0 and node.low != node.high:
            end = rollout(desk, key, depth, 0, tree.stats)
            if amaf:
                learn(tree.history, desk.played, end)
            result += terms.rollouts * (end - result)
        return result, changed

    return leaf


@functools.cache
def hidden_value_leaf_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel of `value_leaf_kernel` for games with hidden draws.

    All legal moves are evaluated, and those in `desk.fresh` become children.
    """
    play, rollout = kernels.rules.play, rollout_kernel(kernels)

    @kernel
    def widen(key, terms, tree, desk, slot):
        trial, child, values, stats = desk.trial, desk.child, desk.values, tree.stats
        many = list_shuffled(desk.words, desk.moves, random_word(key, SHUFFLED))
        for i in range(many):
            child[0] = trial[0]
            play(child[0], np.int64(desk.moves[i]))
            if child[0].over != RUNNING:
                values[i] = child[0].payoff
            else:
                values[i] = within(value(child[0], desk.weights, desk.memory), stats[0].bound)
            stats[0].worst = min(stats[0].worst, values[i])
            stats[0].best = max(stats[0].best, values[i])
        heat = (1 - 2 * np.float64(trial[0].to_move)) * terms.temperature * stake(stats)
        for i in range(many):
            desk.scores[i] = values[i] / heat
        return add_moves(tree, slot, desk, many)

    @kernel
    def leaf(key, depth, terms, tree, desk):
        slot, trial, stats = desk.path[depth], desk.trial, tree.stats
        if trial[0].over != RUNNING:
            return np.float64(trial[0].payoff), False
        if takes_moves(depth, terms, tree, desk, slot):
            result = widen(key, terms, tree, desk, slot)
        else:
            result = within(value(trial[0], desk.weights, desk.memory), stats[0].bound)
        if terms.rollouts > 0.0:
            result += terms.rollouts * (rollout(desk, key, depth, 0, stats) - result)
        return result, False

    return leaf


@kernel
def takes_moves(depth, terms, tree, desk, slot):
    """Whether the node at which a walk with hidden draws ended gets further children."""
    ripe = depth < DEEPEST and (depth == 0 or tree.nodes[slot].visits >= terms.delay)
    return ripe and not tree.stats[0].full and count(desk.fresh, desk.fresh.shape[0]) > 0
