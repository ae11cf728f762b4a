"""One game as a PettingZoo AEC environment."""
