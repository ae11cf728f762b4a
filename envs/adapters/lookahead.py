"""Compiled players: uniformly random, and greedy with one step of lookahead.

Both draw from the episode's key (`azumaya.envs.kernels.rng`), indexed by the number of the choice.
Their draw numbers lie beyond those of the games, so a game is the same in any batch.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ONE, ZERO, clear, count, lowest, put_bit, select_in
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below

CHOICES = 1 << 32
"""Draws from this number on choose moves; the games' own draws have smaller numbers."""
DECIDED = 1 << 40
"""The evaluation of a finished game, per point of its result: more than any other evaluation."""


@kernel
def choose_random(words, size, key, n):
    """A uniformly random one of the actions set in `words`, `(size,)`; choice `n` of a key."""
    return select_in(words, size, random_below(key, CHOICES + n, count(words, size)))


@functools.cache
def value_kernel(game: Game) -> Any:
    """The kernel `value_of(state, player)`: the result if the game is over, or its evaluation."""
    evaluate = game.rules.evaluate

    @kernel
    def value_of(state, player):
        if state.over:
            return DECIDED * np.int64(state.payoff if player == 0 else -state.payoff)
        return evaluate(state, player)

    return value_of


@functools.cache
def greedy_kernel(game: Game) -> Any:
    """The kernel `choose_greedy(state, words, key, n, trial, ties)` of a game.

    It returns the legal action, of those set in `words`, `(W,)`, with the best resulting evaluation
    for the player to move. Choice `n` of the key breaks ties. `trial`, `(1,)` states, and `ties`,
    `(W,)` words, are scratch space.
    """
    play, value_of = game.rules.play, value_kernel(game)

    @kernel
    def choose_greedy(state, words, key, n, trial, ties):
        mover, best, first = state.to_move, 0, True
        for w in range(words.shape[0]):
            left = words[w]
            while left != ZERO:
                action = 64 * w + lowest(left)
                left &= left - ONE
                trial[0] = state
                play(trial[0], action)
                value = value_of(trial[0], mover)
                if first or value > best:
                    best, first = value, False
                    clear(ties)
                if value == best:
                    put_bit(ties, action)
        return choose_random(ties, ties.shape[0], key, n)

    return choose_greedy
