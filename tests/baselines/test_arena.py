"""Pairings, what their scores say, and how they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena import report
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.envs import GAMES, OptionError

SCORE = Score("policy", "random", 6, 8, 6, by_seat=(5, 1), draws_by_seat=(2, 6))


def table_at(columns: int, *scores: Score) -> str:
    console = Console(width=columns)
    with console.capture() as shown:
        console.print(report.score_table(scores, "a title"))
    return shown.get()


def test_draws_count_half_in_every_rate() -> None:
    assert SCORE.rate == 0.5
    assert SCORE.rate_by_seat == (0.6, 0.4)
    assert sum(SCORE.rate_by_seat) / 2 == SCORE.rate


@pytest.mark.parametrize("game", GAMES)
def test_seats_make_up_the_whole(game: str) -> None:
    score = play_pairing(game, GreedyAgent(), RandomAgent(), starts=4, seed=3)
    assert (sum(score.by_seat), sum(score.draws_by_seat)) == (score.wins, score.draws)
    assert sum(score.rate_by_seat) / 2 == pytest.approx(score.rate)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": 0}, "starts=0: a whole number from 1 is needed"),
        ({"starts": -1}, "starts=-1: a whole number from 1 is needed"),
        ({"starts": 2.0}, "starts=2.0: a whole number"),
        ({"first": "greedy"}, "first='greedy': must be an Agent"),
        ({"second": RandomAgent}, "second=.*: must be an Agent"),
        ({"seed": -1}, "seed=-1"),
        ({"game": "nope"}, "no such game"),
    ],
)
def test_pairings_that_cannot_be_played(changes: dict[str, Any], message: str) -> None:
    given = {"game": next(iter(GAMES)), "first": RandomAgent(), "second": RandomAgent()}
    with pytest.raises(OptionError, match=message):
        play_pairing(**{**given, "starts": 1, **changes})


def test_the_table_fits_sixty_columns() -> None:
    """Nothing is cut, and a rate and its interval are a line each."""
    lines = table_at(60, SCORE, Score("policy", "greedy", 1000, 1000, 1000)).splitlines()
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert "…" not in text
    assert "95 % interval" in text
    row = next(i for i, line in enumerate(lines) if "policy" in line)
    assert lines[row].split() == ["policy", "6", "8", "6", "50.0%", "60%"]
    assert lines[row + 1].split() == ["random", "29.9%", "-", "70.1%", "40%"]


def test_the_table_says_how_draws_count() -> None:
    assert "A draw counts half" in table_at(80, SCORE)


def test_points_at_the_ends_of_the_scale_are_drawn_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: figures.append(self))
    curve = [{"steps": 0.0, "one": 0.0, "two": 0.5}, {"steps": 5.0, "one": 1.0, "two": 0.5}]
    report.learning_curve(curve, tmp_path / "curve.png", "a title")
    (axes,) = figures[0].axes
    lines = [
        line for line in axes.get_lines() if len(line.get_xdata()) and line.get_marker() == "o"
    ]
    assert [line.get_label() for line in lines] == ["one", "two"]
    assert not any(line.get_clip_on() for line in lines)
    assert "draws counted half" in axes.get_ylabel()
