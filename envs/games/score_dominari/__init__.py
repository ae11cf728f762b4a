"""Score-Dominari."""
