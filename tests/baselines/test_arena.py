"""Pairings, their scores, and tables and plots of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena import report
from azumaya.baselines.arena.matches import Score, play_pairing
from azumaya.envs import IllegalActionError, OptionError, Position
from tests.cases import TESTED

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


@pytest.mark.parametrize("game", TESTED)
def test_the_scores_of_both_seats_add_up(game: str) -> None:
    score = play_pairing(game, GreedyAgent(), RandomAgent(), starts=4, seed=3)
    assert (sum(score.by_seat), sum(score.draws_by_seat)) == (score.wins, score.draws)
    assert sum(score.rate_by_seat) / 2 == pytest.approx(score.rate)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": 0}, "starts=0: a whole number from 1 is needed"),
        ({"starts": -1}, "starts=-1: a whole number from 1 is needed"),
        ({"starts": 2.0}, "starts=2.0: a whole number"),
        ({"first": "greedy"}, r"first='greedy': must be an agent, .*, such as .*GreedyAgent\(\)"),
        ({"second": RandomAgent}, r"second=.*; this is a class, .*: RandomAgent\(...\)"),
        ({"second": None}, r"second=None: must be an agent, an object with act\(positions, keys\)"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 2**64 - 1, "starts": 2}, f"seed={2**64 - 1}, starts=2: .*fewer starts"),
        ({"game": "nope"}, "no such game"),
    ],
)
def test_impossible_pairings_are_refused(changes: dict[str, Any], message: str) -> None:
    given = {"game": next(iter(TESTED)), "first": RandomAgent(), "second": RandomAgent()}
    with pytest.raises(OptionError, match=message):
        play_pairing(**{**given, "starts": 1, **changes})


def test_every_start_has_a_seed_up_to_the_last_one() -> None:
    game = next(iter(TESTED))
    score = play_pairing(game, RandomAgent(), RandomAgent(), starts=2, seed=2**64 - 2)
    assert score.games == 4


class Mine:
    """An agent without a base class; `answer` turns its actions into the result of `act`."""

    def __init__(self, answer: Callable[[list[int]], Any] = list) -> None:
        self.answer = answer

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> Any:
        """The actions of a random agent, changed by `answer`."""
        return self.answer(RandomAgent().act(positions, keys))


def test_anything_with_act_is_an_agent() -> None:
    """Anything with `act` is an agent, as in `SingleAgentEnv`; its name is shown if it has one."""
    game, named = next(iter(TESTED)), Mine()
    named.name = "own"  # type: ignore[attr-defined]
    score = play_pairing(game, Mine(), named, starts=2, seed=1)
    assert (score.first, score.second) == ("Mine", "own")
    like = play_pairing(game, RandomAgent(), RandomAgent(), starts=2, seed=1)
    assert (score.wins, score.by_seat) == (like.wins, like.by_seat)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda actions: None, "Mine: act returned None for 4 positions"),
        (lambda actions: actions[:-1], r"Mine: act returned \[.*\] for 4 positions"),
        (lambda actions: [*actions, 0], r"Mine: act returned \[.*\] for 4 positions"),
        (lambda actions: [-1 for _ in actions], "Mine's action=-1: not an action of"),
        (lambda actions: ["?" for _ in actions], "Mine's "),
    ],
)
def test_errors_name_the_agent_at_fault(answer: Any, message: str) -> None:
    with pytest.raises(IllegalActionError, match=message):
        play_pairing(next(iter(TESTED)), RandomAgent(), Mine(answer), starts=2, seed=1)


def test_the_table_fits_sixty_columns() -> None:
    """Nothing is cut off; a rate and its interval each have a line."""
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


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures drawn in a test, which are not written to files."""
    drawn: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, *_, **__: drawn.append(self))
    return drawn


def lines_of(figure: Figure) -> list[Any]:
    (axes,) = figure.axes
    return [line for line in axes.get_lines() if line.get_marker() == "o"]


def test_points_at_the_ends_of_the_scale_are_not_clipped(
    tmp_path: Path, figures: list[Figure]
) -> None:
    curve = [{"steps": 0.0, "one": 0.0, "two": 0.5}, {"steps": 5.0, "one": 1.0, "two": 0.5}]
    report.learning_curve(curve, tmp_path / "curve.png", "a title")
    lines = lines_of(figures[0])
    assert [line.get_label() for line in lines] == ["one", "two"]
    assert all(len(line.get_xdata()) == 2 for line in lines)
    assert not any(line.get_clip_on() for line in lines)
    assert "draws counted half" in figures[0].axes[0].get_ylabel()


def test_a_line_is_drawn_through_the_points_that_have_its_rate(
    tmp_path: Path, figures: list[Figure]
) -> None:
    curve = [{"steps": 0.0, "one": 0.5}, {"steps": 1.0}, {"steps": 2.0, "one": 1.0, "two": 0.0}]
    report.learning_curve(curve, tmp_path / "curve.png", "a title")
    points = {line.get_label(): list(line.get_xdata()) for line in lines_of(figures[0])}
    assert points == {"one": [0.0, 2.0], "two": [2.0]}
