"""What every game promises, checked over `GAMES` and their variants; no game is named."""
