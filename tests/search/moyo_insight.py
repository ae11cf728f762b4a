"""What Sudoku Moyo could tell a solver, for tests of the hooks and for measurements."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import Insight
from azumaya.envs.games.shima.board import PLAY, ROW
from azumaya.envs.games.shima.stones import own, word_of
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ONE, ZERO, lowest, popcount
from azumaya.envs.kernels.compile import kernel


@kernel
def outlook(state, row):
    """The stones that may still be laid, the player to move and the stage."""
    for w in range(ROW):
        row[w] = state.candidates[w]
    row[ROW] = np.uint64(state.to_move + 2 * state.stage + 32 * state.streak)
    row[ROW + 1] = np.uint64(state.handicap + 16 * state.light + 32 * state.handicap_player)
    row[ROW + 2] = np.uint64(state.starter)
    row[ROW + 3] = np.uint64(state.over)


@kernel
def seen(board, word, cells):
    """Or to `cells` the peers of the cells set in one word of a board."""
    while board != ZERO:
        cell = 64 * word + lowest(board)
        board &= board - ONE
        cells[0] |= PEERS[cell, 0]
        cells[1] |= PEERS[cell, 1]


@kernel
def room(state, player):
    """How many stones a player can lay at most, and how many whatever the opponent does."""
    mine, theirs = own(state, player), own(state, 1 - player)
    alive0, alive1, used0, used1, safe = ZERO, ZERO, ZERO, ZERO, 0
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        own0, own1 = low & state.territory[mine, 0], high & word_of(state.territory[mine], 0, 1)
        alive0 |= own0
        alive1 |= own1
        other0 = low & state.territory[theirs, 0]
        other1 = high & word_of(state.territory[theirs], 0, 1)
        left0, left1 = own0 & ~used0, own1 & ~used1
        while other0 != ZERO:
            cell = lowest(other0)
            other0 &= other0 - ONE
            left0 &= ~PEERS[cell, 0]
            left1 &= ~PEERS[cell, 1]
        while other1 != ZERO:
            cell = 64 + lowest(other1)
            other1 &= other1 - ONE
            left0 &= ~PEERS[cell, 0]
            left1 &= ~PEERS[cell, 1]
        while left0 | left1 != ZERO:
            cell = lowest(left0) if left0 != ZERO else 64 + lowest(left1)
            safe += 1
            if cell < 64:
                used0 |= ONE << np.uint64(cell)
                left0 &= left0 - ONE
            else:
                used1 |= ONE << np.uint64(cell - 64)
                left1 &= left1 - ONE
            left0 &= ~PEERS[cell, 0]
            left1 &= ~PEERS[cell, 1]
    return popcount(alive0) + popcount(alive1), safe


@kernel
def bounds(state):
    """Who cannot be stopped from laying more stones than the other can has won."""
    if state.stage != PLAY or state.points:
        return -CELLS, CELLS
    for w in range(ROW):
        if state.candidates[w] & ~(state.territory[0, w] | state.territory[1, w]) != ZERO:
            return -1, 1
    mover = state.to_move
    sign = 1 - 2 * mover
    most, sure = room(state, mover)
    their_most, their_sure = room(state, 1 - mover)
    if sure > their_most:
        return sign, sign
    if their_sure >= most:
        return -sign, -sign
    return -1, 1


INSIGHT = Insight(bounds, outlook, ROW + 4)
