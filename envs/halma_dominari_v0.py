"""Halma-Dominari as a PettingZoo environment: `halma_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.halma.rules import GAME

env, raw_env = environment_module(GAME)
