"""Vierer-Dominari as a PettingZoo environment: `vierer_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.dominari.vierer import GAME

env, raw_env = environment_module(GAME)
