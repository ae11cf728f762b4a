"""One puzzle as 81 cells: its two forms, and errors that say what is wrong with it.

As text, a puzzle is 81 characters, `.` for an empty cell; as numbers, it is `(81,)` uint8, 0 for an
empty cell. Both run row by row from the top left, as `geometry.sudoku81` numbers the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES, SIZE, SQUARES
from azumaya.envs.whole import as_whole

Cells = npt.NDArray[np.uint8]
"""A puzzle as numbers: `(81,)` uint8, 0 = empty."""

PuzzleLike = str | Sequence[int] | npt.NDArray[np.integer]
"""What functions accept as a puzzle: its text, or 81 numbers from 0 to 9."""

_SYMBOLS = ".123456789"


class PuzzleFormatError(ValueError):
    """Something that should be a puzzle, or a file of puzzles, is not.

    Attributes:
        source: the file's name, or `puzzle` for one given as text or numbers.
        line, column: the place, counted from 1; 0 if the error has no single place.
        problem: what is wrong there.
    """

    def __init__(self, problem: str, source: str = "puzzle", line: int = 0, column: int = 0):
        place = ":".join([source, *(str(n) for n in (line, column) if n)])
        super().__init__(f"{place}: {problem}")
        self.problem, self.source, self.line, self.column = problem, source, line, column

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments: `args` holds the message alone."""
        return type(self), (self.problem, self.source, self.line, self.column)


class PuzzleRuleError(ValueError):
    """A number occurs twice in a house of a puzzle.

    Attributes:
        number: the number, 1 to 9.
        squares: the names of the two squares, in reading order.
        house: the house's name, such as `row 4`, `column e` or `block d4-f6`.
    """

    def __init__(self, number: int, squares: tuple[str, str], house: str):
        super().__init__(f"puzzle: {number} lies on {squares[0]} and on {squares[1]}, in {house}")
        self.number, self.squares, self.house = number, squares, house

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments: `args` holds the message alone."""
        return type(self), (self.number, self.squares, self.house)


def house_name(house: int) -> str:
    """The name of a house, numbered 0 to 26 as in `HOUSES`, in terms of the square names."""
    cells = HOUSES[house]
    if house < SIZE:
        return f"row {SQUARES[cells[0]][1]}"
    if house < 2 * SIZE:
        return f"column {SQUARES[cells[0]][0]}"
    return f"block {SQUARES[cells[6]]}-{SQUARES[cells[2]]}"


def to_text(cells: PuzzleLike) -> str:
    """The puzzle as 81 characters, `.` for an empty cell; the inverse of `as_cells`."""
    return "".join(_SYMBOLS[n] for n in as_cells(cells))


def as_cells(puzzle: PuzzleLike) -> Cells:
    """The puzzle as a new array `(81,)` uint8.

    Args:
        puzzle: 81 characters (`.` or `0` = empty), or 81 whole numbers from 0 to 9.

    Raises:
        PuzzleFormatError: the text has the wrong length or an invalid character, or the numbers are
            not 81 whole numbers from 0 to 9.
    """
    if isinstance(puzzle, str):
        return _cells_of_text(puzzle)
    try:
        cells = np.asarray(puzzle)
    except ValueError:  # rows of different lengths
        raise PuzzleFormatError("a puzzle has shape (81,), not rows of different lengths") from None
    if cells.shape != (CELLS,):
        raise PuzzleFormatError(f"a puzzle has shape (81,), not {cells.shape}")
    truths = not isinstance(puzzle, np.ndarray) and any(as_whole(cell) is None for cell in puzzle)
    if cells.dtype.kind not in "iu" or truths:  # NumPy turns True among numbers into 1
        kind = "bool" if cells.dtype.kind in "iu" else cells.dtype
        raise PuzzleFormatError(f"cells must be whole numbers, not {kind}")
    wrong = np.flatnonzero((cells < 0) | (cells > SIZE))
    if wrong.size:
        number, square = cells[wrong[0]], SQUARES[wrong[0]]
        raise PuzzleFormatError(f"{number} on {square}: cells must be 0 to 9")
    return cells.astype(np.uint8)


def _cells_of_text(text: str) -> Cells:
    marks = text.replace("0", ".")
    for column, mark in enumerate(marks, 1):
        if mark not in _SYMBOLS:
            problem = f"{mark!r} is not a cell: use 1 to 9, and '.' or '0' for an empty one"
            raise PuzzleFormatError(problem, line=1, column=column)
    if len(marks) != CELLS:
        raise PuzzleFormatError(f"a puzzle has 81 cells, not {len(marks)}", line=1)
    return np.array([_SYMBOLS.index(mark) for mark in marks], np.uint8)


def check_rule(puzzle: PuzzleLike) -> None:
    """Check the Sudoku rule: no number occurs twice in a house.

    Raises:
        PuzzleRuleError: names the number, the two squares and the house of the first conflict
            found, with rows before columns before blocks.
        PuzzleFormatError: `puzzle` is not 81 cells.
    """
    clash = first_clash(as_cells(puzzle).tolist(), HOUSES)
    if clash is not None:
        pair = {clash.first, clash.second}
        house = next(h for h, cells in enumerate(HOUSES) if pair <= set(cells))
        squares = SQUARES[clash.first], SQUARES[clash.second]
        raise PuzzleRuleError(clash.number, squares, house_name(house))
