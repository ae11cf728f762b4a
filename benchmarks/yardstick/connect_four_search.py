"""Connect Four: what a solver is told about a position (`bounds`, `outlook` and `rank`).

Rows are counted from 1 at the bottom. A base is the lowest empty cell of a column if it is in an
even row, that is, if the column has an odd number of empty cells. The bounds rest on what the
player who is not to move, the follower, can do until the game is over:

A. In a column without a base the follower answers every move in the same column, and so gets the
   empty cells of the even rows (claimeven).
B. Bases are joined in twos: when the opponent takes one, the follower takes the other
   (baseinverse). So the follower gets one of the two, and the even rows above both.
C. When o is to move, the number of bases is odd, and one is left over. Suppose that x has a threat
   above it in an odd row, that is, a cell which completes a four. Here, too, x answers in the same
   column, and so gets the odd rows up to the threat. At the end, if not before, o has to play just
   below the threat, and x wins.
D. Nothing is played above a threat that the follower gets.

So the opponent does not win if each four that the opponent could still complete has a cell that
the follower gets by A, B or C, or that is never played by D. If o is the follower, x then gains a
draw at most, and loses if the even rows give o a four. If x is the follower, x wins by C.

Source: Victor Allis, "A Knowledge-based Approach of Connect-Four" (1988), for A and B.

Boards are wide here: each row has an eighth cell that is always empty, so that no line of four
cells goes round the edge. As in a state, they begin at the top left.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.kernels.bits import U64, ZERO, board_of, lowest, popcount
from azumaya.envs.kernels.compile import kernel

WIDE = Rectangle(height=6, width=8)
HEIGHT, WIDTH = WIDE.height, WIDE.width
ROWS = np.array([board_of(row[:-1], 1)[0] for row in WIDE.rows])
ROWS_BEFORE = ROWS >> np.arange(HEIGHT, dtype=U64)
"""The rows as they are in a state, whose boards are not wide."""
BOARD = np.bitwise_or.reduce(ROWS)
EVEN = np.bitwise_or.reduce(ROWS[::2])
"""Rows 2, 4 and 6."""
ODD = BOARD ^ EVEN
FIRST_COLUMN = board_of(range(0, 64, WIDTH), 1)[0]
"""The first column, and below it that of `HEADED`."""
MIDDLES = np.array([board_of([c for c in range(WIDE.cells) if k <= c % WIDTH <= 6 - k], 1)[0]
                    for k in (1, 2, 3)])  # fmt: skip
"""The five, three and one columns in the middle."""

UP = U64(WIDTH)
SIDEWAYS = np.array([1, WIDTH - 1, WIDTH + 1], U64)
STEPS = np.array([1, WIDTH - 1, WIDTH, WIDTH + 1], U64)
"""The steps between the cells of a four; `SIDEWAYS` lacks that of a column."""
HEADED = BOARD << UP | ROWS[0]
"""The board moved down by a row, and the row that then fits above it."""
OUTLOOK_WORDS = 2


# ---- boards ----


@kernel
def widen(board):
    """The wide form of a state's board."""
    wide = ZERO
    for row in range(ROWS_BEFORE.shape[0]):
        wide |= (board & ROWS_BEFORE[row]) << U64(row)
    return wide


@kernel(wraps=True)
def first(cells):
    """The first of some cells, or none if there are none."""
    return cells & (ZERO - cells)


@kernel
def above(cells):
    """The cells above any of some cells."""
    found = cells >> UP
    for _ in range(HEIGHT - 2):
        found |= found >> UP
    return found


@kernel
def holds_four(cells):
    """Whether some of the cells are a four."""
    for d in range(STEPS.shape[0]):
        pairs = cells & (cells >> STEPS[d])
        if pairs & (pairs >> (STEPS[d] + STEPS[d])) != ZERO:
            return True
    return False


@kernel
def in_fours(cells):
    """Those of the cells that are in a four of them."""
    found = ZERO
    for d in range(STEPS.shape[0]):
        one, two = STEPS[d], STEPS[d] + STEPS[d]
        pairs = cells & (cells >> one)
        begins = pairs & (pairs >> two)
        begins |= begins << one
        found |= begins | begins << two
    return found


@kernel
def threats(discs, empty):
    """The empty cells that would complete a four of these discs."""
    found = (discs >> UP) & (discs >> (UP + UP)) & (discs >> (UP + UP + UP))
    for d in range(SIDEWAYS.shape[0]):
        one, two = SIDEWAYS[d], SIDEWAYS[d] + SIDEWAYS[d]
        three = one + two
        found |= (discs << one) & (discs << two) & (discs << three | discs >> one)
        found |= (discs >> one) & (discs >> two) & (discs >> three | discs << one)
    return found & empty


@kernel
def reflected(board):
    """The board with left and right exchanged."""
    found = ZERO
    for column in range(WIDTH - 1):
        found |= ((board >> U64(column)) & FIRST_COLUMN) << U64(WIDTH - 2 - column)
    return found


# ---- bounds ----


@kernel
def bounds(state):
    """What the player to move gains at least and at most."""
    mover = state.to_move
    own, other = widen(state.discs[mover]), widen(state.discs[1 - mover])
    empty = BOARD & ~(own | other)
    landing = empty & ~(empty >> UP)
    if threats(own, empty) & landing != ZERO:
        return 1, 1
    feared = threats(other, empty)
    if not parries(landing, feared):
        return -1, -1
    if mover == 0:
        return -1, most_of_x(other, feared, empty, landing)
    return -1, most_of_o(other, feared, empty, landing)


@kernel
def parries(landing, feared):
    """Whether there is a move after which the opponent cannot win at once by a feared threat."""
    now = feared & landing
    moves = landing & ~(feared << UP)
    if now != ZERO:
        moves &= now
    return moves != ZERO and now == first(now)


@kernel
def most_of_x(discs, feared, empty, landing):
    """The most that x, who is to move, can gain; the discs and the threats are those of o."""
    bases = landing & EVEN
    sure = empty & EVEN & ~bases
    if not stopped(BOARD & ~(discs | sure | above(feared & sure)), bases):
        return 1
    return -1 if holds_four(discs | sure) else 0


@kernel
def most_of_o(discs, feared, empty, landing):
    """The most that o, who is to move, can gain; the discs and the threats are those of x."""
    bases = landing & EVEN
    left = bases
    while left != ZERO:
        base = first(left)
        left ^= base
        column = FIRST_COLUMN << U64(lowest(base) & 7)
        goals = feared & ODD & column
        if goals != ZERO:
            sure = empty & (EVEN & ~bases & ~column | ODD & column)
            if stopped(BOARD & ~(discs | sure | above(goals | feared & sure)), bases ^ base):
                return -1
    return 1


@kernel
def stopped(free, bases):
    """Whether, with some way to join the bases (B), no four of the free cells can be completed.

    The bases are among the free cells. With six of them, which is rare, the answer is no.
    """
    if holds_four(free & ~bases) or popcount(bases) > 4:
        return False
    one = first(bases)
    left = rest = bases ^ one
    while left != ZERO:
        other = first(left)
        left ^= other
        if divided(free, one, other, rest ^ other):
            return True
    return bases == ZERO


@kernel
def divided(free, one, other, more):
    """The same if two bases are joined, and the other two as well, if there are more."""
    third = first(more)
    fourth = more ^ third
    return not (
        holds_four(free & ~(one | third))
        or holds_four(free & ~(one | fourth))
        or holds_four(free & ~(other | third))
        or holds_four(free & ~(other | fourth))
    )


# ---- outlook and rank ----


@kernel
def outlook(state, row):
    """The empty cells, and the discs in fours that their owner can still complete.

    A position and its reflection have the same row. The first board is one row lower and marks the
    cell above each column's discs.
    """
    x, o = widen(state.discs[0]), widen(state.discs[1])
    rest = HEADED & ~((x | o) << UP)
    one = (x & in_fours(BOARD & ~o)) << UP | rest & ~(rest >> UP)
    other = o & in_fours(BOARD & ~x)
    one_back, other_back = reflected(one), reflected(other)
    if one_back < one or (one_back == one and other_back < other):
        one, other = one_back, other_back
    row[0], row[1] = one, other


@kernel
def rank(state, player):
    """The threats of a player; with equal threats, how near the middle the discs are."""
    own, other = widen(state.discs[player]), widen(state.discs[1 - player])
    near = 0
    for i in range(MIDDLES.shape[0]):
        near += popcount(own & MIDDLES[i])
    return 64 * popcount(threats(own, BOARD & ~(own | other))) + near
