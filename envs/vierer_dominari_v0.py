"""Vierer-Dominari as a PettingZoo environment: `vierer_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.vierer_dominari.game import VIERER

env, raw_env = environment_module(VIERER)
