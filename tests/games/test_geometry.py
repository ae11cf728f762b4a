"""Which cells lie beside which, by hand."""

from __future__ import annotations

import pytest

from azumaya.envs import OptionError
from azumaya.envs.geometry.grid import Rectangle


def test_sides_are_whole_numbers() -> None:
    for sides in ((2.5, 3), (0, 3), (3, 27), (True, 3)):
        with pytest.raises(OptionError, match="a whole number"):
            Rectangle(*sides)  # type: ignore[arg-type]


def test_neighbours_in_the_middle_on_the_edge_and_in_the_corner() -> None:
    """A board of three rows and four columns: cells 0 to 3 on top, 8 to 11 at the bottom."""
    board = Rectangle(height=3, width=4)
    assert board.neighbours_of(5) == {1, 4, 6, 9}
    assert board.neighbours_of(5, diagonal=True) == {0, 1, 2, 4, 6, 8, 9, 10}
    assert board.neighbours_of(3) == {2, 7}
    assert board.neighbours_of(3, diagonal=True) == {2, 6, 7}
    assert board.neighbours_of(8) == {4, 9}
