"""The agents that need no learning: uniformly random, and greedy by one step of lookahead."""

from __future__ import annotations

from azumaya.baselines.agents.base import Agent
from azumaya.envs.adapters.duel.opponents import GreedyOpponent, UniformOpponent


class RandomAgent(UniformOpponent, Agent):
    """Every legal action is as likely as the others."""

    name = "random"


class GreedyAgent(GreedyOpponent, Agent):
    """Plays the move after which the game's `evaluate` is best for the mover.

    A move that ends the game counts as its result. Among equals chance decides.
    """

    name = "greedy"
