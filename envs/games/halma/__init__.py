"""Halma-Dominari."""
