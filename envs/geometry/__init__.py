"""Boards as tables: cells, names, houses, peers, neighbours, built from coordinates."""
