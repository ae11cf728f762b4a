"""Tests of the documentation: code runs, commands exist, pages are complete."""
