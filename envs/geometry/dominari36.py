"""The 6x6 board of nine 2x2 blocks; a set of cells is one 64-bit word."""

import numpy as np

from azumaya.envs.geometry.grid import Grid
from azumaya.envs.kernels.bits import board_of

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
