"""Halma-Dominari as a PettingZoo environment: `halma_dominari_v0.env()`."""

from azumaya.envs.adapters.wrapped import environment_module
from azumaya.envs.rules.halma_dominari import GAME

env, raw_env = environment_module(GAME)
