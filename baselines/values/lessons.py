"""What the games of expert iteration are made of: searching, moving, and what is learned from."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import (
    begin,
    search_kernel,
    waits,
)
from azumaya.baselines.search.children import DONE, PLIES
from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.game_kernels import GameKernels, legal_kernel
from azumaya.baselines.search.table import INFINITE, NO_MOVE, UNIT
from azumaya.baselines.values.network import F32, Shape, value_kernel, view_kernel
from azumaya.baselines.values.self_play import move_key, moves_at_random
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import count, select_in
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

_HIDDEN = 1 << 40
"""The draws of a key that draw what is hidden."""


@functools.cache
def study_kernel(kernels: GameKernels, shape: Shape) -> Any:
    """The kernel that searches a position by alpha-beta with the network at the horizon.

    `study(root, nodes, bound, memory)`: it searches deeper and deeper, completes at least one ply,
    and ends after about `nodes` positions. `root` is `(1,)`, and `memory` is that of a `Room`,
    whose table is used as it is.

    Returns the best move, its value for player_0 as a fraction of the largest payoff, and whether
    that is proven.
    """
    run = search_kernel(kernels, value_kernel(kernels.game, shape))

    @kernel
    def study(root, nodes, bound, memory):
        frames, control = memory.frames, memory.control
        limit = control[0].nodes + nodes
        best, score, proven, depth = np.int64(NO_MOVE), np.int64(0), False, 0
        while not proven and depth < PLIES and (depth == 0 or control[0].nodes < limit):
            depth += 1
            begin(memory, root, bound, depth)
            run(np.int64(INFINITE) if depth == 1 else limit, memory)
            move, ended = np.int64(frames[0].move), control[0].phase == DONE
            if ended:
                proven = frames[0].proven != 0
            if ended or (move != NO_MOVE and not waits(memory, best)):
                best, score = move, np.int64(frames[0].best)
        sign = 1 - 2 * np.int64(root[0].to_move)
        return best, F32(sign * score / (UNIT * bound)), proven

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
def move_kernel(kernels: GameKernels) -> Any:
    """The kernel `move(now, action, key, t, explore, random_seats, words)`: make a move.

    It is that of ply `t`. With probability `explore`, and always if the seat is one of the random
    ones, it makes a random move instead; it returns whether it did. `now` is `(1,)`, `words`
    scratch space for a row of legal actions.
    """
    play, legal = kernels.rules.play, legal_kernel(kernels)

    @kernel
    def move(now, action, key, t, explore, random_seats, words):
        random = moves_at_random(key, t, now[0].to_move, explore, random_seats)
        if random:
            legal(now[0], words)
            left = draw_below(move_key(key, t), 0, count(words, words.shape[0]))
            action = select_in(words, words.shape[0], left)
        play(now[0], action)
        return random

    return move


@functools.cache
def view_all_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that turns positions into what a network sees of them.

    `view_all(states, weights, scratch, found, offsets, begun)`: `states` are `(n,)`, and `found` is
    `(n * room,)` int32; it, `offsets` and `begun` are written as `Rows` has them.
    """
    view = view_kernel(game, shape)

    @kernel
    def view_all(states, weights, scratch, found, offsets, begun):
        for i in range(states.shape[0]):
            at = offsets[i]
            size, begun[i] = view(states[i], weights, scratch, found[at:])
            offsets[i + 1] = at + size
        return 0

    return view_all
