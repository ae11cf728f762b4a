"""Batches of games: vector environments, and Stable-Baselines3 over them."""
