"""The engine: many games in a few arrays, under every environment."""
