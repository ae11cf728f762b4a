r"""The hexagonal board of 61 cells, rows `a` (bottom) to `i` (top), as bits of one 64-bit word.

        i5 i6 i7 i8 i9          cell 0 .. 4        NW  NE
      h4 h5 h6 h7 h8 h9              5 .. 10         \ /
    g3 g4 g5 g6 g7 g8 g9             11 .. 17     W -- o -- E
      :                              :               / \
        a1 a2 a3 a4 a5               56 .. 60      SW  SE

A cell has a number in reading order (`i5` = 0, `a5` = 60) and a **place**, its bit on a board.
Places are chosen so that a step in any direction is one rotation of the 61 bits: modulo 61, a step
east adds 1 to the place, north-west 13 and north-east 14. This gives 61 different places because a
hexagon of 3n(n+1)+1 cells tiles the plane by translations, and because 14 is a sixth root of unity
modulo 61, as north-east is a sixth of a turn from east. The places of a row are consecutive, so one
shift per row converts places to rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import load

CELLS, SIZE = 61, 9
RADIUS = 4
"""Steps from the centre to the edge."""
NE, E, SE, SW, W, NW = range(6)
DIRECTIONS = 6
DIRECTION_NAMES = ("NE", "E", "SE", "SW", "W", "NW")
STEPS = ((1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0), (0, 1))
"""For each direction, what a step adds to (number, letter)."""

ROW_RANGES = tuple(
    (max(0, letter - RADIUS), min(SIZE, letter + RADIUS + 1)) for letter in reversed(range(SIZE))
)
"""For each row from the top, the range of its cells' numbers (from 0): first, last + 1."""
ROW_LENGTHS = tuple(end - first for first, end in ROW_RANGES)
COORDINATES = tuple(
    (number, SIZE - 1 - row)
    for row, (first, end) in enumerate(ROW_RANGES)
    for number in range(first, end)
)
"""The (number, letter) of each cell, both from 0."""
CELL_AT = {at: cell for cell, at in enumerate(COORDINATES)}
SQUARES = tuple(f"{'abcdefghi'[letter]}{number + 1}" for number, letter in COORDINATES)
"""The name of each cell."""
CELL = {square: cell for cell, square in enumerate(SQUARES)}
"""The cell of each name."""
NEIGHBOUR = tuple(
    tuple(CELL_AT.get((number + right, letter + up)) for right, up in STEPS)
    for number, letter in COORDINATES
)
"""For each cell and direction, the neighbour, or None off the board."""


def distance(cell: int) -> int:
    """Steps from a cell to the centre, `e5`."""
    right, up = COORDINATES[cell][0] - RADIUS, COORDINATES[cell][1] - RADIUS
    return max(abs(right), abs(up), abs(right - up))


# ---- boards ----

_EAST, _NORTH_WEST = 1, 13
ROTATION = np.array([(right * _EAST + up * _NORTH_WEST) % CELLS for right, up in STEPS], U64)
"""For each direction, what a step adds to a place, modulo 61."""
_BACK = U64(CELLS) - ROTATION

PLACE = tuple((right * _EAST + up * _NORTH_WEST) % CELLS for right, up in COORDINATES)
"""The place of each cell."""
CELL_OF_PLACE = tuple(PLACE.index(place) for place in range(CELLS))
"""The cell of each place."""


def board(cells: Iterable[int]) -> np.uint64:
    """The board, a uint64, on which exactly these cells are set."""
    return U64(sum(1 << PLACE[cell] for cell in set(cells)))


def cells_on(word: np.uint64 | int) -> list[int]:
    """The cells set on a board, ascending."""
    bits = int(word)
    return [cell for cell in range(CELLS) if bits >> PLACE[cell] & 1]


FULL = board(range(CELLS))
"""All cells."""
HAS = np.array(
    [board(c for c in range(CELLS) if NEIGHBOUR[c][d] is not None) for d in range(DIRECTIONS)]
)
"""For each direction, the cells that have a neighbour there, `(6,)` uint64."""
DISCS = np.array([board(c for c in range(CELLS) if distance(c) <= k) for k in range(RADIUS)])
"""The cells at most 0, 1, 2 and 3 steps from the centre, `(4,)` uint64."""


@kernel
def turned(boards, rotation, back, kept):
    """A board rotated back, or a row of boards, each by its own rotation; only `kept` stays."""
    return ((boards >> rotation) | (boards << back)) & kept


@kernel
def facing(word, direction):
    """The cells whose neighbour in a direction is on a board."""
    return turned(word, ROTATION[direction], _BACK[direction], HAS[direction])


def turns(directions: Iterable[int]) -> np.ndarray:
    """The argument `by` of `facing_each` for these directions, `(3, n)` uint64."""
    chosen = list(directions)
    return np.stack([ROTATION[chosen], _BACK[chosen], HAS[chosen]])


@kernel
def facing_each(boards, by, size):
    """`facing` for a row of `size` boards, each in its own direction; `by` comes from `turns`."""
    return turned(boards, load(by, 0, size), load(by, size, size), load(by, 2 * size, size))


@kernel
def shifted(word, direction):
    """A board moved one step in a direction; cells at that edge are lost."""
    word = word & HAS[direction]
    return ((word << ROTATION[direction]) | (word >> _BACK[direction])) & FULL


# ---- the 9x9 array of an observation ----


def array_cell(number: int, letter: int) -> int:
    """The cell of the array, row by row from the top, for a number and a letter from 0."""
    return SIZE * (SIZE - 1 - letter) + number


ARRAY_CELL = tuple(array_cell(number, letter) for number, letter in COORDINATES)
"""For each cell of the board, its cell of the array."""

ROW_PLACE = np.array(
    [PLACE[CELL_AT[first, SIZE - 1 - r]] for r, (first, _) in enumerate(ROW_RANGES)], U64
)
"""For each row from the top, the place of its first cell."""
ROW_MASK = np.array([(1 << length) - 1 for length in ROW_LENGTHS], U64)
_ROW_BIT = np.array([SIZE * r + first for r, (first, _) in enumerate(ROW_RANGES)], U64)
LOW_ROWS = 7
"""Rows of the array whose cells lie within its first 64 bits."""
LOW_BITS, HIGH_BITS = LOW_ROWS * SIZE, (SIZE - LOW_ROWS) * SIZE


@kernel
def array_rows(word, first, end):
    """Rows `first` to `end - 1` of a board in the 9x9 array, beginning at bit 0.

    The array has the rows from the top and the numbers from the left: the cell (number, letter) is
    at column `number`, row `8 - letter`. This shears the board; the six neighbours of a cell are
    among the eight around it (NE and SW become the diagonal).
    """
    bits = word ^ word
    start = U64(first * SIZE)
    for row in range(first, end):
        bits |= ((word >> ROW_PLACE[row]) & ROW_MASK[row]) << (_ROW_BIT[row] - start)
    return bits
