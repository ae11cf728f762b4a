"""The Sudoku rule on any board: no number twice in a house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Clash(NamedTuple):
    """Two cells of one house that hold the same number."""

    number: int
    first: int
    second: int


def first_clash(numbers: Sequence[int], houses: Sequence[Sequence[int]]) -> Clash | None:
    """The first violation of the rule on a board, or None.

    Args:
        numbers: the number on each cell, 0 for none.
        houses: the cells of each house.
    """
    for house in houses:
        seen: dict[int, int] = {}
        for cell in house:
            number = int(numbers[cell])
            if number and number in seen:
                return Clash(number, seen[number], cell)
            seen[number] = cell
    return None
