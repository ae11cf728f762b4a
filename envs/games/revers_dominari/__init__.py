"""Revers-Dominari."""
