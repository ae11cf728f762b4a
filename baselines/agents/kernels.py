"""Kernels of the compiled agents: a move for each of many states."""

from __future__ import annotations

import functools
from typing import Any

from azumaya.envs.adapters.lookahead import choose_random, greedy_kernel
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import clear
from azumaya.envs.kernels.compile import kernel


@functools.cache
def random_moves_kernel(game: Game) -> Any:
    """The kernel `choose(states, keys, words, actions)`: a uniformly random move in each state."""
    write_legal = game.rules.write_legal

    @kernel
    def choose(states, keys, words, actions):
        for i in range(states.shape[0]):
            clear(words)
            write_legal(states[i], words)
            actions[i] = choose_random(words, words.shape[0], keys[i], 0)

    return choose


@functools.cache
def greedy_moves_kernel(game: Game) -> Any:
    """The kernel `choose(states, keys, words, actions, trial, ties)`: greedy's move in each state.

    `trial` and `ties` are as for `greedy_kernel`.
    """
    write_legal, choose_greedy = game.rules.write_legal, greedy_kernel(game)

    @kernel
    def choose(states, keys, words, actions, trial, ties):
        for i in range(states.shape[0]):
            clear(words)
            write_legal(states[i], words)
            actions[i] = choose_greedy(states[i], words, keys[i], 0, trial, ties)

    return choose
