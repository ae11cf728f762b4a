"""Agents, training scripts, the arena and the command line."""
