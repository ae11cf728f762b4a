"""Search and exact values, compiled from each game's kernels: UCT, PUCT, alpha-beta, a solver."""

from azumaya.baselines.search.agents import (
    AlphaBetaAgent,
    BatchPUCTAgent,
    PUCTAgent,
    UCTAgent,
)
from azumaya.baselines.search.alphabeta import HiddenDrawsError
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation
from azumaya.baselines.search.evaluator import Evaluator
from azumaya.baselines.search.kept import KeptUCT
from azumaya.baselines.search.naming import search_agent
from azumaya.baselines.search.solver import Solution, solve

__all__ = [
    "AlphaBetaAgent",
    "Analysis",
    "BatchPUCTAgent",
    "Evaluation",
    "Evaluator",
    "HiddenDrawsError",
    "KeptUCT",
    "MoveValue",
    "PUCTAgent",
    "Solution",
    "UCTAgent",
    "analyse",
    "own_evaluation",
    "search_agent",
    "solve",
]
