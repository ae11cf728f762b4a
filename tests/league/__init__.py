"""Tests of the league: results, ratings, processes, the command."""
