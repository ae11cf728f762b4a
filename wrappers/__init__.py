"""Wrappers: games and environments in other shapes."""

from azumaya.wrappers.match import Match
from azumaya.wrappers.record import RecordGames
from azumaya.wrappers.single_agent import SingleAgentEnv

__all__ = ["Match", "RecordGames", "SingleAgentEnv"]
