"""Tests of the wrappers."""
