"""Sudoku tiles as a PettingZoo environment: `sudoku_tiles_v0.env()`."""

from azumaya.envs.adapters.aec.wrapped import environment_module
from azumaya.envs.games.sudoku_tiles.game import TILES

env, raw_env = environment_module(TILES)
