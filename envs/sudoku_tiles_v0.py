"""Sudoku tiles as a PettingZoo environment: `sudoku_tiles_v0.env()`."""

from azumaya.envs.adapters.wrapped import environment_module
from azumaya.envs.rules.sudoku_tiles import GAME

env, raw_env = environment_module(GAME)
