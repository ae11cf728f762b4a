"""Tests of the agents, the arena, training and the command line."""
