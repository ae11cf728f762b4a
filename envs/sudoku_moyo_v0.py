"""Sudoku Moyo as a PettingZoo environment: `sudoku_moyo_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.sudoku_moyo.game import MOYO

env, raw_env = environment_module(MOYO)
