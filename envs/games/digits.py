"""Words that all games on the 9x9 board share: boards as digits and as text, dead cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from azumaya.envs.geometry.houses import first_clash, where_twice
from azumaya.envs.geometry.sudoku81 import CELLS, GRID, NUMBERS, PEERS, SIZE, SQUARES
from azumaya.envs.kernels.bits import cells_of
from azumaya.envs.text import join_rows

ROW_LENGTHS = (SIZE,) * SIZE
ALPHABET = ".123456789"


def boards_of(numbers: np.ndarray) -> list[list[int]]:
    """The cells of each number; `numbers` are boards, `(9, 2)`, or a row of 729 bits, `(12,)`."""
    if numbers.ndim > 1:
        return [cells_of(board) for board in numbers]
    cells: list[list[int]] = [[] for _ in range(NUMBERS)]
    for bit in cells_of(numbers):
        cells[bit // CELLS].append(bit % CELLS)
    return cells


def digits_of(state: Any, boards: str = "stones") -> list[int]:
    """The number on each of the 81 cells, 0 where there is none."""
    digits = [0] * CELLS
    for n, cells in enumerate(boards_of(state[boards])):
        for cell in cells:
            digits[cell] = n + 1
    return digits


def write_digits(digits: Sequence[int]) -> str:
    """Numbers as marks of `ALPHABET`."""
    return "".join(str(d) if d else "." for d in digits)


def read_digits(marks: str) -> list[int]:
    """The inverse of `write_digits`."""
    return [0 if mark == "." else int(mark) for mark in marks]


def write_board(digits: Sequence[int]) -> str:
    """The board of a position text."""
    return join_rows(write_digits(digits), ROW_LENGTHS)


def why_not_there(digits: Sequence[int], number: int, cell: int) -> str | None:
    """Why the Sudoku rule forbids a number (from 1) on a cell, or None if it does not."""
    if digits[cell]:
        return f"{SQUARES[cell]} holds the {digits[cell]} already"
    return where_twice(GRID, digits, number, cell)


def dead_cells(state: Any) -> frozenset[int]:
    """The empty cells on which the Sudoku rule allows no number."""
    digits = digits_of(state)
    open_cells = set()
    for cells in boards_of(state["stones"]):
        blocked = set(cells_of(np.bitwise_or.reduce(PEERS[cells])))
        open_cells |= set(range(CELLS)) - blocked
    return frozenset(c for c in range(CELLS) if not digits[c] and c not in open_cells)


def candidates_of(state: Any) -> Mapping[int, tuple[int, ...]]:
    """The candidates of each empty cell, as numbers from 1."""
    digits, fitting = digits_of(state), boards_of(state["candidates"])
    return {
        cell: tuple(n + 1 for n in range(NUMBERS) if cell in fitting[n])
        for cell in range(CELLS)
        if not digits[cell]
    }


def check_board(state: Any, houses: Sequence[Sequence[int]]) -> None:
    """No number lies twice in a house, and the candidates follow from the stones.

    Raises:
        AssertionError: one of these is broken.
    """
    digits = digits_of(state)
    assert first_clash(digits, houses) is None
    assert sum(int(w).bit_count() for w in state["stones"].ravel()) == sum(d > 0 for d in digits)
    for n, candidates in enumerate(boards_of(state["candidates"])):
        left = {c for c in range(CELLS) if not digits[c]}
        for house in houses:
            if any(digits[c] == n + 1 for c in house):
                left -= set(house)
        assert candidates == sorted(left), f"candidates of {n + 1}"
