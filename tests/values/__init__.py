"""Tests of value networks: features, learning, files, agents."""
