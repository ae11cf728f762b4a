"""Revers-Dominari: the rules.

1. At the start four different numbers fill the centre block, white on c3 and d4, black on c4 and
   d3.
2. A number must be placed so that it captures at least one stone. A player who cannot place one is
   skipped, and places no blanks either.
3. Captured stones turn over to the mover's colour. Blanks are captured like other
   stones. A stone captures:
   a. a line: opposing stones without a gap along a row or column, between it and another stone of
      the mover;
   b. round a corner: an opposing stone that is beside it and beside a stone of the mover that is
      diagonal to it;
   c. a pair: two opposing stones that make a 2x2 square with it and a stone of the mover beside it.
   All captures are worked out on the board as it is when the stone is placed; then all captured
   stones turn over together.
4. Blanks are placed in white or black, as the mover likes. A blank of the mover's own colour
   captures by rule 3, but need not capture anything. A blank of the other colour never captures.
5. When a turn is over and neither player can place a number, the game ends. More points win; equal
   points draw.

The numbers are 1 to 6. The turn, blanks, points and the game without a referee are in
`_dominari/turn.py`.

Source: "Sudoku goes Classic"; the whole contract and the decisions are in
`docs/games/revers_dominari.md`.
How it ends: by rule 5; without a referee also by a draw after a claim or by the turn limit.
Bound: 32 cells are free at the start, and each number is followed by at most one `end`, so 64
steps; without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

from azumaya.envs.games._dominari.board import BLACK, WHITE
from azumaya.envs.games._dominari.turn import (
    can_lay,
    claim_kernel,
    finish_kernel,
    observe_turn,
    payoff_of_points,
    play_kernel,
    retract_kernel,
    write_legal_kernel,
)
from azumaya.envs.games.revers_dominari.board import BOARD
from azumaya.envs.geometry.dominari36 import CELL, DOWN, LEFT, RIGHT, SIZE, UP, step
from azumaya.envs.kernels.bits import ZERO, bit, put_byte
from azumaya.envs.kernels.compile import kernel

AT = BOARD.at

CENTRE = tuple(CELL[square] for square in ("c4", "d4", "c3", "d3"))
"""The centre block, in the order of the option `centre`."""
CENTRE_COLOURS = (BLACK, WHITE, WHITE, BLACK)
DIRECTIONS = 4
LONGEST_LINE = SIZE - 2
"""The most stones that one line captures."""


# ---- rule predicates ----


@kernel
def captured(own, other, here):
    """Rule 3: the opposing stones that a stone captures; `here` is its cell, as a board."""
    caught = ZERO
    for direction in range(DIRECTIONS):  # a
        line = step(here, direction) & other
        for _ in range(LONGEST_LINE - 1):
            line |= step(line, direction) & other
        if step(line, direction) & own != ZERO:
            caught |= line
    for across in (RIGHT, LEFT):
        for along in (DOWN, UP):
            side, post = step(here, across), step(here, along)
            corner = step(side, along)
            if corner & own != ZERO:  # b
                caught |= (side | post) & other
            elif corner & other != ZERO:  # c
                if side & own != ZERO and post & other != ZERO:
                    caught |= corner | post
                if post & own != ZERO and side & other != ZERO:
                    caught |= corner | side
    return caught


@kernel
def capturing(own, other):
    """Rule 3: the cells, free or not, from which a stone captures something."""
    cells = ZERO
    for direction in range(DIRECTIONS):  # a
        line = step(own, direction) & other
        for _ in range(LONGEST_LINE - 1):
            line |= step(line, direction) & other
        cells |= step(line, direction)
    for across in (RIGHT, LEFT):
        own_side, other_side = step(own, across), step(other, across)
        for along in (DOWN, UP):
            own_post, other_post = step(own, along), step(other, along)
            cells |= step(own_side, along) & (other_side | other_post)  # b
            square = (own_side & other_post) | (own_post & other_side)
            cells |= step(other_side, along) & square  # c
    return cells


@kernel
def places(state, player):
    """Rule 2: where a player's number may go, the Sudoku rule aside."""
    own, other = state.colours[player], state.colours[1 - player]
    return capturing(own, other) & ~(own | other)


# ---- kernels ----


@kernel
def after_stone(state, colour, cell):
    """Rules 3 and 4: turn over what a stone of the mover's colour captures."""
    if colour == state.to_move:
        caught = captured(state.colours[colour], state.colours[1 - colour], bit(cell))
        state.colours[colour] |= caught
        state.colours[1 - colour] &= ~caught
    return False


@kernel
def next_turn(state, mover):
    """Set who is next after a player's turn (rule 2); False if the game ends (rule 5)."""
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    if can_lay(state):
        return True
    state.to_move = mover
    state.targets = places(state, mover)
    return can_lay(state)


retract = retract_kernel(next_turn)
play = play_kernel(
    BOARD,
    after_stone,
    finish_kernel(next_turn, retract, payoff_of_points),
    claim_kernel(retract),
)
write_legal = write_legal_kernel(BOARD)


@kernel
def observe(state, player, packed):
    """Write the planes."""
    observe_turn(state, player, packed, AT)
    put_byte(packed, AT.colour, 1 - player)
    put_byte(packed, AT.margin, state.margin)
