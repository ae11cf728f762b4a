"""Grading a class: submissions run confined, take an exam, play games, and are given marks."""
