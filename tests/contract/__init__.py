"""What every game promises, checked over all tested games and their variants; no game is named."""
