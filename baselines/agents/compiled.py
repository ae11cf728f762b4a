"""Agents that need no learning: uniformly random, and greedy with one step of lookahead."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.kernels import greedy_moves_kernel, random_moves_kernel
from azumaya.baselines.agents.states import GameStates
from azumaya.envs.adapters.duel.opponents import GreedyOpponent, UniformOpponent
from azumaya.envs.kernels.bits import word_count


class RandomAgent(UniformOpponent, Agent):
    """Plays a uniformly random legal action."""

    name = "random"

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """A random legal action in each position."""
        words, actions = _room(positions)
        random_moves_kernel(positions.game)(positions.states, keys, words, actions)
        return actions


class GreedyAgent(GreedyOpponent, Agent):
    """Plays the move after which the game's evaluation is best for the player who moved.

    A move that ends the game is evaluated by the result. Ties are broken at random.
    """

    name = "greedy"

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """The best action in each position by one step of lookahead."""
        words, actions = _room(positions)
        trial = positions.game.new_states(1)
        choose = greedy_moves_kernel(positions.game)
        choose(positions.states, keys, words, actions, trial, np.zeros_like(words))
        return actions


def _room(positions: GameStates) -> tuple[np.ndarray, np.ndarray]:
    """Room for the legal actions of one position, and for an action in each."""
    words = np.zeros(word_count(positions.num_actions), np.uint64)
    return words, np.empty(len(positions.states), np.int64)
