"""The Sudoku rule on any board: no number twice in a house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


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


def have_clashes(boards: np.ndarray, houses: Sequence[Sequence[int]]) -> np.ndarray:
    """Which boards have a `first_clash`, for many of them at once: `(n,)` bool.

    Args:
        boards: the number on each cell, `(n, cells)`, 0 for none.
        houses: the cells of each house.
    """
    members = np.zeros((boards.shape[1], len(houses)), np.float32)
    for house, cells in enumerate(houses):
        members[list(cells), house] = 1
    broken = np.zeros(len(boards), bool)
    for number in range(1, int(boards.max(initial=0)) + 1):
        broken |= ((boards == number).astype(np.float32) @ members > 1).any(axis=1)
    return broken
