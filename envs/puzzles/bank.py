"""The puzzle bank that ships with the package: 2,500 puzzles that meet every criterion.

`bank.txt` is the exact output of this command, run in the root of the repository:

    azumaya puzzles generate --count 2500 --seed 2006 --output envs/puzzles/bank.txt

Puzzles keep the order of the file. No two of them are equal up to renaming numbers, rotating the
board or reflecting it. A test generates the first puzzles again and checks all of them.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import numpy.typing as npt

from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.puzzles.grid import PuzzleFormatError

BANK_SEED = 2006
"""The seed of the bank: Sudoku Moyo dates from that year."""

BANK_FILE = Path(__file__).with_name("bank.txt")


@functools.cache
def load_bank() -> npt.NDArray[np.uint8]:
    """The bank, `(2500, 81)` uint8, 0 = empty; cached and read-only.

    Raises:
        PuzzleFormatError: the installed file is damaged.
    """
    data = BANK_FILE.read_bytes().replace(b"\r", b"")  # git may have changed line endings
    while data.startswith(b"#"):
        data = data[data.index(b"\n") + 1 :]
    marks = np.frombuffer(data, np.uint8)
    lines = marks[: len(marks) // (CELLS + 1) * (CELLS + 1)].reshape(-1, CELLS + 1)
    cells = np.where(lines[:, :CELLS] == ord("."), 0, lines[:, :CELLS] - ord("0")).astype(np.uint8)
    ends = lines[:, CELLS]
    if not len(cells) or lines.size != marks.size or (ends != ord("\n")).any() or cells.max() > 9:
        raise PuzzleFormatError("the puzzle bank is damaged; reinstall azumaya", str(BANK_FILE))
    cells.flags.writeable = False
    return cells
