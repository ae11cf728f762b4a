"""The puzzle bank that ships with the package: 2,500 puzzles that meet every criterion.

`bank.txt` is what this command makes, byte for byte, run in the repository's root:

    azumaya puzzles generate --count 2500 --seed 2006 --output envs/puzzles/bank.txt

The order is that of the file; no two puzzles become the same by renaming the numbers, turning
the board or looking at it in a mirror. A test makes the first puzzles anew and checks them all.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import numpy.typing as npt

from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.puzzles.grid import PuzzleFormatError

BANK_SEED = 2006
"""The seed of the bank: Sudoku Moyo is of that year."""

BANK_FILE = Path(__file__).with_name("bank.txt")


@functools.cache
def load_bank() -> npt.NDArray[np.uint8]:
    """The bank, `(2500, 81)` uint8, 0 = empty; read once, and not to be written to.

    Raises:
        PuzzleFormatError: the file of the installed package is damaged.
    """
    data = BANK_FILE.read_bytes().replace(b"\r", b"")  # a checkout may have changed line ends
    while data.startswith(b"#"):
        data = data[data.index(b"\n") + 1 :]
    marks = np.frombuffer(data, np.uint8)
    lines = marks[: len(marks) // (CELLS + 1) * (CELLS + 1)].reshape(-1, CELLS + 1)
    cells = np.where(lines[:, :CELLS] == ord("."), 0, lines[:, :CELLS] - ord("0")).astype(np.uint8)
    ends = lines[:, CELLS]
    if not len(cells) or lines.size != marks.size or (ends != ord("\n")).any() or cells.max() > 9:
        raise PuzzleFormatError("the puzzle bank is damaged; install azumaya anew", str(BANK_FILE))
    cells.flags.writeable = False
    return cells
