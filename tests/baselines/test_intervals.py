"""The statistics of answers and of pairs of games: shares, regret and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.baselines.arena.exam_results import (
    Answer,
    ExamResult,
    distance_groups,
    regret_interval,
)
from azumaya.baselines.arena.exams import ExamPosition
from azumaya.baselines.arena.intervals import difference, normal, of_pairs, of_repeats, wilson


def question(plies: int, **values: float) -> ExamPosition:
    return ExamPosition(f"position {plies}", plies, values, ("random", "greedy"), 1)


def result(*answers: tuple[ExamPosition, str]) -> ExamResult:
    given = tuple(Answer(*answer) for answer in answers)
    return ExamResult("me", "abalone", "public", 1, 0, given)


def test_the_figures_of_an_exam_by_hand() -> None:
    """Three wins of which two are kept, two draws of which one; the mistakes cost 2, 5 and 1."""
    won, close = question(4, a=1, b=-1), question(9, a=3, b=1, c=-2, d=0)
    drawn, even = question(5, a=0, b=-1, c=0), question(10, a=0, b=0)
    found = result((won, "a"), (won, "b"), (close, "b"), (drawn, "b"), (even, "a"))
    assert found.positions == 5
    assert found.kept_wins == pytest.approx(2 / 3)
    assert found.kept_draws == 0.5
    assert found.regret == pytest.approx((0 + 2 + 2 + 1 + 0) / 5)
    assert found.kept_wins_interval == wilson(2 / 3, 3)
    assert found.kept_draws_interval == wilson(0.5, 2)
    assert found.regret_interval == regret_interval([0, 2, 2, 1, 0], 5)
    assert result((close, "d")).kept_wins == 0, "a draw does not keep a win"
    assert result((close, "c")).regret == 5
    assert result((won, "a"), (won, "b")).regret_interval[0] == 0, "regret is never negative"
    assert result((even, "a")).kept_wins is None
    assert result((won, "a")).kept_draws is None
    assert result((won, "a")).kept_draws_interval is None


def test_without_a_loss_the_interval_of_regret_says_what_few_positions_leave_open() -> None:
    """The largest loss times the upper end for a share of none in two: 3.84 / 5.84."""
    won, close = question(4, a=1, b=-1), question(9, a=3, b=1, c=-2, d=0)
    low, high = result((won, "a"), (close, "a")).regret_interval
    assert (low, high) == (0, pytest.approx(5 * 1.96**2 / (2 + 1.96**2)))
    many = result(*[(won, "a")] * 500)
    assert many.regret_interval == (0, 2 * wilson(0, 500)[1])
    assert 0.01 < many.regret_interval[1] < 0.02


def test_the_interval_of_regret_is_the_normal_one_where_mistakes_are_common() -> None:
    regrets = [0, 1, 2] * 300
    assert regret_interval(regrets, 2) == normal(regrets)


def test_the_interval_of_regret_grows_with_the_first_mistakes() -> None:
    """The normal one is wider without any than with a few, and has no width for one position."""
    highs = [regret_interval([2] * k + [0] * (500 - k), 2)[1] for k in range(6)]
    assert highs == sorted(set(highs))
    assert highs[1] == 2 * wilson(1 / 500, 500)[1]
    assert regret_interval([2], 2) == (2 * wilson(1, 1)[0], 2)
    low, high = regret_interval([1, 1, 1], 2)
    assert low == wilson(1, 3)[0] < 1 < high == 5 / 4


def test_positions_are_grouped_by_distance() -> None:
    answers = [(question(plies, a=1, b=-1), "b" if plies < 6 else "a") for plies in range(4, 16)]
    groups = result(*answers).by_distance()
    assert {ends: group.positions for ends, group in groups.items()} == {
        (4, 6): 3,
        (7, 9): 3,
        (10, 12): 3,
        (13, 15): 3,
    }
    assert groups[4, 6].kept_wins == pytest.approx(1 / 3)
    assert groups[13, 15].kept_wins == 1
    assert list(distance_groups(2, 2)) == [(2, 2)]
    assert list(distance_groups(1, 11)) == [(1, 3), (4, 6), (7, 9), (10, 11)]


def test_intervals_by_hand() -> None:
    """Wilson's for 8 of 10 is the textbook's 0.490 to 0.943."""
    assert wilson(0.8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(1.0, 3)[1] == 1.0
    assert wilson(0.0, 3)[0] == 0.0
    # Newcombe (1998), example (a) of his method 10
    one, other = 56 / 70, 48 / 80
    ends = difference(one, wilson(one, 70), other, wilson(other, 80))
    assert ends == pytest.approx((0.0524, 0.3339), abs=1e-4)
    low, high = normal([0, 2, 2, 1, 0])  # mean 1, standard deviation 1
    assert (low, high) == pytest.approx((1 - 1.96 / 5**0.5, 1 + 1.96 / 5**0.5))
    assert normal([3]) == (3, 3)


def test_an_interval_of_pairs_is_as_wide_as_their_results_differ() -> None:
    """Pairs of independent games are worth two games each, and one if one player wins both."""
    assert of_pairs([50, 0, 0, 0, 50]) == wilson(0.5, 100)
    assert of_pairs([25, 0, 50, 0, 25]) == pytest.approx(wilson(0.5, 200), abs=1e-3)
    assert of_pairs([0, 0, 100, 0, 0]) == pytest.approx((0.490, 0.510), abs=1e-3)
    assert of_pairs([0, 0, 0, 0, 30]) == wilson(1, 30)
    halves = [0] * 30 + [2] * 20 + [4] * 50
    once = of_repeats(halves, range(100))
    assert once == pytest.approx(of_pairs([30, 0, 20, 0, 50]))
    assert of_repeats(4 * halves, 4 * [*range(100)]) == pytest.approx(once), "repeats say nothing"
    assert of_repeats([4] * 90, 3 * [*range(30)]) == wilson(1, 30)


@pytest.mark.parametrize(
    "chances",
    [
        pytest.param((0.25, 0, 0.5, 0, 0.25), id="independent games"),
        pytest.param((0.49, 0, 0.02, 0, 0.49), id="one player wins both"),
        pytest.param((0.05, 0, 0.9, 0, 0.05), id="one seat wins both"),
        pytest.param((0.1, 0.2, 0.4, 0.2, 0.1), id="draws"),
        pytest.param((0.01, 0, 0.1, 0, 0.89), id="strong"),
    ],
)
@pytest.mark.parametrize("count", [20, 200])
def test_intervals_of_pairs_cover_the_true_share(chances: tuple[float, ...], count: int) -> None:
    share = np.dot(chances, range(5)) / 4
    drawn = np.random.default_rng(0).multinomial(count, chances, 2000)
    covered = [low <= share <= high for low, high in map(of_pairs, drawn.tolist())]
    assert np.mean(covered) > 0.92
