"""What search finds, as positions with bounds of their values, and as what a network learns from.

A lesson is a running position whose value lies between two bounds. Both are fractions of the
largest payoff, for player_0. They are equal where the value is known.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import (
    DONE,
    PLIES,
    begin,
    follow_kernel,
    key_kernel,
    search_kernel,
    waits,
)
from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.table import INFINITE, NO_MOVE, PROVEN, UNIT, find
from azumaya.baselines.search.uct_kernels import legal_kernel
from azumaya.baselines.values.lookahead import explores
from azumaya.baselines.values.network import F32, Shape, forward_kernel, value_kernel, view_kernel
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import ONE, ZERO, count, lowest, select_in
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

_HIDDEN = 1 << 40
"""The draws of a key that draw what is hidden."""


# ---- searching and playing ----


@functools.cache
def study_kernel(kernels: GameKernels, shape: Shape) -> Any:
    """The kernel that searches a position by alpha-beta with the network at the horizon.

    `study(root, solving, nodes, bound, memory)`: if `solving`, it searches for the exact value
    only; otherwise deeper and deeper, and completes at least one ply. It ends after about `nodes`
    positions. `root` is `(1,)`, and `memory` is that of a `Room`, whose table is used as it is.

    Returns the best move, its value for player_0 as a fraction of the largest payoff, whether that
    is proven, and whether a search was completed; without, the others mean nothing.
    """
    run = search_kernel(kernels, value_kernel(kernels.game, shape))

    @kernel
    def study(root, solving, nodes, bound, memory):
        states, frames, tried, moves, control = (
            memory[0], memory[4], memory[5], memory[6], memory[9],
        )  # fmt: skip
        limit = control[0].nodes + nodes
        best, score, proven, found, depth = np.int64(NO_MOVE), np.int64(0), False, False, 0
        while not proven and depth < PLIES and (depth == 0 or control[0].nodes < limit):
            depth = PROVEN if solving else depth + 1
            begin(states, frames, control, root, bound, depth)
            run(np.int64(INFINITE) if depth == 1 else limit, *memory)
            move, ended = np.int64(frames[0].move), control[0].phase == DONE
            if ended:
                found, proven = True, frames[0].proven != 0
            if ended or (move != NO_MOVE and not waits(frames, control, tried, moves, best)):
                best, score = move, np.int64(frames[0].best)
        sign = 1 - 2 * np.int64(root[0].to_move)
        return best, F32(sign * score / (UNIT * bound)), proven, found

    return study


@functools.cache
def imagine_kernel(game: Game) -> Any:
    """The kernel `imagine(now, world, key, t)`: copy the position at ply `t` to `world`, `(1,)`.

    What is hidden from the players is drawn anew.
    """
    resample = game.rules.resample

    @kernel
    def imagine(now, world, key, t):
        world[0] = now[0]
        if resample is not None:
            resample(world[0], random_word(key, _HIDDEN + t))
        return 0

    return imagine


@functools.cache
def step_kernel(kernels: GameKernels) -> Any:
    """The kernel `step(now, action, key, t, explore, words)`: make the move of ply `t`.

    With probability `explore` it makes a random move instead; it returns whether it did. `now` is
    `(1,)`, `words` scratch space for a row of legal actions.
    """
    play, legal = kernels.play, legal_kernel(kernels)

    @kernel
    def step(now, action, key, t, explore, words):
        random = explores(key, t, explore)
        if random:
            legal(now[0], words)
            left = draw_below(random_word(key, 2 * t + 1), 0, count(words, words.shape[0]))
            action = select_in(words, words.shape[0], left)
        play(now[0], action)
        return random

    return step


# ---- what was found ----


@kernel
def bounds_of(entry, bound):
    """The bounds in a table's entry that come from the deepest search of its position."""
    low, high = F32(-1), F32(1)
    if entry.low_depth >= entry.high_depth:
        low = max(low, F32(entry.low / (UNIT * bound)))
    if entry.high_depth >= entry.low_depth:
        high = min(high, F32(entry.high / (UNIT * bound)))
    return low, high


@functools.cache
def harvest_kernel(kernels: GameKernels) -> Any:
    """The kernel that lists the positions of a search tree, those nearest to the root first.

    `harvest(root, bound, memory, found, lows, highs)`: `root`, `(1,)`, was searched in a `Room`
    with this memory. The running positions below it that the table knows are written to `found`,
    `(n,)` states, and their bounds to `lows` and `highs`, `(n,)` float32. Returns how many there
    are; those beyond `n` are left out.
    """
    follow, legal, key_of = follow_kernel(kernels), legal_kernel(kernels), key_kernel(kernels)

    @kernel
    def harvest(root, bound, memory, found, lows, highs):
        states, words_of, outlooks, words = memory[0], memory[1], memory[2], memory[3]
        table, age, head, tail = memory[8], memory[9][0].age, -1, 0
        while head < tail and tail < found.shape[0]:
            states[0] = root[0] if head < 0 else found[head]
            head += 1
            legal(states[0], words)
            for w in range(words.shape[0]):
                left = words[w]
                while left != ZERO and tail < found.shape[0]:
                    action = 64 * w + lowest(left)
                    left &= left - ONE
                    follow(states, 0, action)
                    if states[1].over == RUNNING:
                        first, second = key_of(states, words_of, outlooks, 1)
                        at = find(table, first, second, age)
                        if at >= 0:
                            found[tail] = states[1]
                            lows[tail], highs[tail] = bounds_of(table[at], bound)
                            tail += 1
        return tail

    return harvest


@functools.cache
def prepare_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that turns lessons into what `learn_kernel` takes.

    `prepare(states, lows, highs, weights, scratch, found, counts, begun, targets, useful)`, for
    `(n,)` lessons: a target is the network's value, moved between the bounds, for the player to
    move. The lessons with something to learn are listed in `useful`, `(n,)` int64, and their number
    is returned. The others are those whose value already lies between bounds that differ.
    """
    view, forward, width = view_kernel(game, shape), forward_kernel(shape), shape.width

    @kernel
    def prepare(states, lows, highs, weights, scratch, found, counts, begun, targets, useful):
        hidden, kept = np.empty(width, np.float32), 0
        for i in range(states.shape[0]):
            counts[i], begun[i] = view(states[i], weights, scratch, found[i])
            sign = F32(1 - 2 * np.int64(states[i].to_move))
            value = sign * forward(found[i], counts[i], begun[i], weights, hidden)
            targets[i] = sign * min(max(value, lows[i]), highs[i])
            if lows[i] == highs[i] or value < lows[i] or value > highs[i]:
                useful[kept] = i
                kept += 1
        return kept

    return prepare
