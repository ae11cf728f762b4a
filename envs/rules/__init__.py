"""The rules, one file per game: numbers in, records out."""
