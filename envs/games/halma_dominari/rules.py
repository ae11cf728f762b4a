"""Halma-Dominari: the rules.

1. Each player has the numbers 1 to 6: white on a1 b1 c1 a2 b2 a3, black on f6 e6 d6 f5 e5 f4. The
   arrangement is drawn, given, or placed in turns (white 1, black 1, white 2, and so on).
2. A move takes one stone to a neighbouring free cell, or jumps over exactly one neighbouring stone
   of either colour to the free cell just behind it, any number of times in a row. Every step and
   jump goes forward: for white up, right, or both at once; for black down, left, or both. Stones
   jumped over stay.
3. After the move no number may stand twice in a row, column or block. Cells on which a stone lands
   between two jumps need only be free.
4. A stone on the opponent's corner (f6 for white, a1 for black) may step off the board. A stone
   that jumps over a stone on that corner leaves the board, also at the end of a chain. A stone that
   lands on the corner stays there. A stone can leave in no other way.
5. A player who can move must move. A player who cannot is skipped. If neither can, the game is a
   draw.
6. The first player to have borne off all six stones wins.

The legal moves of a player's six stones are found at once: a row (see `kernels/rows.py`) has a
board for each number, and shifting the row finds the steps, jumps and ways off the board of all of
them. The start cells of the two players share no house, so rule 3 never matters while stones are
placed, and white can always begin (with b2 to c2).

Source: "Sudoku goes Classic" by Martin Pforte and Klaus-Peter Rudolph; the whole contract and the
decisions are in `docs/games/halma_dominari.md`.
How it ends: by rule 5 or 6.
Bound: every move takes a stone at least one cell nearer to its corner, counted in rows plus
columns. Six stones are together at most 10 + 9 + 9 + 8 + 8 + 8 = 52 away from it, and each needs
one more move to leave: 58 moves for the winner and 57 for the loser, after 12 steps of placing.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games.halma_dominari.board import (
    AT,
    BLACK,
    CHOOSE,
    NUMBERS,
    OFF_ACTION,
    OPPOSING_PLANE,
    PLAY,
    ROOM_PLANE,
    SHUFFLE,
    START_CELLS,
    WHITE,
)
from azumaya.envs.geometry.dominari36 import CELLS, COLUMN_OF, FULL, PEERS, ROW_OF, SIZE
from azumaya.envs.kernels.bits import ONE, U64, ZERO, bit, lowest, popcount, put, put_byte, select
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.kernels.rows import any_bit, everywhere, load, with_word, word_in
from azumaya.envs.kernels.states import copy_state

MAX_STEPS = 12 + 58 + 57
START = np.array([sum(1 << cell for cell in cells) for cells in START_CELLS], U64)
"""By player, the start cells, `(2,)` uint64."""
DISTANCE = np.array(
    [
        [SIZE - 1 - COLUMN_OF[c] + ROW_OF[c] + 1 for c in range(CELLS)],
        [COLUMN_OF[c] + SIZE - 1 - ROW_OF[c] + 1 for c in range(CELLS)],
    ]
)
"""By player and cell, rows plus columns to the corner, and one more to leave the board."""

# ---- rules 2 to 4: steps, jumps, and ways off the board ----

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


# ---- rule predicates ----


@kernel
def can_move(state, player):
    """Rule 5: whether a player could move if it were their turn."""
    return any_bit(goals(state, player, taken_cells(state)))


@kernel
def laid(state, player):
    """How many stones a player has on the board."""
    return popcount(stones_of(state, player))


# ---- kernels ----


@kernel
def reset(states, i, starts, key):
    """Begin an episode; draw the arrangements if the start asks for it (rule 1)."""
    copy_state(states, i, starts, 0)
    state = states[i]
    if state.stage == SHUFFLE:
        state.stage = PLAY
        for player in range(2):
            free = START[player]
            for n in range(NUMBERS):
                k = random_below(key, player * NUMBERS + n, NUMBERS - n)
                state.stones[player, n] = bit(select(free, k))
                free ^= state.stones[player, n]


@kernel
def write_legal(state, packed):
    """Where every stone may go, or where the next stone may be placed."""
    if state.over:
        return
    player = state.to_move
    if state.stage == CHOOSE:
        put(packed, laid(state, player) * CELLS, CELLS, START[player] & ~stones_of(state, player))
        return
    found, leaving = goals(state, player, taken_cells(state)), ZERO
    for n in range(NUMBERS):
        cells = word_in(found, n)
        put(packed, n * CELLS, CELLS, cells & FULL)
        leaving |= (cells >> OFF) << U64(n)
    put(packed, OFF_ACTION, NUMBERS, leaving)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if action >= OFF_ACTION:
        state.stones[mover, action - OFF_ACTION] = ZERO
    else:
        state.stones[mover, action // CELLS] = bit(action % CELLS)
    if state.stage == CHOOSE:
        state.to_move = 1 - mover
        if mover == BLACK and laid(state, BLACK) == NUMBERS:
            state.stage = PLAY
    else:
        end_turn(state, mover)


@kernel
def end_turn(state, mover):
    """Rules 5 and 6: the game ends, or the next player is to move."""
    if stones_of(state, mover) == ZERO:
        state.over = TERMINATED
        state.payoff = 1 - 2 * mover
    elif can_move(state, 1 - mover):
        state.to_move = 1 - mover
    elif not can_move(state, mover):
        state.over = TERMINATED


@kernel
def observe(state, player, packed):
    """Write the planes."""
    free = FULL & ~taken_cells(state)
    for n in range(NUMBERS):
        put(packed, n * CELLS, CELLS, state.stones[player, n])
        put(packed, (OPPOSING_PLANE + n) * CELLS, CELLS, state.stones[1 - player, n])
        put(packed, (ROOM_PLANE + n) * CELLS, CELLS, free & fits(state, player, n))
    put_byte(packed, AT.to_move, np.int64(state.to_move == player and not state.over))
    put_byte(packed, AT.over, np.int64(state.over != 0))
    put_byte(packed, AT.white, np.int64(player == WHITE))
    put_byte(packed, AT.laying, np.int64(state.stage == CHOOSE))


@kernel
def evaluate(state, player):
    """How far the opponent's stones have to go, less how far the player's have to go."""
    total = 0
    for n in range(NUMBERS):
        for side in range(2):
            stone = state.stones[side, n]
            if stone:
                way = DISTANCE[side, lowest(stone)]
                total += way if side != player else -way
    return total
