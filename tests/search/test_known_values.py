"""Connect Four: published values of positions, and of the first moves.

The positions and their scores are from the test sets of Pascal Pons's "Solving Connect Four". The
digits are columns, from 1. A score is positive if the player to move wins. Only its sign is
compared, because here a win pays 1, however fast it is.
"""

from __future__ import annotations

import pytest

from azumaya.baselines.search.alphabeta import Room
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.solver import Solving, solve
from azumaya.envs import Position
from tests.cases import YARDSTICK

LATE = {
    "2252576253462244111563365343671351441": -1,
    "7422341735647741166133573473242566": 1,
    "23163416124767223154467471272416755633": 0,
}
EARLY = {
    "32164625": 11,
    "6146": 18,
    "243335424257": 12,
    "5512243243536": 13,
    "22144426444": 15,
    "265756512": -12,
    "65444437612": 13,
    "17516442226766": 8,
    "7343363417254": 14,
    "74746315233": 15,
    "5654767662": 13,
    "74642572132": 15,
    "51756773145177": -10,
    "165746146225": -11,
    "1562527227511": 13,
    "43745416472735": -13,
    "42434653771434": 9,
    "1626434452343": 13,
    "6513243566177": 12,
    "43623536647361": 11,
    "35544262": 12,
    "33375546411": -12,
    "427631264721": 10,
    "51615567": 15,
    "543772563551": 14,
    "27534134362633": 10,
    "7234472553": 10,
    "6126741462153": 14,
    "4737": 18,
    "7675456251": 13,
}


def after(columns: str) -> Position:
    """The position after some moves."""
    position = Position(YARDSTICK)
    for column in columns:
        position.play(int(column) - 1)
    return position


def value_of(position: Position, nodes: int) -> int | None:
    """The value of a position; None if it is not found within some nodes."""
    search = Solving(Room(kernels_of(position), 16), position)
    while search.value is None and not search.finished and search.solution().nodes < nodes:
        search.run(10_000)
    return search.value


@pytest.mark.parametrize("columns", LATE)
def test_late_positions(columns: str) -> None:
    assert solve(after(columns), nodes=10**6, megabytes=4).value == LATE[columns]


def test_early_positions() -> None:
    for columns, score in EARLY.items():
        assert value_of(after(columns), 100_000) == sign(score), columns


@pytest.mark.slow
def test_four_discs_in_the_middle() -> None:
    """The first player wins."""
    assert value_of(after("4444"), 50 * 10**6) == 1


@pytest.mark.slow
def test_first_moves() -> None:
    """The first player wins in the middle, draws beside it, and loses further out.

    Found by James D. Allen and Victor Allis in 1988, independently of each other.
    """
    solution = solve(Position(YARDSTICK), nodes=10**9)
    assert [solution.moves[column] for column in range(7)] == [-1, -1, 0, 1, 0, -1, -1]
    assert solution.value == 1


def sign(score: int) -> int:
    """The value of a published score."""
    return (score > 0) - (score < 0)
