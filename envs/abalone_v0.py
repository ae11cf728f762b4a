"""Abalone as a PettingZoo environment: `abalone_v0.env()`."""

from azumaya.envs.adapters.wrapped import environment_module
from azumaya.envs.rules.abalone import GAME

env, raw_env = environment_module(GAME)
