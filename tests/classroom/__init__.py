"""Submissions: honest ones, hostile ones, and their marks."""
