"""Search and exact values: UCT, alpha-beta and a solver, compiled from each game's kernels."""

from azumaya.baselines.search.agents import AlphaBetaAgent, UCTAgent
from azumaya.baselines.search.alphabeta import HiddenDrawsError
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse
from azumaya.baselines.search.kept import KeptUCT
from azumaya.baselines.search.naming import search_agent
from azumaya.baselines.search.solver import Solution, solve

__all__ = [
    "AlphaBetaAgent",
    "Analysis",
    "HiddenDrawsError",
    "KeptUCT",
    "MoveValue",
    "Solution",
    "UCTAgent",
    "analyse",
    "search_agent",
    "solve",
]
