"""Names that are imported on first use, and modules under their earlier names."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import CodeType, ModuleType
from typing import Any

MOVED = {
    "azumaya.baselines.agent_names": "azumaya.baselines.agents.names",
    "azumaya.baselines.agents.states": "azumaya.baselines.agents.base",
    "azumaya.baselines.arena.book_maker": "azumaya.benchmarks.studies.book_maker",
    "azumaya.baselines.arena.exam_maker": "azumaya.benchmarks.studies.exam_maker",
    "azumaya.baselines.arena.gallery_maker": "azumaya.benchmarks.studies.gallery_maker",
    "azumaya.baselines.arena.puzzle_winners": "azumaya.benchmarks.studies.puzzle_winners",
    "azumaya.baselines.arena.seeded_work": "azumaya.benchmarks.studies.seeded_work",
    "azumaya.baselines.training.gap": "azumaya.benchmarks.studies.gap",
    "azumaya.baselines.training.ladder": "azumaya.baselines.training.evaluation",
    "azumaya.baselines.training.study": "azumaya.benchmarks.studies.variants",
    "azumaya.baselines.work_file": "azumaya.baselines.system.work",
    "azumaya.benchmarks.reach": "azumaya.benchmarks.studies.reach",
}
"""Modules that guides and the reference once named, and where they are now."""


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


class EarlierNames(MetaPathFinder, Loader):
    """Finds modules by their earlier names, with a warning: to import one imports that of today."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module of an earlier name; None if it is not one."""
        if name not in MOVED:
            return None
        warnings.warn(f"{name} is now {MOVED[name]}", FutureWarning, stacklevel=2)
        return spec_from_loader(name, self, origin=_today(name).origin)  # `python -m` asks for it

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of one that has its earlier name."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])

    def get_code(self, name: str) -> CodeType | None:
        """What `python -m` runs."""
        loader: Any = _today(name).loader
        code: CodeType | None = loader.get_code(MOVED[name])
        return code


def _today(name: str) -> ModuleSpec:
    found = find_spec(MOVED[name])
    assert found is not None
    return found


def find_earlier_names() -> None:
    """Let imports and `python -m` find modules by their earlier names from now on."""
    if not any(isinstance(finder, EarlierNames) for finder in sys.meta_path):
        sys.meta_path.append(EarlierNames())
