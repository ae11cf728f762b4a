"""When searches take their memory: with a short time limit before the clock runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.agents import search as searching
from azumaya.baselines.agents.search import AlphaBetaAgent, SolverFirstAgent
from azumaya.baselines.search import alphabeta
from azumaya.baselines.search.budget import Budget, spend
from azumaya.envs import Position

TABLE = 256
"""Megabytes of a table."""
STATUS = Path("/proc/self/status")
SHORT, LONG, NODES = Budget(milliseconds=0.001), Budget(milliseconds=1500), Budget(1)


def resident() -> float:
    """The memory that this process has, in MiB."""
    line = next(ln for ln in STATUS.read_text().splitlines() if ln.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def searcher(budget: Budget, megabytes: float = TABLE) -> AlphaBetaAgent:
    """Alpha-beta."""
    return AlphaBetaAgent(budget.steps, budget.milliseconds, megabytes=megabytes, threads=1)


def solver(budget: Budget) -> SolverFirstAgent:
    """The solver: alpha-beta, in Sudoku Moyo proof numbers."""
    return SolverFirstAgent(searcher(NODES, 1), budget, megabytes=TABLE, threads=1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("game", ["revers_dominari", "sudoku_moyo"])
@pytest.mark.parametrize("make", [searcher, solver])
def test_a_short_search_has_its_memory_before(
    make: Callable[[Budget], Any], game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is taken before the clock runs, and only if the time limit is short."""
    start, grown = Position(game, seed=1), list[float]()

    def look(*arguments: Any) -> None:
        grown.append(resident())
        spend(arguments[0], NODES)

    for module in (alphabeta, searching):
        monkeypatch.setattr(module, "spend", look)
    make(NODES).act([start], [1])  # loads the kernels
    for budget, expected in ((NODES, False), (LONG, False), (SHORT, True)):
        agent, before = make(budget), resident()
        grown.clear()
        agent.act([start], [1])
        assert (grown[0] - before > 0.8 * TABLE) == expected, budget
