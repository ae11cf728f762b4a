"""Makers of exams, books and galleries, and studies of training: programs, a module each."""
