"""Sudoku Moyo, Sudoku Horikomi and the match: games of territory on a Sudoku board."""
