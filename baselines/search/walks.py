"""How a simulation walks down the tree: by UCT or PUCT, with hidden draws or without."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.hidden import child_by_prior, count_listed, offered_child
from azumaya.baselines.search.tree import best_child, expand, log_of, stake, try_child
from azumaya.envs.game import RUNNING
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

DEEPEST = 512
"""The largest depth of the tree in moves; a path can hold this many."""
REDRAWN = 1 << 40
"""The index of the draw that redraws hidden information in each simulation."""
WIDENING = 8
"""A node's visits for each evaluated move after which more moves are evaluated."""


class Terms(NamedTuple):
    """The settings of a search, as its kernels take them.

    Attributes:
        exploration: as for `UCT` and `PUCT`.
        temperature: as for `PUCT`.
        rollouts: the share of a random rollout in a simulation's result.
        delay: a node below the root is expanded once it has had this many visits.
        breadth: with AMAF, the moves of a node below the root that are evaluated at first.
        cut: moves after which a rollout is cut off; 0 means `LONGEST`.
        noise: as for `BatchPUCT`, as is the next.
        concentration: the sum of the parameters of the noise.
    """

    exploration: float
    temperature: float = 1.0
    rollouts: float = 0.0
    delay: int = 0
    breadth: int = 0
    cut: int = 0
    noise: float = 0.0
    concentration: float = 1.0


class Desk(NamedTuple):
    """What a simulation works with, beside the tree; most of it is scratch space.

    Attributes:
        root: `(1,)`, the position of the tree's root.
        trial: `(1,)`, the position that the simulation has reached.
        child: `(1,)`, room for another position.
        words: a row of legal actions.
        fresh: a row of actions that have no child yet, for hidden draws.
        moves: `(64 * W,)` int64, for hidden draws, as are the next two.
        values: `(64 * W,)` float64; also for noise.
        scores: `(64 * W,)` float64.
        played: `(2, W)`, the moves that each player made, for AMAF.
        path: `(DEEPEST + 1,)`, the slots from the root on.
        weights: those of the `Evaluation`, `(n,)` float32.
        memory: what the `Evaluation` may write to.
    """

    root: np.ndarray
    trial: np.ndarray
    child: np.ndarray
    words: np.ndarray
    fresh: np.ndarray
    moves: np.ndarray
    values: np.ndarray
    scores: np.ndarray
    played: np.ndarray
    path: np.ndarray
    weights: np.ndarray
    memory: np.ndarray


def new_desk(kernels: GameKernels, memory_words: int = 0) -> Desk:
    """An empty desk, which serves one thread."""
    size, new = kernels.words, kernels.game.new_states
    return Desk(
        new(1), new(1), new(1), np.zeros(size, np.uint64), np.zeros(size, np.uint64),
        np.zeros(64 * size, np.int64), np.zeros(64 * size), np.zeros(64 * size),
        np.zeros((2, size), np.uint64), np.zeros(DEEPEST + 1, np.int64),
        np.zeros(0, np.float32), np.zeros(memory_words, np.uint64),
    )  # fmt: skip


# ---- the next child: a slot, or -1 where the walk ends ----


@functools.cache
def uct_step_kernel(kernels: GameKernels) -> Any:
    """The kernel `step(key, terms, tree, desk, slot, depth)` of UCT.

    A node is expanded on its second visit, the root on its first. Untried children come first.
    """
    legal = legal_kernel(kernels)

    @kernel
    def step(key, terms, tree, desk, slot, depth):
        node = tree.nodes[slot]
        if node.count == 0:
            if (node.visits == 0 and depth > 0) or tree.stats[0].full or depth == DEEPEST:
                return np.int64(-1)
            legal(desk.trial[0], desk.words)
            if not expand(tree, slot, desk.words, desk.trial[0].to_move):
                return np.int64(-1)
        if node.tried < node.count:
            return try_child(tree, slot, key, depth)
        factor = terms.exploration * stake(tree.stats) * np.sqrt(log_of(node.visits))
        return best_child(tree, slot, factor)

    return step


@kernel
def puct_step(key, terms, tree, desk, slot, depth):
    """The step of PUCT, which ends at a node that is unexpanded or due to be widened.

    A node some of whose moves are not evaluated is due when it was visited often enough, or when
    the best of the others is proven, so that there is nothing to learn about it.
    """
    nodes = tree.nodes
    node = nodes[slot]
    part = node.tried < node.count
    if node.count == 0 or (part and node.visits >= WIDENING * node.tried):
        return np.int64(-1)
    visits = np.float64(node.visits + node.pending)
    child = best_child(tree, slot, terms.exploration * stake(tree.stats) * np.sqrt(visits))
    if part and nodes[child].low == nodes[child].high:
        return np.int64(-1)
    return child


@functools.cache
def uct_hidden_step_kernel(kernels: GameKernels) -> Any:
    """The kernel of `uct_step_kernel` for games with hidden draws."""
    legal = legal_kernel(kernels)

    @kernel
    def step(key, terms, tree, desk, slot, depth):
        if tree.nodes[slot].visits == 0 and depth > 0:
            return np.int64(-1)
        legal(desk.trial[0], desk.words)
        tree.nodes[slot].mover = desk.trial[0].to_move
        weight = terms.exploration * stake(tree.stats)
        return offered_child(tree, slot, desk.words, key, depth, weight)

    return step


@functools.cache
def puct_hidden_step_kernel(kernels: GameKernels) -> Any:
    """The kernel `step` of PUCT for games with hidden draws.

    It ends at a node at which a legal move has no child yet, unless there is no memory for one; it
    leaves these moves in `desk.fresh`.
    """
    legal = legal_kernel(kernels)

    @kernel
    def step(key, terms, tree, desk, slot, depth):
        node, words, fresh = tree.nodes[slot], desk.words, desk.fresh
        legal(desk.trial[0], words)
        for w in range(words.shape[0]):
            fresh[w] = words[w]
        node.mover = desk.trial[0].to_move
        waits = depth > 0 and node.visits < terms.delay
        if count_listed(tree, slot, fresh) > 0 and (waits or not tree.stats[0].full):
            return np.int64(-1)
        return child_by_prior(tree, slot, words, terms.exploration * stake(tree.stats))

    return step


# ---- the whole way ----


@functools.cache
def walk_kernel(kernels: GameKernels, step: Any) -> Any:
    """The kernel `walk(key, terms, tree, desk)`, from the root to a node where a step ends.

    It plays the moves in `desk.trial` and writes the slots to `desk.path`. It returns the depth
    reached, and whether the node there has just been found to end the game.
    """
    play = kernels.rules.play

    @kernel
    def walk(key, terms, tree, desk):
        nodes, trial, path = tree.nodes, desk.trial, desk.path
        trial[0] = desk.root[0]
        slot, depth = np.int64(0), 0
        path[0] = 0
        while nodes[slot].low != nodes[slot].high:
            if nodes[slot].count == 0 and trial[0].over != RUNNING:
                nodes[slot].low = nodes[slot].high = trial[0].payoff
                return depth, True
            child = step(key, terms, tree, desk, slot, depth)
            if child < 0:
                break
            depth, slot = depth + 1, child
            path[depth] = slot
            if nodes[slot].low != nodes[slot].high:
                play(trial[0], np.int64(nodes[slot].action))
        return depth, False

    return walk


@functools.cache
def hidden_walk_kernel(kernels: GameKernels, step: Any) -> Any:
    """The kernel of `walk_kernel` for games with hidden draws.

    Each simulation redraws hidden information, so the search cannot see it.
    """
    play, resample = kernels.rules.play, kernels.rules.resample
    assert resample is not None

    @kernel
    def walk(key, terms, tree, desk):
        nodes, trial, path = tree.nodes, desk.trial, desk.path
        trial[0] = desk.root[0]
        resample(trial[0], random_word(key, REDRAWN))
        slot, depth = np.int64(0), 0
        path[0] = 0
        while trial[0].over == RUNNING and depth < DEEPEST:
            child = step(key, terms, tree, desk, slot, depth)
            if child < 0:
                break
            depth, slot = depth + 1, child
            path[depth] = slot
            play(trial[0], np.int64(nodes[slot].action))
        return depth, False

    return walk
