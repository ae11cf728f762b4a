"""Vierer-Dominari."""
