"""The match of two games of Sudoku Moyo."""
