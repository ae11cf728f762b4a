"""Abalone: the rules.

1. A move shifts one, two or three of one's own marbles, side by side in one line, by one cell in
   one direction: in line or broadside. Cells moved into must be free, except in a push.
2. A push is a move in line of two marbles against one, or three against one or two, directly in
   front, with a free cell or the edge behind them. A marble pushed off the board is out. A player's
   own marbles never leave the board. A move in line takes the trailing marble and all of the
   player's marbles in front of it without a gap, so it is illegal if these are more than three; a
   marble behind the trailing one stays.
3. Pushing is never forced. The first player to push out six opposing marbles wins.
4. A player who is to move but has no legal move loses. At `max_plies` the game is cut off, with
   nothing for either player or, with `tiebreak="marbles"`, won by whoever has pushed out more.

Source: the rules of the game by Michel Lalet and Laurent Lévi; the whole contract and the decisions
are in `docs/games/abalone.md`. Legal moves are found in `moves.py`.
Decisions: `max_plies` counts from the `ply=` of a start position; it is at most 2,097,151.
How it ends: by rule 3 or 4, or at the limit.
Bound: `max_plies` steps. Without a limit there is none, since marbles can go back and forth for
ever; `max_steps` is then `NO_BOUND`.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED, TRUNCATED
from azumaya.envs.games.abalone.board import (
    FIRST_NUMBER,
    FIRST_THREE,
    FIRST_TWO,
    TO_WIN,
)
from azumaya.envs.games.abalone.moves import (
    MOVE_PLACE,
    MOVE_WAYS,
    in_line,
    write_lines,
    write_sides,
)
from azumaya.envs.geometry.hex61 import (
    DIRECTIONS,
    DISCS,
    FULL,
    HIGH_BITS,
    LOW_BITS,
    LOW_ROWS,
    RADIUS,
    SIZE,
    array_rows,
    facing,
    shifted,
)
from azumaya.envs.kernels.bits import ZERO, bit, popcount, put, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit

NO_BOUND = 2**31 - 1
"""The bound on steps of a game without a limit."""
MARBLE_SCORE = 16
"""What `evaluate` gives for a marble: more than a move can change centrality, which is five marbles
by one step each."""


# ---- rule predicates ----


@kernel
def free_cells(state):
    """The cells without a marble."""
    return FULL & ~(state.marbles[0] | state.marbles[1])


@kernel
def can_move(state, player):
    """Rule 4: whether a player could move if it were their turn.

    A marble beside a free cell can go there. If there is none, there are no broadsides either, and
    only pushes off the board are left.
    """
    own, theirs, free = state.marbles[player], state.marbles[1 - player], free_cells(state)
    for direction in range(DIRECTIONS):
        if own & facing(free, direction):
            return True
    return any_bit(in_line(own, theirs, free))


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """Set the bits of all legal moves."""
    if state.over:
        return
    own, theirs = state.marbles[state.to_move], state.marbles[1 - state.to_move]
    free = free_cells(state)
    write_lines(own, theirs, free, packed)
    write_sides(own, free, packed)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    first, ways = bit(MOVE_PLACE[action]), np.int64(MOVE_WAYS[action])
    axis, direction = ways >> 3, ways & 7
    if action < FIRST_TWO:
        move_in_line(state, mover, first, direction)
    else:
        group = first | shifted(first, axis)
        if action >= FIRST_THREE:
            group |= shifted(group, axis)
        state.marbles[mover] = (state.marbles[mover] ^ group) | shifted(group, direction)
    state.ply += 1
    end_turn(state, mover)


@kernel
def move_in_line(state, mover, first, direction):
    """Rule 2: move the player's marbles from the trailing one on, and those they push."""
    own, theirs = state.marbles[mover], state.marbles[1 - mover]
    second = shifted(first, direction) & own
    third = shifted(second, direction) & own
    line = first | second | third
    front = shifted(line, direction) & ~line
    one = front & theirs
    pushed = one | (shifted(one, direction) & theirs)
    behind = shifted(pushed, direction) & ~pushed
    state.marbles[mover] = (own ^ first) | front
    state.marbles[1 - mover] = (theirs ^ one) | behind
    if one != ZERO and behind == ZERO:
        state.out[1 - mover] += 1


@kernel
def end_turn(state, mover):
    """Rules 3 and 4: the game ends, or the other player is to move."""
    other = 1 - mover
    if state.out[other] >= TO_WIN or not can_move(state, other):
        state.over = TERMINATED
        state.payoff = 1 - 2 * mover
        return
    state.to_move = other
    if state.max_plies > 0 and state.ply >= state.max_plies:
        state.over = TRUNCATED
        state.payoff = state.tiebreak * tiebreak_payoff(state)


@kernel
def tiebreak_payoff(state):
    """1 if player_0 has pushed out more marbles, -1 if fewer, 0 if equally many."""
    return np.int64(state.out[1] > state.out[0]) - np.int64(state.out[1] < state.out[0])


@kernel
def observe(state, player, packed):
    """Write the planes."""
    put_plane(packed, 0, state.marbles[player])
    put_plane(packed, 1, state.marbles[1 - player])
    put_plane(packed, 2, FULL)
    left = state.max_plies - state.ply if state.max_plies > 0 else 0
    put_byte(packed, FIRST_NUMBER, np.int64(state.to_move == player and not state.over))
    put_byte(packed, FIRST_NUMBER + 1, np.int64(state.over != 0))
    put_byte(packed, FIRST_NUMBER + 2, state.out[player])
    put_byte(packed, FIRST_NUMBER + 3, state.out[1 - player])
    put_byte(packed, FIRST_NUMBER + 4, left >> 14)
    put_byte(packed, FIRST_NUMBER + 5, left >> 7 & 127)
    put_byte(packed, FIRST_NUMBER + 6, left & 127)
    put_byte(packed, FIRST_NUMBER + 7, state.tiebreak)


@kernel
def put_plane(packed, plane, marbles):
    """Write one plane of cells: a board in the 9x9 array of `hex61.array_rows`."""
    start = plane * SIZE * SIZE
    put(packed, start, LOW_BITS, array_rows(marbles, 0, LOW_ROWS))
    put(packed, start + LOW_BITS, HIGH_BITS, array_rows(marbles, LOW_ROWS, SIZE))


@kernel
def evaluate(state, player):
    """Marbles first, then centrality: 4 for a marble in the centre, 0 for one on the edge."""
    own, theirs = state.marbles[player], state.marbles[1 - player]
    total = MARBLE_SCORE * (state.out[1 - player] - state.out[player])
    for k in range(RADIUS):
        total += popcount(own & DISCS[k]) - popcount(theirs & DISCS[k])
    return total
