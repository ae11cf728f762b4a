"""Agents, search, training scripts, the arena and the command line.

`find_agent(name)` makes an agent from its name; `analyse(position, ...)` evaluates a position and
its moves; `take_exam(agent, game)` measures how well an agent plays where the best moves are known,
and `load_exam(game)` returns these positions. All are imported on first use, so importing
`azumaya.baselines` itself is cheap.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from azumaya.baselines.agent_names import find_agent
    from azumaya.baselines.arena.exam_results import take_exam
    from azumaya.baselines.arena.exams import load_exam
    from azumaya.baselines.search.analysis import analyse

__all__ = ["analyse", "find_agent", "load_exam", "take_exam"]


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package whose names are imported on first use.

    Args:
        package: its `__name__`.
        homes: the modules of the package that define them, each with its names; one more dot before
            a module is for the package above.
    """
    modules = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{modules[name]}", package), name)

    return find, lambda: sorted({*vars(sys.modules[package]), *modules})


__getattr__, __dir__ = lazily(
    __name__,
    {
        "agent_names": "find_agent",
        "arena.exam_results": "take_exam",
        "arena.exams": "load_exam",
        "search.analysis": "analyse",
    },
)
