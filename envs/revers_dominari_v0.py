"""Revers-Dominari as a PettingZoo environment: `revers_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.revers_dominari.game import REVERS

env, raw_env = environment_module(REVERS)
