"""Environments of one game that have just begun, for the tests of wrong arguments."""

from __future__ import annotations

from typing import Any

from azumaya.envs import make_vec
from azumaya.envs.registry import GAMES
from azumaya.wrappers.sb3 import AzumayaVecEnv

NAME = list(GAMES)[4]


def vector() -> Any:
    """A vector environment of two games."""
    games = make_vec(NAME, 2, threads=1)
    games.reset(seed=1)
    return games


def learner() -> AzumayaVecEnv:
    """An environment of two games for Stable-Baselines3."""
    games = AzumayaVecEnv(NAME, 2, seed=1)
    games.reset()
    return games
