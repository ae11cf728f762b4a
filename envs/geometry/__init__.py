"""Boards as data: cells, names, houses, peers, neighbours and symmetries, made from coordinates."""
