"""Sudoku tiles."""
