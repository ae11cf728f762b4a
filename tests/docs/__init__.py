"""Tests of the documentation: its code runs, its commands exist, its pages are complete."""
