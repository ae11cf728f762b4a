"""Tests of the course: its notebooks' structure, and its checks of answers."""
