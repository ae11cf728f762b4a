"""The solver: singles by bit operations, and a search that guesses where singles end.

A board here is `(10, 3)` uint64. Row `n` (0 to 8) belongs to number `n + 1`: two words with the
cells where the number can still be placed, and one word with the houses that still lack it (bit `h`
= house `h` of `HOUSES`). Row 9 holds the empty cells. Every board comes with a grid, `(81,)` uint8.

A **naked single** is an empty cell with one candidate left; a **hidden single** is a number with
one place left in a house. Both are forced: a puzzle that singles alone finish has exactly one
solution. The kernels do not validate their arguments; the functions at the end do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from azumaya.envs.geometry.sudoku81 import CELLS, FULL, HOUSE_BOARDS, HOUSES, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ONE, U64, ZERO, bit, has, lowest, popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.puzzles.grid import Cells, PuzzleLike, as_cells, check_rule, to_text
from azumaya.envs.whole import whole_number

EMPTY = NUMBERS  # the row of the empty cells
LACKING = 2  # the column of the houses that lack a number

MOST_SOLUTIONS = 1_000_000
"""The most solutions that are collected at once."""

ALL_HOUSES = U64((1 << len(HOUSES)) - 1)
HOUSES_OF = np.array(
    [sum(1 << h for h, cells in enumerate(HOUSES) if c in cells) for c in range(CELLS)], U64
)
"""By cell, its three houses as bits, `(81,)` uint64."""


@kernel
def lay(board, grid, n, cell):
    """Place number `n + 1` on an empty cell."""
    word, others = cell >> 6, ~bit(cell & 63)
    for m in range(NUMBERS + 1):
        board[m, word] &= others
    board[n, 0] &= ~PEERS[cell, 0]
    board[n, 1] &= ~PEERS[cell, 1]
    board[n, LACKING] &= ~HOUSES_OF[cell]
    grid[cell] = n + 1


@kernel
def set_up(board, grid, puzzle):
    """Set up a board and a grid from a puzzle that obeys the Sudoku rule."""
    for m in range(NUMBERS + 1):
        board[m, 0], board[m, 1], board[m, LACKING] = FULL[0], FULL[1], ALL_HOUSES
    for cell in range(CELLS):
        grid[cell] = 0
        if puzzle[cell] != 0:
            lay(board, grid, np.int64(puzzle[cell]) - 1, cell)


@kernel
def find_naked(board, found):
    """Write the naked singles of every number to `found`, `(9, 2)`; False if a cell has none.

    All cells are processed at once: `once` and `twice` collect the cells with at least one and at
    least two candidates.
    """
    for w in range(2):
        once, twice = ZERO, ZERO
        for n in range(NUMBERS):
            twice |= once & board[n, w]
            once |= board[n, w]
        if board[EMPTY, w] & ~once != ZERO:
            return False
        for n in range(NUMBERS):
            found[n, w] = board[n, w] & ~twice
    return True


@kernel
def find_hidden(board, found):
    """Add the hidden singles of every number to `found`; False if a house has no place for one."""
    for n in range(NUMBERS):
        lacking = board[n, LACKING]
        while lacking != ZERO:
            house = lowest(lacking)
            lacking &= lacking - ONE
            first = board[n, 0] & HOUSE_BOARDS[house, 0]
            second = board[n, 1] & HOUSE_BOARDS[house, 1]
            places = popcount(first) + popcount(second)
            if places == 0:
                return False
            if places == 1:
                found[n, 0] |= first
                found[n, 1] |= second
    return True


@kernel
def lay_found(board, grid, found):
    """Place all singles found; returns how many, or -1 if two of them exclude each other."""
    laid = 0
    for n in range(NUMBERS):
        for w in range(2):
            left = found[n, w]
            while left != ZERO:
                place = lowest(left)
                left &= left - ONE
                if not has(board[n, w], place):
                    return -1
                lay(board, grid, n, 64 * w + place)
                laid += 1
    return laid


@kernel
def fill_singles(board, grid, found, tally):
    """Place singles, round after round, until none is left; False if the board has no solution.

    A round finds all singles of a position, then places them all. `tally` receives the number of
    rounds and the number of singles found in the first one.
    """
    tally[0], tally[1] = 0, 0
    while find_naked(board, found) and find_hidden(board, found):
        laid = lay_found(board, grid, found)
        if laid < 1:
            return laid == 0
        if tally[0] == 0:
            tally[1] = laid
        tally[0] += 1
    return False


@kernel
def is_full(board):
    """Whether no cell is empty."""
    return board[EMPTY, 0] | board[EMPTY, 1] == ZERO


@kernel
def options(board, cell):
    """The number of candidates of an empty cell."""
    total = 0
    for n in range(NUMBERS):
        if has(board[n, cell >> 6], cell & 63):
            total += 1
    return total


@kernel
def option(board, cell, k):
    """The candidate with index `k` of a cell, minus one."""
    for n in range(NUMBERS):
        if has(board[n, cell >> 6], cell & 63):
            if k == 0:
                return n
            k -= 1
    return -1


@kernel
def narrowest(board):
    """The first empty cell with the fewest candidates; no cell may have just one."""
    for w in range(2):
        once, twice, thrice = ZERO, ZERO, ZERO
        for n in range(NUMBERS):
            thrice |= twice & board[n, w]
            twice |= once & board[n, w]
            once |= board[n, w]
        if twice & ~thrice != ZERO:
            return 64 * w + lowest(twice & ~thrice)
    best, fewest = -1, NUMBERS + 1
    for cell in range(CELLS):
        if has(board[EMPTY, cell >> 6], cell & 63):
            here = options(board, cell)
            if here < fewest:
                best, fewest = cell, here
    return best


@kernel
def search(puzzle, limit, key, solutions):
    """Count the solutions of a puzzle, up to `limit`; the first ones go to `solutions`, (k, 81).

    A guess is played on a copy, one level up, and removed from the candidates of the original, so
    that returning to the original continues without it. `key` determines the order of guesses, so
    that the first solution of the empty puzzle is a random grid.
    """
    boards = np.empty((CELLS + 1, NUMBERS + 1, 3), np.uint64)
    grids = np.empty((CELLS + 1, CELLS), np.uint8)
    found, tally = np.empty((NUMBERS, 2), np.uint64), np.empty(2, np.int64)
    set_up(boards[0], grids[0], puzzle)
    level, count, draw = 0, 0, 0
    while level >= 0:
        board = boards[level]
        if not fill_singles(board, grids[level], found, tally):
            level -= 1
        elif is_full(board):
            if count < solutions.shape[0]:
                solutions[count] = grids[level]
            count += 1
            if count == limit:
                return count
            level -= 1
        else:
            cell = narrowest(board)
            n = option(board, cell, random_below(key, draw, options(board, cell)))
            draw += 1
            boards[level + 1] = board
            grids[level + 1] = grids[level]
            board[n, cell >> 6] &= ~bit(cell & 63)
            level += 1
            lay(boards[level], grids[level], n, cell)
    return count


@kernel
def singles(puzzle, grid, tally):
    """Place singles on `grid` as far as they lead; returns whether it is full.

    `tally` is as for `fill_singles`.
    """
    board, found = np.empty((NUMBERS + 1, 3), np.uint64), np.empty((NUMBERS, 2), np.uint64)
    set_up(board, grid, puzzle)
    return fill_singles(board, grid, found, tally) and is_full(board)


class Singles(NamedTuple):
    """How far naked and hidden singles alone lead.

    Attributes:
        solved: whether they finish the puzzle.
        rounds: the number of rounds, each of which places all singles of a position.
        ways_in: the number of singles in the puzzle itself, which the first round places.
        grid: the puzzle as far as they solve it, 81 characters.
    """

    solved: bool
    rounds: int
    ways_in: int
    grid: str


def _checked(puzzle: PuzzleLike) -> Cells:
    cells = as_cells(puzzle)
    check_rule(cells)
    return cells


def find_solutions(puzzle: PuzzleLike, limit: int = 2) -> list[str]:
    """The solutions of a puzzle, at most `limit` of them, in a fixed order.

    Raises:
        OptionError: `limit` is not a whole number from 1 to `MOST_SOLUTIONS`.
        PuzzleFormatError or PuzzleRuleError: see `count_solutions`.
    """
    most = whole_number(limit, "limit", 1, MOST_SOLUTIONS)
    cells = _checked(puzzle)
    solutions = np.zeros((most, CELLS), np.uint8)
    count = int(search(cells, most, U64(0), solutions))
    return [to_text(grid) for grid in solutions[:count]]


def count_solutions(puzzle: PuzzleLike, limit: int = 2) -> int:
    """The number of solutions of a puzzle; counting stops at `limit`, so 2 may mean "2 or more".

    Raises:
        OptionError: `limit` is not a whole number from 1 to 2**63 - 1.
        PuzzleFormatError: `puzzle` is not 81 cells.
        PuzzleRuleError: a number occurs twice in a house.
    """
    most = whole_number(limit, "limit", 1, 2**63 - 1)
    return int(search(_checked(puzzle), most, U64(0), np.zeros((0, CELLS), np.uint8)))


def solve(puzzle: PuzzleLike) -> str | None:
    """A solution, 81 digits, or None if there is none; if there are several, always the same one.

    Raises:
        PuzzleFormatError or PuzzleRuleError: see `count_solutions`.
    """
    return next(iter(find_solutions(puzzle, 1)), None)


def solve_by_singles(puzzle: PuzzleLike) -> Singles:
    """Solve a puzzle with naked and hidden singles only, as far as they lead.

    Raises:
        PuzzleFormatError or PuzzleRuleError: see `count_solutions`.
    """
    grid, tally = np.zeros(CELLS, np.uint8), np.zeros(2, np.int64)
    solved = bool(singles(_checked(puzzle), grid, tally))
    return Singles(solved, int(tally[0]), int(tally[1]), to_text(grid))
