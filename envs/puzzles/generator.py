"""The generator: digs out a random full grid cell by cell as long as it stays a good start.

Puzzle `i` of a seed is a pure function of the seed, `i`, the criteria and `max_givens`. It is the
same on every platform and does not depend on other puzzles, so a long run can be stopped and
continued.

Digging visits the cells in a random order (see `plan`) and removes a given if the puzzle stays
solvable as required and no block loses its last given. It stops once the number of givens is down
to a target, drawn beforehand so that a batch has puzzles of all densities, and the givens are well
placed. If a grid cannot be dug that far, the next one is tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

import numpy as np

from azumaya.envs.geometry.sudoku81 import BLOCK_BOARDS, BLOCK_OF, CELLS, FULL
from azumaya.envs.kernels.bits import U64, bit, popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import make_key, random_below, random_word
from azumaya.envs.puzzles.criteria import (
    BLOCKS_TAKEN,
    CENTRE,
    CENTRE_FEW,
    FEWEST_CLUES,
    MAX_GIVENS,
    OPEN_LINES,
    SINGLES,
    UNIQUE,
    demanded,
    given_count,
    misplaced,
)
from azumaya.envs.puzzles.grid import to_text
from azumaya.envs.puzzles.solver import search, singles
from azumaya.envs.whole import whole_number

VERSION = 1
"""Increases whenever the same arguments would give other puzzles."""

FEWEST_GIVENS = 24
"""The lowest target for the number of givens: random digging seldom gets below it."""

MOST_GIVENS = 54
"""The most givens if `givens` is relaxed: six per block, as many as fit without a full line."""

MOST_NUMBER = 2**63 - 1
"""The highest number of a puzzle, and the most puzzles generated at once."""

ATTEMPTS = 2000
"""Grids tried for one puzzle before giving up."""

_STREAM = U64(0x5055_5A5A_4C45)  # separates these draws from those of environments
_BLOCKS = 9
_PERMUTATIONS = np.array(list(itertools.permutations(range(3))), np.int64)
_BLOCK_OF = np.array(BLOCK_OF, np.int64)
_FILL, _ORDER, _TARGET, _PER_ATTEMPT = 0, 1, 2, 3  # the keys of each attempt


class PuzzleGenerationError(RuntimeError):
    """No puzzle that meets the criteria was found."""


@kernel
def shuffle(cells, key):
    """Put all cells in a random order (Fisher-Yates)."""
    for i in range(CELLS):
        cells[i] = i
    for i in range(CELLS - 1, 0, -1):
        j = random_below(key, i, i + 1)
        cells[i], cells[j] = cells[j], cells[i]


@kernel
def plan(order, key, open_lines):
    """The order of digging: random, but with `open_lines` starting with cells that open every line.

    Three cells of a block, one in each of its rows and columns, open all of its lines. Otherwise,
    the last full line would be opened so late that hardly any puzzle would keep more than 30
    givens.
    """
    shuffle(order, key)
    if not open_lines:
        return
    cells, last = order.copy(), np.int64(0)
    columns = np.empty((_BLOCKS, 3), np.int64)
    for block in range(_BLOCKS):
        which = random_below(key, CELLS + block, 6)
        for row in range(3):
            columns[block, row] = _PERMUTATIONS[which, row]
    for wanted in (True, False):
        for i in range(CELLS):
            row, column = cells[i] // 9 % 3, cells[i] % 3
            if (columns[_BLOCK_OF[cells[i]], row] == column) == wanted:
                order[last] = cells[i]
                last += 1


@kernel
def bares(given, cell, demands):
    """Whether removing a given would empty a block that must not be empty."""
    block = _BLOCK_OF[cell]
    if given_count(given, BLOCK_BOARDS, block) > 1:
        return False
    return demands & BLOCKS_TAKEN != 0 or (block == CENTRE and demands & CENTRE_FEW != 0)


@kernel
def solvable(puzzle, demands, grid, tally, nowhere):
    """Whether a puzzle is solvable as required: by singles, or with exactly one solution."""
    if demands & SINGLES != 0:
        return singles(puzzle, grid, tally)
    if demands & UNIQUE != 0:
        return search(puzzle, 2, U64(0), nowhere) == 1
    return True


@kernel
def dig(puzzle, order, target, demands, max_givens):
    """Remove givens from a full grid; returns whether the result meets the criteria."""
    grid, tally = np.empty(CELLS, np.uint8), np.empty(2, np.int64)
    nowhere = np.empty((0, CELLS), np.uint8)
    given = FULL.copy()
    for i in range(CELLS):
        few = popcount(given[0]) + popcount(given[1]) <= target
        if few and misplaced(given, max_givens) & demands == 0:
            return True
        cell, number = order[i], puzzle[order[i]]
        if bares(given, cell, demands):
            continue
        puzzle[cell] = 0
        if solvable(puzzle, demands, grid, tally, nowhere):
            given[cell >> 6] &= ~bit(cell & 63)
        else:
            puzzle[cell] = number
    return misplaced(given, max_givens) & demands == 0


@kernel
def make(key, demands, max_givens, attempts, puzzle):
    """Write the puzzle of a key to `puzzle`, (81,) uint8; False if no attempt succeeded."""
    empty, order = np.zeros(CELLS, np.uint8), np.empty(CELLS, np.int64)
    solution = np.empty((1, CELLS), np.uint8)
    low = min(FEWEST_GIVENS, max_givens)
    for attempt in range(attempts):
        first = _PER_ATTEMPT * attempt
        search(empty, 1, random_word(key, first + _FILL), solution)
        plan(order, random_word(key, first + _ORDER), demands & OPEN_LINES != 0)
        choices = max_givens - low + 1
        target = low + random_below(random_word(key, first + _TARGET), 0, choices)
        puzzle[:] = solution[0]
        if dig(puzzle, order, target, demands, max_givens):
            return True
    return False


def generate(
    count: int,
    seed: int,
    *,
    relax: Iterable[str] = (),
    max_givens: int | None = None,
    first: int = 0,
    progress: Callable[[int], None] | None = None,
) -> list[str]:
    """Generate puzzles `first` to `first + count - 1` of a seed, 81 characters each.

    Args:
        count: the number of puzzles, 0 or more.
        seed: 0 to 2**64 - 1.
        relax: names of criteria that they need not meet (but may).
        max_givens: the most givens, 17 to 81; None: 36, or 54 if `givens` is relaxed.
        first: the number of the first puzzle, to continue an earlier run.
        progress: called after each puzzle with the number generated so far.

    Raises:
        OptionError: an argument is not a whole number in its range, or `relax` names no criterion.
        PuzzleGenerationError: no puzzle was found for one of the numbers, for example because
            random digging does not reach `max_givens`.
    """
    wanted = demanded(relax)
    if max_givens is None:
        limited = any(criterion.name == "givens" for criterion in wanted)
        max_givens = MAX_GIVENS if limited else MOST_GIVENS
    count = whole_number(count, "count", 0, MOST_NUMBER)
    seed = whole_number(seed, "seed", 0, 2**64 - 1)
    max_givens = whole_number(max_givens, "max_givens", FEWEST_CLUES, CELLS)
    first = whole_number(first, "first", 0, MOST_NUMBER)
    demands, puzzle, made = sum(c.bit for c in wanted), np.zeros(CELLS, np.uint8), []
    for index in range(first, first + count):
        key = U64(make_key(U64(seed), _STREAM, U64(index)))
        if not make(key, demands, max_givens, ATTEMPTS, puzzle):
            raise PuzzleGenerationError(
                f"puzzle {index} of seed {seed}: none with at most {max_givens} givens found in "
                f"{ATTEMPTS} grids; allow more givens, or relax a criterion"
            )
        made.append(to_text(puzzle))
        if progress is not None:
            progress(len(made))
    return made
