"""A run on a tiny budget, shared by all tests of its rows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.console import Console

from azumaya.baselines.files import locked
from azumaya.benchmarks.plan import FORMS, Budget
from azumaya.benchmarks.results import Row, read_run
from azumaya.benchmarks.run import run
from tests.cases import TESTED
from tests.processes import eventually

TINY = Budget("tiny", 0.001, 2, (2, 8), FORMS, (4,), 8, starts=0, learners=0)
QUIET = Console(quiet=True)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run over all games, which all workers of pytest-xdist share."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    folder = place / "bench"
    with (place / "bench.lock").open("w") as lock:
        eventually(lambda: locked(lock.fileno()), 3600)
        if not (folder / "results.json").exists():
            assert run(TINY, TESTED.values(), folder, QUIET)
    return folder


@pytest.fixture(scope="session")
def rows(finished: Path) -> list[Row]:
    """The rows of the finished run."""
    return read_run(finished)[1]
