"""How far from the end positions are solved: where it stops, and what it says."""

from __future__ import annotations

import math

import pytest

from azumaya.baselines.agents import RandomAgent
from azumaya.benchmarks.studies import reach
from azumaya.envs import GAMES, Position

GAME = GAMES["score_dominari"]
RANDOM = [RandomAgent()]


def distance(position: Position) -> int:
    """The plies left in the game from which a position was taken, seeds 0 to 9."""
    (plies,) = {
        len(line) - 1 - index
        for line in (reach.playout(GAME, RANDOM, seed) for seed in range(10))
        for index, other in enumerate(line)
        if str(other) == str(position)
    }
    return plies


def test_positions_are_so_far_from_the_end() -> None:
    found = list(reach.positions(GAME, RANDOM, 4, 3))
    assert [distance(position) for position in found] == [4, 4, 4]
    assert len({str(position) for position in found}) == 3
    assert list(reach.positions(GAME, RANDOM, 10_000, 1)) == []


def test_what_is_solved_in_time_counts() -> None:
    questions = list(reach.positions(GAME, RANDOM, 2, 2))
    assert all(map(math.isfinite, reach.times_to_solve(questions, 60.0)))
    assert reach.times_to_solve([Position(GAME)], 0.0) == [math.inf]


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> list[str]:
    """The lines of the command; one of two positions is solved, after 8 plies none."""

    def times(questions: object, limit: float) -> list[float]:
        found = [distance(position) for position in questions]  # type: ignore[attr-defined]
        return [1.0 if plies <= 8 and number % 2 == 0 else math.inf
                for number, plies in enumerate(found)]  # fmt: skip

    monkeypatch.setattr(reach, "times_to_solve", times)
    reach.main(["--game", GAME.name, "--positions", "2", *words])
    return capsys.readouterr().out.splitlines()


def test_it_stops_where_fewer_than_half_are_solved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(monkeypatch, capsys)
    name = GAME.name
    assert lines[0] == f"{name}: 6 plies before the end, 1 of 2 solved, half of them within 1.00 s"
    assert [line.split(",")[1] for line in lines] == [" 1 of 2 solved"] * 2 + [" 0 of 2 solved"]


def test_it_stops_where_no_game_is_that_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said(monkeypatch, capsys, "--first", "300", "--last", "304")
    assert lines == [f"{GAME.name}: no game that ends has 300 plies"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--agent nobody", "agent 'nobody': must be random, greedy"),
        ("--agent champion-net", "there is none for azumaya/score_dominari"),
    ],
)
def test_impossible_arguments_are_refused(
    words: str, wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        reach.main(["--game", GAME.name, *words.split()])
    assert wanted in capsys.readouterr().err
