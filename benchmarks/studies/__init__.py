"""Makers of exams, books and galleries, and studies of games and of training: a program each."""
