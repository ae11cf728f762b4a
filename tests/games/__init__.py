"""Cases worked out by hand, one file per game."""
