"""The command that compares the solver with minimax: it goes on where it was, and sees faults."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from azumaya.envs import Position
from tests.search import crosscheck
from tests.search.crosscheck import CHECKED, EACH, Progress, check_seed, load, main, moves_of, run

GAME = CHECKED["score_dominari"]


def wrong_now_and_then(position: Position) -> dict[int, int | None]:
    """The solver, with a wrong value for a move of every position with three moves."""
    moves = moves_of(position)
    if len(moves) == 3:
        moves[min(moves)] = -(moves[min(moves)] or 1)
    return moves


def test_a_wrong_solver_is_caught() -> None:
    assert "the solver says" in check_seed(GAME, 0, 60, wrong_now_and_then)[1]
    assert check_seed(GAME, 0, 60) == (EACH, "")


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    arguments = ["--game", GAME.name, "--tree", "60", "--state", str(tmp_path)]
    assert main([*arguments, "--positions", "16"]) == 0
    file = tmp_path / f"{GAME.name}-0.json"
    first = json.loads(file.read_text())
    assert first["positions"] == 16
    assert main([*arguments, "--positions", "32"]) == 0
    assert json.loads(file.read_text())["positions"] == 32
    other = Progress(GAME.name, 61, 0)
    assert load(file, other) is other  # of another check


def test_it_begins_again_when_the_sources_have_changed(tmp_path: Path) -> None:
    """What was checked earlier says nothing of the library as it is now."""
    file, again = tmp_path / "progress.json", Progress(GAME.name, 60, 0)
    kept = Progress(GAME.name, 60, 5, 80)
    crosscheck.save(kept, file)
    assert load(file, again) == kept
    for sources in ({"sources": "others"}, {}):  # {}: kept before there was a version
        old = {"game": GAME.name, "tree": 60, "next_seed": 5, "positions": 80}
        file.write_text(json.dumps(old | sources))
        assert load(file, again) is again


def test_it_stops_at_a_disagreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = functools.partial(run, solver=wrong_now_and_then)
    monkeypatch.setattr("tests.search.crosscheck.run", wrong)
    arguments = ["--game", GAME.name, "--tree", "60", "--state", str(tmp_path)]
    for _ in range(2):  # the second time it is still known
        assert main(arguments) == 1
        assert f"MISMATCH {GAME.name}" in capsys.readouterr().out
