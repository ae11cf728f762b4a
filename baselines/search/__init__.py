"""Search and exact values, compiled from each game's kernels: UCT, PUCT, alpha-beta, a solver.

The agents that search are those of `azumaya.baselines.agents`, which builds on this package: they
are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from azumaya.baselines.search.alphabeta import AlphaBeta
from azumaya.baselines.search.analysis import Analysis, MoveValue, analyse
from azumaya.baselines.search.batch_puct import BatchPUCT
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation
from azumaya.baselines.search.evaluator import Evaluator
from azumaya.baselines.search.game_kernels import HiddenDrawsError
from azumaya.baselines.search.outcome import Candidate, Outcome
from azumaya.baselines.search.puct import PUCT
from azumaya.baselines.search.solver import Solution, solve
from azumaya.baselines.search.uct import UCT, KeptUCT
from azumaya.baselines.system.imports import lazily

if TYPE_CHECKING:
    from azumaya.baselines.agents.names import search_agent
    from azumaya.baselines.agents.search import (
        AlphaBetaAgent,
        BatchPUCTAgent,
        PUCTAgent,
        SolverFirstAgent,
        UCTAgent,
    )

__all__ = [
    "PUCT",
    "UCT",
    "AlphaBeta",
    "AlphaBetaAgent",
    "Analysis",
    "BatchPUCT",
    "BatchPUCTAgent",
    "Budget",
    "Candidate",
    "Evaluation",
    "Evaluator",
    "HiddenDrawsError",
    "KeptUCT",
    "MoveValue",
    "Outcome",
    "PUCTAgent",
    "Solution",
    "SolverFirstAgent",
    "UCTAgent",
    "analyse",
    "own_evaluation",
    "search_agent",
    "solve",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        ".agents.search": "AlphaBetaAgent BatchPUCTAgent PUCTAgent SolverFirstAgent UCTAgent",
        ".agents.names": "search_agent",
    },
)
