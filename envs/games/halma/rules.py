"""Halma-Dominari: the rules.

1. Each player has the numbers 1 to 6: white on a1 b1 c1 a2 b2 a3, black on f6 e6 d6 f5 e5 f4. The
   arrangement is drawn, given, or laid in turns (white 1, black 1, white 2, and so on).
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

Rules 2 to 4 are in `moves.py`. The start cells of the two players share no house, so rule 3 never
matters while stones are laid, and white can always begin (with b2 to c2).

Source: "Sudoku goes Classic" by Martin Pforte and Klaus-Peter Rudolph; the whole contract and the
decisions are in `docs/games/halma_dominari.md`.
How it ends: by rule 5 or 6.
Bound: every move takes a stone at least one cell nearer to its corner, counted in rows plus
columns. Six stones are together at most 10 + 9 + 9 + 8 + 8 + 8 = 52 away from it, and each needs
one more move to leave: 58 moves for the winner and 57 for the loser, after 12 steps of laying.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games.halma.board import (
    BLACK,
    CHOOSE,
    FIRST_NUMBER,
    NUMBERS,
    OFF_ACTION,
    OPPOSING_PLANE,
    PLAY,
    ROOM_PLANE,
    SHUFFLE,
    START_CELLS,
    WHITE,
)
from azumaya.envs.games.halma.moves import OFF, fits, goals, stones_of, taken_cells
from azumaya.envs.geometry.dominari36 import CELLS, COLUMN_OF, FULL, ROW_OF, SIZE
from azumaya.envs.kernels.bits import U64, ZERO, bit, lowest, popcount, put, put_byte, select
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.kernels.rows import any_bit, word_in
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
    """Where every stone may go, or where the next stone may be laid."""
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
    put_byte(packed, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(packed, FIRST_NUMBER + 1, np.int64(state.over != 0))
    put_byte(packed, FIRST_NUMBER + 2, np.int64(player == WHITE))
    put_byte(packed, FIRST_NUMBER + 3, np.int64(state.stage == CHOOSE))


@kernel
def reach(state, player, board):
    """The free cells to which a player's stones could go, or where the next one could be laid."""
    if state.stage == CHOOSE:
        board[0] = START[player] & ~stones_of(state, player)
        return
    found = goals(state, player, taken_cells(state))
    for n in range(NUMBERS):
        board[0] |= word_in(found, n) & FULL


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
