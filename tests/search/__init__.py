"""Search, solver and analysis."""
