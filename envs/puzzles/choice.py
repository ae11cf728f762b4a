"""The puzzles that an option selects: those of the bank, one, several, or those of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.puzzles.bank import load_bank
from azumaya.envs.puzzles.formats import parse_puzzle, read_cells
from azumaya.envs.puzzles.grid import PuzzleFormatError, as_cells
from azumaya.envs.puzzles.split import PARTS, Part, load_part


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


def load_puzzles(value: str | Path | Sequence[str] | None) -> PuzzleSet:
    """The puzzles that the option `puzzle` selects.

    Args:
        value: None for the bank, `"train"` or `"test"` for a part of it (see
            `azumaya.envs.puzzles.split`), a puzzle, a sequence of puzzles, or the path of a file.

    Raises:
        OptionError: the value is none of these.
        PuzzleFormatError: a puzzle or file is malformed.
    """
    if value is None or (isinstance(value, str) and value in PARTS):
        return _bank(value)
    if isinstance(value, Path) or (isinstance(value, str) and not _is_puzzle(value)):
        return PuzzleSet(_puzzles_of_file(value))
    if isinstance(value, str):
        puzzles = [value]
    elif isinstance(value, Sequence) and value and all(isinstance(p, str) for p in value):
        puzzles = list(value)
    else:
        raise OptionError(
            f"puzzle={brief(value)}: must be 81 characters, a sequence of these, a path, 'train', "
            "'test' or None"
        )
    return PuzzleSet(np.stack([_cells_of(puzzles, i) for i in range(len(puzzles))]))


def _cells_of(puzzles: Sequence[str], index: int) -> np.ndarray:
    """The cells of one of some puzzles; errors say which one it is, if there are several."""
    try:
        return as_cells(parse_puzzle(puzzles[index]))
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
