"""Sudoku tiles, the Sudoku of Brettspielnetz: the rules.

1. Of 81 tiles, nine of each number, nine lie on the board at random, one in each row and each
   column, no number twice in a row, column or block.
2. The other tiles are shuffled. The player to move is shown the next one and lays it on an empty
   cell, so that no number appears twice in a row, column or block (the Sudoku rule).
3. The tile laid scores a point for each tile already in its row, column or block, each counted
   once.
4. The game ends when the tile drawn fits nowhere, or the tiles run out. More points win; equal
   points draw.

With `misplacement` a tile may go to any empty cell. If it breaks the Sudoku rule there, it scores
nothing and is put aside for good.

Source: the rules of Brettspielnetz (2024). The game's page, with all options, is
`docs/games/sudoku_tiles.md`.
Decisions: tiles put aside; random starts are equally likely among all that obey rule 1; the first
tile is drawn from those that fit.
End: rule 4.
Bound: every step uses up a tile, so a game has at most 81 steps.

Actions, state and planes are in `board`. `reset` and `resample`, which deal and shuffle, are in
`deal`.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games.tiles.board import FIRST_NUMBER, FITS_PLANE, HUNDRED
from azumaya.envs.games.tiles.deal import draw, fits, lay
from azumaya.envs.geometry.sudoku81 import CELLS, HIGH_BITS, LOW_BITS, NUMBERS, PEERS, WORDS
from azumaya.envs.kernels.bits import ZERO, has, nibble, popcount, put, put_byte
from azumaya.envs.kernels.compile import kernel

# ---- rule predicates ----


@kernel
def may_lie(state, w):
    """Rule 2: word `w` of the cells on which the drawn tile may be laid by the Sudoku rule."""
    return state.candidates[state.tile - 1, w] if state.tile else ZERO


@kernel
def points_on(state, cell):
    """Rule 3: how many tiles lie in the row, column and block of a cell."""
    near = 0
    for w in range(WORDS):
        near += popcount(PEERS[cell, w] & ~state.empty[w])
    return near


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """The candidates of the drawn number; with `misplacement` all empty cells."""
    if state.over:
        return
    for w in range(WORDS):
        packed[w] = state.empty[w] if state.misplacement else may_lie(state, w)


@kernel
def play(state, action):
    """Lay the drawn tile on a cell, or put it aside, and draw the next."""
    mover, number = state.to_move, state.tile - 1
    if has(state.candidates[number, action >> 6], action & 63):
        gain = points_on(state, action)
        state.scores[mover] += gain
        if state.points:
            state.payoff += gain if mover == 0 else -gain
        lay(state, number, action)
    if state.height == 0:
        state.tile = 0
        finish(state)
        return
    draw(state)
    if fits(state, state.tile - 1):
        state.to_move = 1 - mover
    else:
        finish(state)


@kernel
def finish(state):
    """Rule 4: end the game; the side to move stays the player who made the last step."""
    state.over = TERMINATED
    if not state.points:
        lead = state.scores[0] - state.scores[1]
        state.payoff = np.int64(lead > 0) - np.int64(lead < 0)


@kernel
def observe(state, player, packed):
    """Write the planes `PLANES`."""
    for n in range(NUMBERS):
        put_board(packed, n, state.stones[n, 0], state.stones[n, 1])
    put_board(packed, FITS_PLANE, may_lie(state, 0), may_lie(state, 1))
    put_byte(packed, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(packed, FIRST_NUMBER + 1, state.tile)
    at = FIRST_NUMBER + 2
    for n in range(NUMBERS):
        put_byte(packed, at + n, nibble(state.left, n))
    at += NUMBERS
    for side in range(2):
        score = state.scores[player ^ side]
        put_byte(packed, at + 2 * side, score // HUNDRED)
        put_byte(packed, at + 2 * side + 1, score % HUNDRED)
    put_byte(packed, at + 4, state.misplacement)
    put_byte(packed, at + 5, state.points)


@kernel
def put_board(packed, plane, low, high):
    """Write a set of cells as one plane."""
    put(packed, plane * CELLS, LOW_BITS, low)
    put(packed, plane * CELLS + LOW_BITS, HIGH_BITS, high)


@kernel
def evaluate(state, player):
    """The player's points minus the opponent's."""
    return state.scores[player] - state.scores[1 - player]
