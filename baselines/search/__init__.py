"""Search and exact values: UCT, alpha-beta and a solver, compiled from each game's kernels."""
