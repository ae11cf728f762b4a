"""The puzzles that an option selects: those of the bank, one, several, or those of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.geometry.sudoku81 import CELLS, SIZE
from azumaya.envs.puzzles.bank import PARTS, Part, load_bank, load_part
from azumaya.envs.puzzles.formats import parse_puzzle, read_cells
from azumaya.envs.puzzles.grid import PuzzleFormatError, PuzzleLike, as_cells
from azumaya.envs.whole import are_several


@dataclass(frozen=True, eq=False)
class PuzzleSet:
    """Sudoku puzzles to draw from.

    Attributes:
        digits: `(n, 81)` uint8, 0 = empty.
        bank: whether they come from the bank. Bank puzzles that do not fit the other options are
            left out; if the user's own puzzles do not fit, that is an error.
    """

    digits: np.ndarray
    bank: bool = False


@cache
def _bank(part: Part | None) -> PuzzleSet:
    return PuzzleSet(load_bank() if part is None else load_part(part), bank=True)


Puzzles = str | Path | Sequence[PuzzleLike] | npt.NDArray[np.integer]


def load_puzzles(value: Puzzles | None) -> PuzzleSet:
    """The puzzles that the option `puzzle` selects.

    Args:
        value: None for the bank, `"train"` or `"test"` for a part of it (see
            `azumaya.envs.puzzles.bank`), a puzzle (81 characters or whole numbers, 0 = empty), a
            sequence of puzzles, an array of them, `(n, 81)`, or the path of a file.

    Raises:
        OptionError: the value is none of these.
        PuzzleFormatError: a puzzle or file is malformed.
    """
    if value is None or (isinstance(value, str) and value in PARTS):
        return _bank(value)
    if isinstance(value, Path) or (isinstance(value, str) and not _is_puzzle(value)):
        return PuzzleSet(_puzzles_of_file(value))
    puzzles = [value] if _is_one(value) else value
    if not are_several(puzzles) or not len(puzzles) or not _is_puzzle_like(puzzles[0]):
        raise OptionError(
            f"puzzle={brief(value)}: must be 81 characters or whole numbers, a sequence of these, "
            "a path, 'train', 'test' or None"
        )
    digits = _plain_digits(puzzles)
    if digits is None:
        digits = np.stack([_cells_of(puzzles, i) for i in range(len(puzzles))])
    return PuzzleSet(digits)


def _is_one(value: Any) -> bool:
    """Whether a value is one puzzle: a text, or numbers instead of texts or rows."""
    if isinstance(value, str):
        return True
    return are_several(value) and len(value) == CELLS and not _is_puzzle_like(value[0])


def _is_puzzle_like(value: Any) -> bool:
    return isinstance(value, str) or are_several(value)


def _plain_digits(puzzles: Any) -> np.ndarray | None:
    """Many puzzles at once, `(n, 81)` uint8; None if one has another form or is wrong."""
    if isinstance(puzzles, np.ndarray):
        cells = puzzles
    elif all(isinstance(puzzle, str) and len(puzzle) == CELLS for puzzle in puzzles):
        marks = "".join(puzzles).replace(".", "0").encode("ascii", "replace")
        cells = np.frombuffer(marks, np.uint8).reshape(-1, CELLS) - np.uint8(ord("0"))
    elif {getattr(row, "shape", None) for row in puzzles} == {(CELLS,)}:
        cells = np.stack(puzzles)
    else:
        return None
    if cells.shape[1:] != (CELLS,) or cells.dtype.kind not in "iu":
        return None
    return cells.astype(np.uint8) if 0 <= cells.min() <= cells.max() <= SIZE else None


def _cells_of(puzzles: Any, index: int) -> np.ndarray:
    """The cells of one of some puzzles; errors say which one it is, if there are several."""
    puzzle = puzzles[index]
    try:
        return as_cells(parse_puzzle(puzzle) if isinstance(puzzle, str) else puzzle)
    except PuzzleFormatError as error:
        if len(puzzles) == 1:
            raise
        which = f"puzzle {index + 1}"
        raise PuzzleFormatError(error.problem, which, error.line, error.column) from None


def _puzzles_of_file(path: str | Path) -> np.ndarray:
    why = ""
    try:
        if Path(path).is_file():
            return read_cells(Path(path))
    except OSError as error:  # for example, the name is too long
        why = f" that can be read: {error.strerror}"
    said = str(path) if len(str(path)) <= 120 else f"{str(path)[:120]}..."
    raise OptionError(
        f"puzzle={said!r}: neither 81 characters (digits and '.'), 'train', 'test' nor a file{why}"
    )


def _is_puzzle(text: str) -> bool:
    return len(text) >= 40 and set(text) <= set(".0123456789")
