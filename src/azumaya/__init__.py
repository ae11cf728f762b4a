"""Azumaya: two-player board games for reinforcement learning, most built on the Sudoku rule."""

__version__ = "0.1.0"
