"""Legal moves of Halma-Dominari: rules 2 to 4 of `rules.py`, for a player's six stones at once.

A row (see `kernels/rows.py`) has a board for each number, so that shifting the row finds the steps,
jumps and ways off the board of all stones together.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games.halma.board import BLACK, NUMBERS, WHITE
from azumaya.envs.geometry.dominari36 import CELLS, COLUMN_OF, FULL, PEERS, SIZE
from azumaya.envs.kernels.bits import ONE, U64, ZERO, lowest
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, everywhere, load, with_word, word_in

WAYS = 3
"""Ways forward: straight on, sideways, both at once."""

_LAST = FULL & ~U64(sum(1 << cell for cell in range(CELLS) if COLUMN_OF[cell] == SIZE - 1))
_FIRST = FULL & ~U64(sum(1 << cell for cell in range(CELLS) if COLUMN_OF[cell] == 0))
KEPT = np.array([[FULL, _LAST, _LAST], [FULL, _FIRST, _FIRST]])
"""By player and way, the cells from which that way does not cross the left or right edge."""
DOWN_BITS = np.array([[6, 0, 5], [0, 1, 0]], U64)
UP_BITS = np.array([[0, 1, 0], [6, 0, 5]], U64)
"""By player and way, how far a board is shifted to lower and to higher cells."""

EXITS = np.array([[5, 4, 10, 11], [30, 24, 25, 31]], U64)
"""By player, the cells a stone can leave from: the corner (f6, a1), then those around it."""
CORNER = ONE << EXITS[:, 0]
"""By player, the corner its stones leave by."""
GATE = np.bitwise_or.reduce(ONE << EXITS[:, 1:], axis=1)
"""By player, the cells from which a stone jumps over that corner."""
CLASHES = np.append(PEERS, np.zeros(64 - CELLS + 1, U64))
"""By cell, the other cells of its row, column and block; none at index 64, `lowest` of no stone."""
OFF = U64(CELLS)
"""The bit after those of the cells: it is set if a stone may leave."""


@kernel
def forward(board, player, way):
    """A board shifted one cell forward; cells shifted off the board are lost."""
    board = board & KEPT[player, way]
    return (board >> DOWN_BITS[player, way] << UP_BITS[player, way]) & FULL


@kernel
def stones_of(state, player):
    """The cells of a player's stones."""
    board = ZERO
    for n in range(NUMBERS):
        board |= state.stones[player, n]
    return board


@kernel
def taken_cells(state):
    """The cells with a stone."""
    return stones_of(state, WHITE) | stones_of(state, BLACK)


@kernel
def fits(state, player, number):
    """Rule 3: the cells where a number (from 0) clashes with none of the opponent's."""
    return FULL & ~CLASHES[lowest(state.stones[1 - player, number])]


@kernel
def stones_row(state, player):
    """A player's stones by number, as a row."""
    return load(state.stones, player * NUMBERS, NUMBERS)


@kernel
def room(state, player):
    """Rule 3 for all of a player's numbers, as a row."""
    row = stones_row(state, player)
    for n in range(NUMBERS):
        row = with_word(row, n, fits(state, player, n))
    return row


@kernel
def steps_from(stones, player, taken):
    """Rule 2: where one step can take stones, given as a row or as one board."""
    cells = forward(stones, player, 0)
    for way in range(1, WAYS):
        cells = cells | forward(stones, player, way)
    return cells & ~taken


@kernel
def jumps_from(stones, player, taken):
    """Rule 2: the cells that each of a row of stones can reach by jumps: a flood from each."""
    landed, fresh = everywhere(ZERO, NUMBERS), stones
    while any_bit(fresh):
        found = forward(forward(fresh, player, 0) & taken, player, 0)
        for way in range(1, WAYS):
            found = found | forward(forward(fresh, player, way) & taken, player, way)
        fresh = found & ~taken
        landed = landed | fresh
    return landed


@kernel
def goals(state, player, taken):
    """Where each of a player's stones may go, as a row; bit `OFF` is set if it may leave."""
    stones = stones_row(state, player)
    landed = jumps_from(stones, player, taken)
    cells = (landed | steps_from(stones, player, taken)) & room(state, player)
    gate = GATE[player] if CORNER[player] & taken else ZERO
    leaving = (stones & CORNER[player]) | ((stones | landed) & gate)  # Rule 4
    off = leaving >> EXITS[player, 0]
    for e in range(1, EXITS.shape[1]):
        off = off | (leaving >> EXITS[player, e])
    return cells | ((off & ONE) << OFF)


@kernel
def jumps_of(state, player, number, taken):
    """Rule 2: the cells that the stone of one number can reach by jumps."""
    return word_in(jumps_from(stones_row(state, player), player, taken), number)


@kernel
def goals_of(state, player, number, taken):
    """Where the stone of one number may go, as `goals`."""
    return word_in(goals(state, player, taken), number)
