"""The best move by one step of lookahead."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.search.choice import draw_below
from azumaya.baselines.search.game_kernels import payoff_range_kernel
from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.values.network import F32, Shape, value_kernel
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import ONE, ZERO, clear, lowest
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

HIDDEN_DRAWS = 4
"""The number of draws of hidden information for each move; the values are averaged."""
_FIRST_HIDDEN, _TIES = 1 << 40, 1 << 41
"""The draws of a key that draw what is hidden, and that break ties; `self_play.py` has others."""


@functools.cache
def best_move_kernel(game: Game, shape: Shape, sure: bool = False) -> Any:
    """The kernel `best_move(state, words, key, weights, scratch, trial)`.

    It returns the legal action, of those set in `words`, with the best value after it for the
    player to move, and that value. It lies from -1 to 1, unless the game's options allow a larger
    payoff than those that the network was trained with. Ties are broken by the key. What is hidden
    from the players is drawn anew, in the same way for every action.

    With `sure`, what the game's `bounds` prove counts more than what the network says. That takes
    up to twice the time, so learning goes without.
    """
    play, resample, value = game.rules.play, game.rules.resample, value_kernel(game, shape)
    draws, bound = 1 if resample is None else HIDDEN_DRAWS, shape.bound
    payoff_range = payoff_range_kernel(hints_of(game).bounds if sure else None)

    @kernel
    def judge(state, weights, scratch):
        if state.over != RUNNING:
            return F32(state.payoff)
        low, high = payoff_range(state)
        if low == high:
            return F32(low)
        return min(max(value(state, weights, scratch), F32(low)), F32(high))

    @kernel
    def value_after(state, action, key, weights, scratch, trial):
        total = F32(0)
        for d in range(draws):
            trial[0] = state
            if resample is not None:
                resample(trial[0], random_word(key, _FIRST_HIDDEN + d))
            play(trial[0], action)
            total += judge(trial[0], weights, scratch)
        return total / (F32(draws) * weights[bound])

    @kernel
    def best_move(state, words, key, weights, scratch, trial):
        sign = F32(1 - 2 * state.to_move)
        best, highest, ties = np.int64(-1), F32(-2), 0
        for w in range(words.shape[0]):
            left = words[w]
            while left != ZERO:
                action = 64 * w + lowest(left)
                left &= left - ONE
                result = sign * value_after(state, action, key, weights, scratch, trial)
                if best < 0 or result > highest:
                    best, highest, ties = action, result, 1
                elif result == highest:
                    ties += 1
                    if draw_below(key, _TIES + ties, ties) == 0:
                        best = action
        return best, highest

    return best_move


@functools.cache
def best_moves_kernel(game: Game, shape: Shape) -> Any:
    """The kernel `best_moves(states, keys, weights, scratch, words, trial, actions)`.

    It writes the best move in each state, `(n,)`, to `actions`, `(n,)` int64; `keys` is `(n,)`
    uint64. `words`, `scratch` and `trial`, `(1,)` states, are room for one position.
    """
    write_legal = game.rules.write_legal
    best_move = best_move_kernel(game, shape, sure=True)

    @kernel
    def best_moves(states, keys, weights, scratch, words, trial, actions):
        weights, scratch, words = borrow(weights), borrow(scratch), borrow(words)
        states, trial = borrow(states), borrow(trial)
        for i in range(states.shape[0]):
            clear(words)
            write_legal(states[i], words)
            actions[i] = best_move(states[i], words, keys[i], weights, scratch, trial)[0]

    return best_moves
