"""Sudoku Horikomi as a PettingZoo environment: `sudoku_horikomi_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.sudoku_horikomi.game import HORIKOMI

env, raw_env = environment_module(HORIKOMI)
