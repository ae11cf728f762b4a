"""The 6x6 board of nine 2x2 blocks; a set of cells is one 64-bit word."""

from __future__ import annotations

import numpy as np

from azumaya.envs.geometry.grid import Grid
from azumaya.envs.kernels.bits import ONE, SIX, U64, ZERO, board_of
from azumaya.envs.kernels.compile import kernel

GRID = Grid(6, 2)
SIZE, CELLS = GRID.size, GRID.cells
ROW_OF, COLUMN_OF, BLOCK_OF = GRID.row_of, GRID.column_of, GRID.block_of
SQUARES, CELL = GRID.squares, GRID.cell_of
ROWS, COLUMNS, BLOCKS, HOUSES = GRID.rows, GRID.columns, GRID.blocks, GRID.houses

FULL = board_of(range(CELLS), 1)[0]
"""All cells, a uint64."""
PEERS = GRID.peers[:, 0]
"""For each cell, the other cells of its row, column and block, `(36,)` uint64."""
HOUSE_BOARDS = np.array([board_of(house, 1)[0] for house in HOUSES])
"""The 21 houses, `(21,)` uint64."""


# ---- shifts from word to word; cells moved off the board are lost ----

RIGHT, LEFT, DOWN, UP = 0, 1, 2, 3
"""Directions; the opposite of `d` is `d ^ 1`. The horizontal ones come first."""

_KEPT = np.array(
    [FULL & ~board_of(COLUMNS[5], 1)[0], FULL & ~board_of(COLUMNS[0], 1)[0], FULL, FULL]
)
"""For each direction, the cells that can be shifted without wrapping into another row."""
_FORTH = np.array([ONE, ZERO, SIX, ZERO], U64)
_BACK = np.array([ZERO, ONE, ZERO, SIX], U64)


@kernel
def step(board, direction):
    """Every cell of a board moved one step in a direction."""
    return ((board & _KEPT[direction]) << _FORTH[direction] >> _BACK[direction]) & FULL


@kernel
def beside(board):
    """The cells that share an edge with a cell of the board."""
    return step(board, RIGHT) | step(board, LEFT) | step(board, DOWN) | step(board, UP)


@kernel
def around(board):
    """The cells that share an edge or a corner with a cell of the board."""
    level = step(board, RIGHT) | step(board, LEFT)
    wide = board | level
    return level | step(wide, DOWN) | step(wide, UP)
