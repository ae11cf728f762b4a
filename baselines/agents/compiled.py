"""The agents that need no learning: uniformly random, and greedy by one step of lookahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from azumaya.baselines.agents.base import Agent
from azumaya.envs import Position
from azumaya.envs.adapters.lookahead import greedy_kernel
from azumaya.envs.bits import word_count
from azumaya.wrappers.single_agent import UniformOpponent


class RandomAgent(UniformOpponent, Agent):
    """Every legal action is as likely as the others."""

    name = "random"


class GreedyAgent(Agent):
    """Plays the move after which the game's `evaluate` is best for the mover.

    A move that ends the game counts as its result. Among equals chance decides.
    """

    name = "greedy"

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """Choose an action in each position."""
        if not positions:
            return []
        game = positions[0].game
        choose, trial = greedy_kernel(game), game.new_states(1)
        ties = np.zeros(word_count(positions[0].num_actions), np.uint64)
        return [
            int(choose(p.state[0], p.legal_words(), np.uint64(key), 0, trial, ties))
            for p, key in zip(positions, keys, strict=True)
        ]
