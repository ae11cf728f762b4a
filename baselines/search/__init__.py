"""Search and exact values, compiled from each game's kernels: UCT, PUCT, alpha-beta, a solver.

`search_agent` is imported on first use: it loads values, whose modules need those imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from azumaya.baselines.search.agents import (
    AlphaBetaAgent,
    BatchPUCTAgent,
    PUCTAgent,
    SolverFirstAgent,
    UCTAgent,
)
from azumaya.baselines.search.alphabeta import HiddenDrawsError
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation
from azumaya.baselines.search.evaluator import Evaluator
from azumaya.baselines.search.kept import KeptUCT
from azumaya.baselines.search.solver import Solution, solve

if TYPE_CHECKING:
    from azumaya.baselines.search.naming import search_agent

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
    "SolverFirstAgent",
    "UCTAgent",
    "analyse",
    "own_evaluation",
    "search_agent",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name != "search_agent":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from azumaya.baselines.search import naming  # noqa: PLC0415 - naming imports this package

    return naming.search_agent
