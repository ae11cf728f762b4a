"""Wrappers: games and environments in other shapes."""

from azumaya.wrappers.match import Match

__all__ = ["Match"]
