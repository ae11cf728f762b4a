"""The simulations of UCT and PUCT: walk down the tree, find what the leaf is worth, pass it up.

Where a rollout or a compiled evaluation judges the leaves, `simulate` makes one simulation after
another. A network judges many leaves at once, so the kernel is left in between: `select` walks down
to the leaves that need an evaluation, the network evaluates them, and `finish` expands them and
passes the values up. One kernel finishes what is waiting in a tree and selects its next leaves. If
a tree has several leaves in one batch, those that wait count as lost for the player who chose them
(virtual loss), so that the next ones are looked for elsewhere.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.amaf import credit
from azumaya.baselines.search.evaluation import within
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.hidden import add_moves, count_listed, list_shuffled
from azumaya.baselines.search.leaves import (
    SHUFFLED,
    children_kernel,
    expand_shuffled,
    hidden_value_leaf_kernel,
    rollout_leaf_kernel,
    takes_moves,
    value_leaf_kernel,
)
from azumaya.baselines.search.noise import disturb
from azumaya.baselines.search.priors import rank_by_logits, settle
from azumaya.baselines.search.tree import back_up_kernel, puct_reach, tree_at, uct_reach
from azumaya.baselines.search.walks import (
    DEEPEST,
    Desk,
    hidden_walk_kernel,
    puct_hidden_step_kernel,
    puct_step,
    uct_hidden_step_kernel,
    uct_step_kernel,
    walk_kernel,
)
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.bits import ZERO, get
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

LEAF = np.dtype(
    [
        ("key", np.uint64),  # the key of the simulation
        ("depth", np.int32),  # where the leaf lies on its path
        ("waits", np.int32),  # 1: a position that needs an evaluation
    ]
)

EXPONENT = np.uint32(0x7F800000)
"""The bits of a float32 that are all set if it is not finite."""


class Leaves(NamedTuple):
    """The leaves of `n` trees that a network evaluates at once, `each` of a tree: `n * each` rows.

    Attributes:
        keys: `(n,)`, the keys of the searches.
        calm: `(n,)` bool, whether a root has no noise yet.
        roots: `(n,)`, the positions of the roots.
        trials: `(rows,)`, the positions of the leaves.
        words: `(rows, W)`, their legal actions.
        observed: `(rows, ...)`, packed observations of the players to move.
        paths: `(rows, DEEPEST + 1)`, the slots that lead to them.
        rows: `(rows,)`, see `LEAF`.
        logits: `(rows, A)` float32, the network's.
        values: `(rows,)` float64, the network's: what the player to move still gains.
    """

    keys: np.ndarray
    calm: np.ndarray
    roots: np.ndarray
    trials: np.ndarray
    words: np.ndarray
    observed: np.ndarray
    paths: np.ndarray
    rows: np.ndarray
    logits: np.ndarray
    values: np.ndarray


# ---- leaves that are judged at once ----


@functools.cache
def _simulate_kernel(walk: Any, leaf: Any, reach_of: Any, amaf: bool = False) -> Any:
    """The kernel `simulate(first, last, key, terms, trees, desk)` of a way to walk and a leaf.

    It makes simulations `first` to `last - 1` of a search in the first of the trees, and returns
    the number made, which is smaller if the root is proven. Simulation `s` draws from
    `random_word(key, s)`: the choice at depth `d` is draw `d`, in the tree and in the rollout.
    """
    back_up = back_up_kernel(reach_of)

    @kernel
    def simulate(first, last, key, terms, trees, desk):
        tree = tree_at(trees, 0)
        desk = borrow(desk)
        nodes, path = tree.nodes, desk.path
        for s in range(first, last):
            if nodes[0].low == nodes[0].high:
                return s - first
            if amaf:
                desk.played[:] = ZERO
            own = random_word(key, s)
            depth, changed = walk(own, terms, tree, desk)
            node = nodes[path[depth]]
            if node.low == node.high:
                result = np.float64(node.low)
            else:
                result, changed = leaf(own, depth, terms, tree, desk)
            back_up(tree, path, depth, result, changed)
            if amaf:
                credit(tree, path, depth, desk.played, result)
            tree.stats[0].simulations += 1
        return last - first

    return simulate


@functools.cache
def uct_kernel(kernels: GameKernels) -> Any:
    """The kernel `simulate` of UCT."""
    if kernels.hidden_draws:
        walk = hidden_walk_kernel(kernels, uct_hidden_step_kernel(kernels))
    else:
        walk = walk_kernel(kernels, uct_step_kernel(kernels))
    return _simulate_kernel(walk, rollout_leaf_kernel(kernels), uct_reach)


@functools.cache
def puct_kernel(kernels: GameKernels, value: Any, amaf: bool = False) -> Any:
    """The kernel `simulate` of PUCT with the `value` of an `Evaluation`."""
    if kernels.hidden_draws:
        leaf = hidden_value_leaf_kernel(kernels, value)
    else:
        leaf = value_leaf_kernel(kernels, value, amaf)
    return _simulate_kernel(_puct_walk(kernels), leaf, puct_reach, amaf)


def _puct_walk(kernels: GameKernels) -> Any:
    if kernels.hidden_draws:
        return hidden_walk_kernel(kernels, puct_hidden_step_kernel(kernels))
    return walk_kernel(kernels, puct_step)


# ---- leaves that a network judges ----


@kernel
def lose(tree, path, depth):
    """Count a simulation as pending, and as lost for the players who chose its moves."""
    nodes, stats = tree.nodes, tree.stats
    for d in range(depth + 1):
        node = nodes[path[d]]
        node.pending += 1
        if d > 0:
            mover = nodes[path[d - 1]].mover
            loss = 2.0 * mover - 1.0
            if stats[0].bound > 1:
                loss = stats[0].worst if mover == 0 else stats[0].best
            many = node.visits + node.pending
            tree.mean[path[d]] = (node.total + node.pending * loss) / many
            tree.reach[path[d]] = node.prior / (1.0 + many)


@kernel
def came_back(nodes, path, depth):
    """Count a simulation as no longer pending."""
    for d in range(depth + 1):
        nodes[path[d]].pending -= 1


@kernel
def desk_at(desk, leaves, g, row):
    """The desk of a thread at work on a row of tree `g`."""
    return Desk(
        leaves.roots[g : g + 1], leaves.trials[row : row + 1], desk.child, leaves.words[row],
        desk.fresh, desk.moves, desk.values, desk.scores, desk.played, leaves.paths[row],
        desk.weights, desk.memory,
    )  # fmt: skip


@kernel
def open_result(tree, desk, depth):
    """Whether the node reached needs no evaluation, and its result then."""
    slot = desk.path[depth]
    node = tree.nodes[slot]
    if node.low == node.high:
        return True, np.float64(node.low)
    stuck = (tree.stats[0].full or depth == DEEPEST) and node.visits > 0
    return stuck, np.float64(tree.mean[slot])


@kernel
def hidden_result(tree, desk, depth):
    """`open_result` for games with hidden draws."""
    return desk.trial[0].over != RUNNING, np.float64(desk.trial[0].payoff)


@functools.cache
def select_kernel(kernels: GameKernels) -> Any:
    """The kernel `select(g, limit, free, terms, tree, leaves, desk)`, which selects leaves.

    Tree `g` gets as many as there are rows for it, as long as it has fewer than `limit`
    simulations. Leaf `i` has row `g * each + i`. Simulations whose result is known are finished at
    once, up to `free` of them for each leaf. Returns the number of leaves.
    """
    walk, legal, observe = _puct_walk(kernels), legal_kernel(kernels), kernels.rules.observe
    back_up = back_up_kernel(puct_reach)
    known_result = hidden_result if kernels.hidden_draws else open_result

    @kernel
    def next_leaf(key, most, waiting, terms, tree, desk, leaf):
        nodes, stats = tree.nodes, tree.stats
        while nodes[0].low != nodes[0].high and stats[0].simulations + waiting < most:
            leaf.key = random_word(key, stats[0].simulations + waiting)
            depth, _ = walk(leaf.key, terms, tree, desk)
            if nodes[desk.path[depth]].pending > 0:
                return False
            known, result = known_result(tree, desk, depth)
            if not known:
                leaf.depth = depth
                return True
            back_up(tree, desk.path, depth, result, False)
            stats[0].simulations += 1
        return False

    @kernel
    def select(g, limit, free, terms, tree, leaves, desk):
        rows, observed, waiting = leaves.rows, leaves.observed, 0
        each = rows.shape[0] // leaves.keys.shape[0]
        for i in range(each):
            row = g * each + i
            own, leaf = desk_at(desk, leaves, g, row), rows[row]
            most = min(limit, tree.stats[0].simulations + waiting + free)
            if waiting < i or not next_leaf(leaves.keys[g], most, waiting, terms, tree, own, leaf):
                break
            leaf.waits, waiting = 1, waiting + 1
            state = own.trial[0]
            legal(state, own.words)
            observed[row] = ZERO
            observe(state, np.int64(state.to_move), observed[row])
            lose(tree, own.path, leaf.depth)
        return waiting

    return select


@kernel
def take_in(rows, logits, values, leaves):
    """Keep what a network gave for some rows; False if a logit of a legal action is not finite.

    `logits` are uint32, the bits of the numbers, as these are tested faster.
    """
    words, kept = borrow(leaves.words), borrow(leaves.logits).view(np.uint32)
    for i in range(rows.shape[0]):
        row, wrong = rows[i], 0
        leaves.values[row] = values[i]
        for a in range(logits.shape[1]):
            kept[row, a] = logits[i, a]
            wrong += logits[i, a] & EXPONENT == EXPONENT
        if wrong > 0:
            for a in range(logits.shape[1]):
                if logits[i, a] & EXPONENT == EXPONENT and get(words[row], a):
                    return False
    return True


@functools.cache
def open_moves_kernel(kernels: GameKernels) -> Any:
    """The kernel that expands a leaf: `take(key, depth, result, logits, terms, tree, desk)`.

    The priors are the softmax of the logits over the temperature; new children are worth what their
    parent is, `result`, unless the game is over there. Returns whether the leaf's bounds changed.
    """
    look = children_kernel(kernels, None)

    @kernel
    def take(key, depth, result, logits, terms, tree, desk):
        slot = desk.path[depth]
        if tree.stats[0].full or depth == DEEPEST or not expand_shuffled(key, tree, desk, slot):
            return False
        look(tree, desk, slot, np.int64(tree.nodes[slot].count), result)
        rank_by_logits(tree, slot, logits, terms.temperature)
        return settle(tree, slot)

    return take


@kernel
def take_hidden_moves(key, depth, result, logits, terms, tree, desk):
    """The kernel of `open_moves_kernel` for games with hidden draws."""
    slot, moves, fresh = desk.path[depth], desk.moves, desk.fresh
    for w in range(fresh.shape[0]):
        fresh[w] = desk.words[w]
    count_listed(tree, slot, fresh)
    if takes_moves(depth, terms, tree, desk, slot):
        count = list_shuffled(desk.words, moves, random_word(key, SHUFFLED))
        for i in range(count):
            desk.values[i], desk.scores[i] = result, logits[moves[i]] / terms.temperature
        add_moves(tree, slot, desk, count)
    return False


@functools.cache
def finish_kernel(kernels: GameKernels) -> Any:
    """The kernel `finish(g, terms, tree, leaves, desk)`, for what `select` began in tree `g`."""
    take = take_hidden_moves if kernels.hidden_draws else open_moves_kernel(kernels)
    back_up = back_up_kernel(puct_reach)

    @kernel
    def finish(g, terms, tree, leaves, desk):
        rows, logits = leaves.rows, leaves.logits
        each = rows.shape[0] // leaves.keys.shape[0]
        for row in range(g * each, (g + 1) * each):
            leaf = rows[row]
            if not leaf.waits:
                break
            own, depth = desk_at(desk, leaves, g, row), leaf.depth
            leaf.waits = 0
            came_back(tree.nodes, own.path, depth)
            state = own.trial[0]
            gain = (1 - 2 * np.float64(state.to_move)) * leaves.values[row]
            result = within(np.float64(state.payoff) + gain, tree.stats[0].bound)
            changed = take(leaf.key, depth, result, logits[row], terms, tree, own)
            back_up(tree, own.path, depth, result, changed)
            tree.stats[0].simulations += 1

    return finish


@functools.cache
def round_kernel(kernels: GameKernels) -> Any:
    """The kernel that finishes the simulations it began when last called, and begins the next.

    `play_round(start, stop, first, limit, free, terms, trees, leaves, desk)` does so in the trees
    `first + start` to `first + stop - 1`, see `finish` and `select`. In between it mixes noise into
    the priors of roots that have children, once in each search. Returns the number of trees whose
    search goes on.
    """
    finish, select = finish_kernel(kernels), select_kernel(kernels)

    @kernel
    def play_round(start, stop, first, limit, free, terms, trees, leaves, desk):
        trees, leaves, desk = borrow(trees), borrow(leaves), borrow(desk)
        calm, going_on = leaves.calm, 0
        for g in range(first + start, first + stop):
            tree = tree_at(trees, g)
            root, stats = tree.nodes[0], tree.stats[0]
            finish(g, terms, tree, leaves, desk)
            if terms.noise > 0.0 and calm[g] and root.count > 0:
                disturb(leaves.keys[g], terms.noise, terms.concentration, tree, desk)
                calm[g] = False
            waiting = select(g, limit, free, terms, tree, leaves, desk)
            open_ = root.low != root.high and stats.simulations < limit
            going_on += waiting > 0 or open_
        return going_on

    return play_round
