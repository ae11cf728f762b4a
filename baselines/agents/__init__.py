"""Agents: the interface `Agent`, and agents that play at random, greedily or by a network.

`PolicyAgent` needs the extra `train` and is imported from `azumaya.baselines.agents.policy`.
"""

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.compiled import GreedyAgent, RandomAgent

__all__ = ["Agent", "GreedyAgent", "RandomAgent"]
