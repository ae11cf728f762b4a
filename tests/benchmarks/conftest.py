"""A run on a tiny budget, shared by all tests of its rows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.console import Console

from azumaya.baselines.system.files import locked
from azumaya.benchmarks import networks
from azumaya.benchmarks.plan import FORMS, Budget
from azumaya.benchmarks.results import Row, read_run
from azumaya.benchmarks.run import run
from azumaya.envs.game import Game
from tests.cases import TESTED, YARDSTICK
from tests.processes import eventually

WIDTH = 4
"""Of value networks: that of other tests, which need the same kernels."""
TINY = Budget("tiny", 0.001, 2, (2, 8), FORMS, (4,), 8, starts=0, learners=0)
QUIET = Console(quiet=True)
ALL = tuple(TESTED.values())
FEW = (TESTED["score_dominari"], YARDSTICK)
"""Games whose kernels other tests need, too."""


@pytest.fixture(scope="session", params=[FEW, pytest.param(ALL, marks=pytest.mark.slow)], ids=len)
def games(request: pytest.FixtureRequest) -> tuple[Game, ...]:
    """The games of the run."""
    chosen: tuple[Game, ...] = request.param
    return chosen


@pytest.fixture(scope="session")
def finished(games: tuple[Game, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run, which all workers of pytest-xdist share."""
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    folder = place / f"bench-{len(games)}"
    with folder.with_suffix(".lock").open("w") as lock:
        eventually(lambda: locked(lock.fileno()), 3600)
        if not (done := folder.with_suffix(".done")).exists():
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(networks, "WIDTH", WIDTH)
                assert run(TINY, games, folder, QUIET)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def rows(finished: Path) -> list[Row]:
    """The rows of the finished run."""
    return read_run(finished)[1]
