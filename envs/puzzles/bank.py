"""The puzzle bank that ships with the package: 2,500 puzzles that meet every criterion.

`bank.txt` is the exact output of this command, run in the root of the repository:

    azumaya puzzles generate --count 2500 --seed 2006 --output envs/puzzles/bank.txt

Puzzles keep the order of the file. No two of them are equal up to renaming numbers, rotating the
board or reflecting it. A test generates the first puzzles again and checks all of them.

A fixed split into puzzles to train on and puzzles to test on is there for research on
generalisation. Every puzzle has a fingerprint that no symmetry of Sudoku changes: permuting the
rows of a band, the bands, the columns of a stack, or the stacks, transposing the board, or renaming
the numbers. Puzzles with the same fingerprint are in the same part, so the parts are disjoint even
up to symmetry. The fifth of the bank with the smallest fingerprints is for testing. The split
depends only on the puzzles, not on their order, a seed or a version.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, SIZE
from azumaya.envs.puzzles.formats import read_cells

BANK_SEED = 2006
"""The seed of the bank: Sudoku Moyo dates from that year."""

BANK_FILE = Path(__file__).with_name("bank.txt")


@functools.cache
def load_bank() -> npt.NDArray[np.uint8]:
    """The bank, `(2500, 81)` uint8, 0 = empty; cached and read-only.

    Raises:
        PuzzleFormatError: the installed file is damaged.
    """
    cells = read_cells(BANK_FILE)
    cells.flags.writeable = False
    return cells


# ---- the split ----

Part = Literal["train", "test"]
PARTS: tuple[Part, Part] = ("train", "test")
TEST_SHARE = 5
"""One puzzle in this many is for testing."""
_BLOCK = SIZE // 3


def fingerprints(digits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A fingerprint of each puzzle, `(n,)`, equal for puzzles that are equal up to symmetry.

    It is a hash of a sorted list with an entry for each given: the number of givens in its row and
    its column (in either order), in its block, and with its number.

    Args:
        digits: `(n, 81)`, 0 = empty.
    """
    board = np.asarray(digits, np.int64).reshape(-1, SIZE, SIZE)
    given = board > 0
    rows = np.broadcast_to(given.sum(2)[:, :, None], board.shape)
    columns = np.broadcast_to(given.sum(1)[:, None, :], board.shape)
    blocks = given.reshape(-1, _BLOCK, _BLOCK, _BLOCK, _BLOCK).sum((2, 4))
    blocks = blocks.repeat(_BLOCK, 1).repeat(_BLOCK, 2)
    counts = np.stack([(board == n).sum((1, 2)) for n in range(NUMBERS + 1)], 1)
    alike = np.take_along_axis(counts, board.reshape(-1, CELLS), 1).reshape(board.shape)
    seen = (np.minimum(rows, columns), np.maximum(rows, columns), blocks, alike)
    codes = np.where(given, np.ravel_multi_index(seen, (CELLS + 1,) * len(seen)), 0)
    words = np.sort(codes.reshape(-1, CELLS), axis=1).astype("<u8")
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in words]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def load_part(part: Part) -> npt.NDArray[np.uint8]:
    """The puzzles of a part of the bank, `(n, 81)` uint8, in the bank's order; read-only.

    Raises:
        OptionError: there is no such part.
        PuzzleFormatError: the installed file is damaged.
    """
    if not isinstance(part, str) or part not in PARTS:
        raise OptionError(f"part={brief(part)}: must be one of {', '.join(map(repr, PARTS))}")
    return _load_part(part)


@functools.cache
def _load_part(part: Part) -> npt.NDArray[np.uint8]:
    bank = load_bank()
    words = fingerprints(bank)
    testing = words <= np.sort(words)[len(words) // TEST_SHARE - 1]
    puzzles = bank[testing if part == "test" else ~testing]
    puzzles.flags.writeable = False
    return puzzles
