"""Score-Dominari: the rules.

1. White's first number goes to a1, black's first to f6.
2. Every later number goes beside a stone of one's own colour. Blanks count as stones, and diagonal
   neighbours count.
3. A player who cannot place a number is skipped, and on their next turn may place one on any empty
   cell where the Sudoku rule allows it. The next number uses this right up, wherever it is placed.
   Both players may have the right at once.
4. Blanks are placed in the mover's own colour.
5. When a turn is over and every empty cell is dead, the game ends. More points win; equal points
   draw.

The numbers are 1 to 6. The turn, blanks, points and the game without a referee are in
`_dominari/turn.py`.

Source: "Sudoku goes Classic"; the whole contract and the decisions are in
`docs/games/score_dominari.md`.
How it ends: by rule 5; without a referee also by a draw after a claim or by the turn limit.
Bound: the board takes 36 stones, and each number is followed by at most one `end`, so 72 steps;
without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games._dominari.board import BLACK, NUMBER, WHITE
from azumaya.envs.games._dominari.turn import (
    can_lay,
    claim_kernel,
    finish_kernel,
    fitting,
    observe_turn,
    payoff_of_points,
    play_kernel,
    take_back,
    taken,
    write_legal_kernel,
)
from azumaya.envs.games.score_dominari.board import BOARD
from azumaya.envs.geometry.dominari36 import CELL, FULL, around
from azumaya.envs.kernels.bits import ZERO, bit, put_byte
from azumaya.envs.kernels.compile import kernel

AT = BOARD.at

CORNERS = np.array([CELL["a1"], CELL["f6"]])
"""By player, where the first number goes."""


# ---- rule predicates ----


@kernel
def places(state, player):
    """Rules 1 to 3: where a player's number may go, the Sudoku rule aside."""
    own, empty = state.colours[player], ~taken(state)
    if state.free[player]:
        return empty & FULL
    if own == ZERO:
        return bit(CORNERS[player]) & empty
    return around(own) & empty


# ---- kernels ----


@kernel
def after_stone(state, colour, cell):
    """Rule 3: a number uses the right up; a blank does not."""
    if state.phase == NUMBER:
        state.prior_free[WHITE] = state.free[WHITE]
        state.prior_free[BLACK] = state.free[BLACK]
        state.free[colour] = 0
    return False


@kernel
def next_turn(state, mover):
    """Set who is next, with skips and the rights they give (rule 3); False if the game ends."""
    if fitting(state) == ZERO:  # Rule 5
        return False
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    while not can_lay(state):
        state.free[state.to_move] = 1
        state.to_move = 1 - state.to_move
        state.targets = places(state, state.to_move)
    return True


@kernel
def retract(state, mover):
    """Undo a player's wrong turn, with the rights used and gained, and set who is next."""
    take_back(state)
    state.free[WHITE] = state.prior_free[WHITE]
    state.free[BLACK] = state.prior_free[BLACK]
    next_turn(state, mover)


play_turn = play_kernel(
    BOARD,
    after_stone,
    finish_kernel(next_turn, retract, payoff_of_points),
    claim_kernel(retract),
)
write_legal = write_legal_kernel(BOARD)


@kernel
def play(state, action):
    """Make a legal move; former rights are kept only while a wrong turn can be undone."""
    play_turn(state, action)
    if state.wrong == 0:
        state.prior_free[WHITE] = 0
        state.prior_free[BLACK] = 0


@kernel
def observe(state, player, packed):
    """Write the planes."""
    observe_turn(state, player, packed, AT)
    put_byte(packed, AT.own_right, state.free[player])
    put_byte(packed, AT.opposing_right, state.free[1 - player])
    put_byte(packed, AT.prior_own_right, state.prior_free[player])
    put_byte(packed, AT.prior_opposing_right, state.prior_free[1 - player])
    put_byte(packed, AT.margin, state.margin)
