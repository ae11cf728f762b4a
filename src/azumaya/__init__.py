"""Azumaya: two-player board games built on Sudoku's rule, for reinforcement learning."""

__version__ = "0.1.0"
