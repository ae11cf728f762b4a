"""Sudoku Horikomi."""
