"""Modules that guides once named are found by their earlier names, with a warning."""

from __future__ import annotations

import importlib
import sys

import pytest

from azumaya.baselines.system.imports import MOVED
from azumaya.baselines.system.work import WorkFileError
from tests.processes import python


@pytest.mark.parametrize("name", MOVED)
def test_an_earlier_name_is_the_module_of_today(name: str) -> None:
    sys.modules.pop(name, None)
    with pytest.warns(FutureWarning, match=rf"^{name} is now {MOVED[name]}$") as told:
        module = importlib.import_module(name)
    assert module is importlib.import_module(MOVED[name])
    assert module.__name__ == MOVED[name]
    assert len(told) == 1


def test_names_are_imported_from_earlier_modules() -> None:
    sys.modules.pop("azumaya.baselines.work_file", None)
    with pytest.warns(FutureWarning) as told:
        from azumaya.baselines.work_file import WorkFileError as Moved  # noqa: PLC0415
    assert Moved is WorkFileError
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    "name", [name for name in MOVED if MOVED[name].split(".")[-1] in ("exam_maker",)]
)
def test_programs_run_by_their_earlier_names(name: str) -> None:
    done = python("-m", name, "--help")
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout.lower()
    assert f"FutureWarning: {name} is now {MOVED[name]}" in done.stderr


def test_no_module_has_an_earlier_name() -> None:
    """Otherwise the finder, which comes last, would not be asked."""
    for name in MOVED:
        package, _, last = name.rpartition(".")
        places = importlib.import_module(package).__path__
        assert importlib.machinery.PathFinder.find_spec(last, places) is None, name
