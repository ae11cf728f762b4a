"""Winners of puzzles: proven ones agree with minimax, and a spent budget proves nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from azumaya.benchmarks.studies import puzzle_winners
from azumaya.benchmarks.studies.puzzle_winners import WinnerPlan, order, start_of
from azumaya.envs import Position
from azumaya.envs.puzzles.bank import load_bank
from tests.commands import invoke
from tests.search.minimax import Minimax, late_positions

PLAN = WinnerPlan(nodes=10**6, megabytes=1)


@pytest.fixture(name="ends")
def _ends(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Position, int]]:
    """Late positions in place of starts, with what the player to move gains by minimax."""
    found = [
        (position, max(gains.values()))
        for seed in (1, 2)
        for position, gains in late_positions(start_of(seed), seed, 8, 300)
    ]
    monkeypatch.setattr(puzzle_winners, "start_of", lambda puzzle: found[puzzle][0].copy())
    monkeypatch.setattr(puzzle_winners, "order", lambda: tuple(range(len(found))))
    return found


def test_proven_winners_agree_with_minimax(ends: list[tuple[Position, int]]) -> None:
    assert {gain for _, gain in ends} == {-1, 1}
    for place, (position, gain) in enumerate(ends):
        line = PLAN(place)
        assert (line["puzzle"], line["wins"]) == (place, gain)
        assert 0 < line["nodes"] <= PLAN.nodes
        assert ("move" in line) == (gain > 0)
        if gain > 0:
            assert Minimax(10**6).gains(position)[position.action(line["move"])] == 1


def test_a_spent_budget_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(puzzle_winners, "order", lambda: (7,))
    line = WinnerPlan(nodes=500, megabytes=1)(0)
    assert line["wins"] is None
    assert 500 <= line["nodes"] < 1000
    assert "move" not in line


@pytest.mark.slow
def test_every_puzzle_has_one_place_and_short_games_come_first() -> None:
    places = order()
    assert sorted(places) == list(range(len(load_bank())))
    lengths = [puzzle_winners.random_length(places[i]) for i in (0, 800, 1600, 2499)]
    assert lengths == sorted(lengths)
    assert lengths[0] < 30
    assert lengths[-1] > 40


def test_the_command_goes_on_and_writes_a_table(
    ends: list[tuple[Position, int]], tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"

    def prove(*words: object) -> str:
        command = ["--work", tmp_path, "--output", table, *words]
        result = invoke(puzzle_winners.prove_winners, *command)
        assert result.exit_code == 0, result.output
        return result.output

    assert "3 winners of 3 puzzles" in prove("--puzzles", 3, "--megabytes", 1)
    lines = (tmp_path / "winners.jsonl").read_text().splitlines()
    prove("--puzzles", 5, "--megabytes", 1)
    longer = (tmp_path / "winners.jsonl").read_text().splitlines()
    assert longer[:4] == lines
    assert [json.loads(line)["puzzle"] for line in longer[1:]] == [0, 1, 2, 3, 4]
    before = table.read_text()
    rows = [line.split(",") for line in before.splitlines()[1:]]
    winners = ["first" if gain > 0 else "second" for _, gain in ends[:5]]
    assert [row[2] for row in rows] == winners
    prove("--finish")
    assert table.read_text() == before
