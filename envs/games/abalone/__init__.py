"""Abalone."""
