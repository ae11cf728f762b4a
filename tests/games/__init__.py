"""Hand-worked cases, one file per game."""
