"""Agents that need no learning: uniformly random, and greedy with one step of lookahead."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from azumaya.baselines.agents.base import Agent, GameStates
from azumaya.envs.adapters.duel.opponents import GreedyOpponent, UniformOpponent
from azumaya.envs.adapters.lookahead import choose_random, greedy_kernel
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import clear, word_count
from azumaya.envs.kernels.compile import kernel

LEAST = 32
"""The fewest states for which greedy starts another thread, which takes about 50 µs."""


class RandomAgent(UniformOpponent, Agent):
    """Plays a uniformly random legal action."""

    name = "random"

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """A random legal action in each position."""
        actions = np.empty(len(keys), np.int64)
        choose = random_moves_kernel(positions.game)
        choose(positions.states, keys, _new_words(positions), actions)
        return actions


class GreedyAgent(GreedyOpponent, Agent):
    """Plays the move after which the game's evaluation is best for the player who moved.

    A move that ends the game is evaluated by the result. Ties are broken at random.
    """

    name = "greedy"

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """The best action in each position by one step of lookahead; uses all cores."""
        actions = np.empty(len(keys), np.int64)
        choose = greedy_moves_kernel(positions.game)

        def work(part: slice) -> None:
            words, trial = _new_words(positions), positions.game.new_states(1)
            ties = np.zeros_like(words)
            choose(positions.states[part], keys[part], words, actions[part], trial, ties)

        in_threads(work, len(keys), LEAST)
        return actions


def _new_words(positions: GameStates) -> np.ndarray:
    """Room for the legal actions of one position."""
    return np.zeros(word_count(positions.num_actions), np.uint64)


def in_threads(work: Callable[[slice], None], count: int, least: int) -> None:
    """Do work on `count` rows, in one slice per core, with at least `least` rows each."""
    size = max(least, -(-count // available_cores()))
    parts = [slice(first, first + size) for first in range(0, count, size)]
    if len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(work, parts))


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
