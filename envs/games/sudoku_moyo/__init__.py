"""Sudoku Moyo."""
