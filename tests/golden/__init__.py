"""Recorded perft counts and playthroughs, and the commands that record and replay them."""
