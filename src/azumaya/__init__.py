"""Azumaya: two-player board games built on the Sudoku rule, for reinforcement learning."""

__version__ = "0.1.0"
