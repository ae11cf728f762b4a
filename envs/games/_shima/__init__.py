"""What Sudoku Moyo, Sudoku Horikomi and the match share: games of territory on a Sudoku board."""
