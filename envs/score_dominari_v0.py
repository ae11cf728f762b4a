"""Score-Dominari as a PettingZoo environment: `score_dominari_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.score_dominari.game import SCORE

env, raw_env = environment_module(SCORE)
