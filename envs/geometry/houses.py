"""The Sudoku rule on any board: no number twice in a house."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azumaya.envs.geometry.grid import Grid


class Clash(NamedTuple):
    """Two cells of one house that hold the same number."""

    number: int
    first: int
    second: int

    def text(self, squares: Sequence[str], houses: str = "row, column or block") -> str:
        """The clash as a clause; `squares` names the cells, and `houses` says what houses are."""
        on = f"{squares[self.first]} and {squares[self.second]}"
        return f"the number {self.number} lies twice in one {houses}, on {on}"


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


def where_twice(grid: Grid, numbers: Sequence[int], number: int, cell: int) -> str | None:
    """Where a number lies already in a house of a cell, as a clause, or None.

    `numbers` has the number on each cell of the grid, 0 for none.
    """
    squares = grid.squares
    for house, of in grid.houses_of:
        for other in range(grid.cells):
            if other != cell and of[other] == of[cell] and numbers[other] == number:
                return f"the {house} of {squares[cell]} has a {number} on {squares[other]}"
    return None


def have_clashes(boards: np.ndarray, houses: Sequence[Sequence[int]]) -> np.ndarray:
    """Which boards have a `first_clash`, for many of them at once: `(n,)` bool.

    Args:
        boards: the number on each cell, `(n, cells)`, 0 for none.
        houses: the cells of each house.
    """
    bits = np.left_shift(1, boards.T, dtype=np.int32) & ~1
    broken = np.zeros(len(boards), bool)
    for cells in houses:
        own = bits[list(cells)]
        broken |= np.add.reduce(own, dtype=np.int32) != np.bitwise_or.reduce(own)
    return broken
