"""Counts and playthroughs on record, and the commands that make and replay them."""
