"""Score-Dominari as a PettingZoo environment: `score_dominari_v0.env()`."""

from azumaya.envs.adapters.wrapped import environment_module
from azumaya.envs.rules.score_dominari import GAME

env, raw_env = environment_module(GAME)
