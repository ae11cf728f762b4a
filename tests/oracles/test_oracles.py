"""Every game has an oracle that shares nothing with the library and agrees with it."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.cases import TESTED, YARDSTICK
from tests.oracles import has_oracle
from tests.oracles.crosscheck import main
from tests.oracles.lockstep import (
    MODES,
    ORDER,
    episodes,
    tables_of,
)

HERE = Path(__file__).parent
USES_THE_LIBRARY = {"lockstep.py", "crosscheck.py", Path(__file__).name}


def test_no_game_lacks_an_oracle() -> None:
    """There is a module of the game's name in this folder."""
    assert [name for name in TESTED if not has_oracle(name)] == []


@pytest.mark.parametrize("least", [1_000, pytest.param(4_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", TESTED)
def test_random_games_in_lockstep(name: str, least: int) -> None:
    """A short cross-check; the long one is `python -m tests.oracles.crosscheck`."""
    tables = tables_of(TESTED[name])
    plies: Counter[str] = Counter()
    for number, episode in enumerate(episodes(tables, seed=1)):
        episode.run()
        plies[episode.mode] += episode.plies
        if plies.total() >= least and number >= len(ORDER) * len(tables):
            break
    assert set(plies) == set(MODES)
    assert plies.total() - plies["plain"] >= plies.total() / 5


def test_oracles_share_nothing_with_the_library() -> None:
    """Oracles import only the standard library and other oracles."""
    for file in HERE.glob("*.py"):
        if file.name in USES_THE_LIBRARY:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.partition(".")[0] not in ("azumaya", "numpy", "numba"), file.name


def test_the_command_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints a summary."""
    arguments = ["--plies", "500", "--jobs", "1", "--state", str(tmp_path)]
    assert main(["--game", YARDSTICK.name, *arguments]) == 0
    assert "500 plies" in capsys.readouterr().out
