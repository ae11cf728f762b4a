"""Revers-Dominari as a PettingZoo environment: `revers_dominari_v0.env()`."""

from azumaya.envs.adapters.wrapped import environment_module
from azumaya.envs.rules.revers_dominari import GAME

env, raw_env = environment_module(GAME)
