"""Agents, search, training scripts, the arena and the command line.

`find_agent(name)` makes an agent from its name; `analyse(position, ...)` says what a position and
its moves are worth; `take_exam(agent, game)` measures how well an agent plays where the best moves
are known, and `load_exam(game)` returns these positions. All are imported when they are first
used, so that `azumaya.baselines` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from azumaya.baselines.agent_names import find_agent
    from azumaya.baselines.arena.exam_results import take_exam
    from azumaya.baselines.arena.exams import load_exam
    from azumaya.baselines.search.analysis import analyse

__all__ = ["analyse", "find_agent", "load_exam", "take_exam"]

_HOMES = {
    "analyse": "azumaya.baselines.search.analysis",
    "find_agent": "azumaya.baselines.agent_names",
    "load_exam": "azumaya.baselines.arena.exams",
    "take_exam": "azumaya.baselines.arena.exam_results",
}
"""By exported name, the module that defines it."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
