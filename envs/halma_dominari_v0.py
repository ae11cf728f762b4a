"""Halma-Dominari as a PettingZoo environment: `halma_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.halma_dominari.game import HALMA

env, raw_env = environment_module(HALMA)
