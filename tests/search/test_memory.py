"""When searches take their memory: with a time limit before the clock runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from azumaya.baselines.search.agents import AlphaBetaAgent, SolverFirstAgent
from azumaya.baselines.search.budget import Budget
from azumaya.envs import Position

TABLE = 256
"""Megabytes of a table."""
START = Position("connect_four")
STATUS = Path("/proc/self/status")


def resident() -> float:
    """The memory that this process has, in MiB."""
    line = next(ln for ln in STATUS.read_text().splitlines() if ln.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def agents(**budget: float) -> list[AlphaBetaAgent | SolverFirstAgent]:
    """Both agents that have a table."""
    other = AlphaBetaAgent(**budget, megabytes=1, threads=1)
    searcher = AlphaBetaAgent(**budget, megabytes=TABLE, threads=1)
    given = Budget(*budget.values()) if "nodes" in budget else Budget(**budget)
    return [searcher, SolverFirstAgent(other, given, megabytes=TABLE, threads=1)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("which", [0, 1])
def test_a_search_with_a_time_limit_has_its_memory_before(which: int) -> None:
    """A node may otherwise wait for milliseconds until the system has found it a page."""
    for budget, least, most in (({"nodes": 1}, 0, 0.5), ({"milliseconds": 0.001}, 0.9, 2)):
        agent = agents(**budget)[which]
        agent.act([START], [1])  # loads the kernels
        agent = agents(**budget)[which]
        before = resident()
        agent.act([START], [1])
        assert least * TABLE <= resident() - before <= most * TABLE
