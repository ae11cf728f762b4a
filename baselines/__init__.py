"""Agents, search, training scripts, the arena and the command line.

`find_agent(name)` makes an agent from its name; `analyse(position, ...)` evaluates a position and
its moves; `take_exam(agent, game)` measures how well an agent plays where the best moves are known,
and `load_exam(game)` returns these positions. All are imported on first use, so importing
`azumaya.baselines` itself is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from azumaya.baselines.system.imports import find_earlier_names, lazily

if TYPE_CHECKING:
    from azumaya.baselines.agents.names import find_agent
    from azumaya.baselines.arena.exams import load_exam
    from azumaya.baselines.arena.matches import take_exam
    from azumaya.baselines.search.analysis import analyse

__all__ = ["analyse", "find_agent", "load_exam", "take_exam"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "agents.names": "find_agent",
        "arena.matches": "take_exam",
        "arena.exams": "load_exam",
        "search.analysis": "analyse",
    },
)
find_earlier_names()
