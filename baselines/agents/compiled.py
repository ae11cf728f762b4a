"""Agents that need no learning: uniformly random, and greedy with one step of lookahead."""

from __future__ import annotations

from azumaya.baselines.agents.base import Agent
from azumaya.envs.adapters.duel.opponents import GreedyOpponent, UniformOpponent


class RandomAgent(UniformOpponent, Agent):
    """Plays a uniformly random legal action."""

    name = "random"


class GreedyAgent(GreedyOpponent, Agent):
    """Plays the move after which the game's evaluation is best for the player who moved.

    A move that ends the game is evaluated by the result. Ties are broken at random.
    """

    name = "greedy"
