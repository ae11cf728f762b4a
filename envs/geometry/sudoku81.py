"""The 9x9 board of nine 3x3 blocks; a set of cells is two 64-bit words (see `bits`)."""

import numpy as np

from azumaya.envs.geometry.grid import Grid
from azumaya.envs.kernels.bits import board_of

GRID = Grid(9, 3)
SIZE, CELLS, WORDS, NUMBERS = GRID.size, GRID.cells, GRID.words, 9
ROW_OF, COLUMN_OF, BLOCK_OF = GRID.row_of, GRID.column_of, GRID.block_of
SQUARES = GRID.squares
BLOCKS, HOUSES = GRID.blocks, GRID.houses

FULL = board_of(range(CELLS), WORDS)
"""All cells, `(2,)` uint64."""
LOW_BITS, HIGH_BITS = 64, CELLS - 64
"""How many bits of the two words of a set of cells are used."""
PEERS = GRID.peers
"""For each cell, the 20 other cells of its row, column and block, `(81, 2)` uint64."""
BLOCK_BOARDS = np.stack([board_of(cells, WORDS) for cells in BLOCKS])
"""The nine blocks, `(9, 2)` uint64."""
HOUSE_BOARDS = np.stack([board_of(cells, WORDS) for cells in HOUSES])
"""All 27 houses, `(27, 2)` uint64."""
