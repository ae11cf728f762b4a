"""Abalone as a PettingZoo environment: `abalone_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.abalone.game import ABALONE

env, raw_env = environment_module(ABALONE)
