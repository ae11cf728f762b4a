"""What Vierer-, Revers- and Score-Dominari share: the board, the turn, blanks, wrong turns.

    a6 .. f6     cell 0 .. 5      white is player_0 and starts, black is player_1;
     :    :        :    :         houses are the rows, the columns and the nine 2x2 blocks;
    a1 .. f1     cell 30 .. 35    no number stands twice in a house (Sudoku's rule)

A turn is one number stone of the own colour and then, while there are dead cells and blanks, any
number of blanks, one a step, until the player says `end` or nothing is left to fill. A cell is
dead if it is empty and Sudoku's rule alone lets no number lie there.

Actions: number n (from 1) on cell c is `(n - 1) * 36 + c`; blanks, `end` and `claim` follow.

Without a referee Sudoku's rule may be broken. The first step of a turn may then be a `claim` that
the opponent's turn just played was wrong. If it was, it is taken back; if the board is wrong from
before, the game is a draw; else nothing happens. A wrong turn that would end the game is taken
back by itself, and after 200 turns, those taken back included, the game is cut off.

What a turn to be taken back must restore is kept in `prior`, and only when its number was wrong:
the stones and blanks that lay there before are those on cells that had a colour, and the
constraint boards follow from the stones.

Source: "Sudoku goes Classic" (Spielpforte, Bambus Spielverlag) and `shared/rules.md`, 5 and 9.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.bits import ONE, U64, ZERO, bit, has, lowest, popcount, put, put_bit, put_byte
from azumaya.envs.compile import kernel
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Option, Plane, one_of
from azumaya.envs.geometry.dominari36 import CELLS, FULL, HOUSE_BOARDS, PEERS, SIZE

WHITE, BLACK = 0, 1
"""Players, and colours as indices of `state.colours`."""

NUMBER, BLANKS = 0, 1
"""Phases of a turn."""

BLANK_STONES = 12
"""Both players lay blanks from one stock."""

TURN_LIMIT = 200
TURN_STEPS = 1 + 1 + BLANK_STONES
"""Steps of one turn at most: a claim, the number, then blanks, of which `end` saves one."""

LINES = 2 * SIZE
"""The first so many of `HOUSE_BOARDS` are rows and columns, the others are blocks."""


MOST_POINTS = CELLS + 3 * LINES + 2 * (len(HOUSE_BOARDS) - LINES)
"""What a board full of one player's numbers would be worth."""


def fields(numbers: int) -> list[tuple[Any, ...]]:
    """The fields of a state that the games have in common."""
    return [
        ("candidates", U64, (numbers,)),  # per number: empty cells where it may be laid
        ("stones", U64, (numbers,)),  # per number: cells where it lies
        ("colours", U64, (2,)),  # by player: cells of the own numbers and blanks
        ("blanks", U64),  # cells of the blanks
        ("targets", U64),  # where the number of this turn may go, Sudoku's rule aside
        ("prior", U64, (2,)),  # `colours` before the turn, if that turn was wrong
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("phase", np.int64),
        ("claim", np.int64),  # may the player to move claim?
        ("wrong", np.int64),  # did the number of this turn, or of the one to claim, break the rule?
        ("turns", np.int64),  # turns played; counted without a referee only
        ("no_referee", np.int64),  # option
    ]


REFEREE = Option(
    "referee",
    True,
    "`True`, `False`",
    "`False`: numbers may be laid against Sudoku's rule, and the opponent may claim it.",
    one_of("referee", True, False),
)
REWARD = Option(
    "reward",
    "win",
    '`"win"`, `"margin"`',
    "`margin`: the winner gets the difference of the points, the loser its negative.",
    one_of("reward", "win", "margin"),
)


def planes(numbers: int) -> tuple[tuple[Plane, ...], tuple[Plane, ...]]:
    """The planes that the games have in common: those of cells, and those of numbers."""
    named = range(1, numbers + 1)
    cells = (
        *(Plane(f"candidate {n}", f"{n} may still be laid here by Sudoku's rule") for n in named),
        *(Plane(f"stone {n}", f"a {n} lies here") for n in named),
        Plane("own", "stones of the observer, blanks too"),
        Plane("opposing", "stones of the opponent, blanks too"),
        Plane("prior own", "without a referee: the observer's before the wrong turn just played"),
        Plane("prior opposing", "the same for the opponent; both empty if that turn was right"),
    )
    ones = (
        Plane("to move", "1 if the observer is to move, 2 if the game is over", "number", 2),
        Plane("phase", "0 a number is to be laid, 1 blanks may be", "number"),
        Plane("blanks", "blanks left", "number", BLANK_STONES),
        Plane("claim", "1 if the player to move may claim", "number"),
        Plane("turns", "without a referee: turns played, up to 100", "number", TURN_LIMIT // 2),
        Plane("late turns", "turns played after the 100th", "number", TURN_LIMIT // 2),
    )
    return cells, ones


COMMON_NUMBERS = 6
"""How many of the number planes are common."""


# ---- the board ----


@kernel
def taken(state):
    """The cells with a stone."""
    return state.colours[WHITE] | state.colours[BLACK]


@kernel
def fitting(state):
    """The cells where Sudoku's rule lets some number lie."""
    cells = ZERO
    for n in range(len(state.candidates)):
        cells |= state.candidates[n]
    return cells


@kernel
def dead_cells(state):
    """The empty cells where Sudoku's rule lets no number lie."""
    return FULL & ~(taken(state) | fitting(state))


@kernel
def can_fill(state):
    """Whether a blank can be laid: there is a dead cell and a blank left."""
    return dead_cells(state) != ZERO and popcount(state.blanks) < BLANK_STONES


@kernel
def can_lay(state):
    """Whether a number can be laid on one of the targets by Sudoku's rule."""
    return fitting(state) & state.targets != ZERO


@kernel
def seen_from(board):
    """The cells that share a house with a cell of a board."""
    cells = ZERO
    while board != ZERO:
        cells |= PEERS[lowest(board)]
        board &= board - ONE
    return cells


@kernel
def find_candidates(state):
    """Set the constraint boards from the stones."""
    empty = FULL & ~taken(state)
    for n in range(len(state.stones)):
        state.candidates[n] = empty & ~seen_from(state.stones[n])


@kernel
def breaks_rule(state):
    """Whether a number stands twice in a house."""
    for n in range(len(state.stones)):
        if seen_from(state.stones[n]) & state.stones[n] != ZERO:
            return True
    return False


# ---- the turn ----


@kernel
def lay_number(state, number, cell):
    """Lay a number (from 0) in the mover's colour; it is wrong where it is no candidate."""
    here = bit(cell)
    forget(state)
    if not has(state.candidates[number], cell):
        state.wrong = 1
        state.prior[WHITE] = state.colours[WHITE]
        state.prior[BLACK] = state.colours[BLACK]
    for n in range(len(state.candidates)):
        state.candidates[n] &= ~here
    state.candidates[number] &= ~PEERS[cell]
    state.stones[number] |= here
    state.colours[state.to_move] |= here


@kernel
def lay_blank(state, colour, cell):
    """Lay a blank on a dead cell, which is no number's candidate."""
    state.blanks |= bit(cell)
    state.colours[colour] |= bit(cell)


@kernel
def begin_blanks(state):
    """The same player goes on with blanks."""
    state.phase = BLANKS
    state.targets = ZERO


@kernel
def close_turn(state, mover, stands):
    """A turn is over and the next player known; `stands` is 0 if the turn was taken back."""
    state.phase = NUMBER
    count_turn(state)
    if state.no_referee and stands and state.to_move != mover:
        state.claim = 1
    else:
        forget(state)
    if state.turns >= TURN_LIMIT:
        state.over = TRUNCATED
        close(state)


@kernel
def count_turn(state):
    """One turn more was played; counted without a referee only."""
    state.turns += state.no_referee


@kernel
def finish(state, payoff, mover):
    """The game has ended by the rules; the side to move is whoever made the last step."""
    state.over = TERMINATED
    state.payoff = payoff
    state.to_move = mover
    close(state)


@kernel
def close(state):
    """Leave nothing behind that only a game going on needs."""
    state.phase = NUMBER
    state.targets = ZERO
    forget(state)


# ---- wrong turns ----


@kernel
def forget(state):
    """There is no turn to claim."""
    state.claim = 0
    state.wrong = 0
    state.prior[WHITE] = ZERO
    state.prior[BLACK] = ZERO


@kernel
def take_back(state):
    """Undo a wrong turn: stones, colours, blanks."""
    before = state.prior[WHITE] | state.prior[BLACK]
    state.colours[WHITE] = state.prior[WHITE]
    state.colours[BLACK] = state.prior[BLACK]
    state.blanks &= before
    for n in range(len(state.stones)):
        state.stones[n] &= before
    find_candidates(state)
    state.phase = NUMBER
    forget(state)


def finish_kernel(next_turn: Any, retract: Any, payoff: Any) -> Any:
    """The kernel `finish_turn(state, mover)`: a player's turn is over.

    A wrong turn is taken back where it would end the game.

    Args:
        next_turn: kernel `next_turn(state, mover)`: sets who is next and where the number may go;
            returns whether one can be laid there.
        retract: kernel `retract(state, mover)`: takes the turn back; the other player is next.
        payoff: kernel `payoff(state)`: what player_0 gains where the game ends.
    """

    @kernel
    def finish_turn(state, mover):
        if next_turn(state, mover):
            close_turn(state, mover, 1)
        elif state.wrong:
            retract(state, mover)
            close_turn(state, mover, 0)
        else:
            count_turn(state)
            finish(state, payoff(state), mover)

    return finish_turn


def claim_kernel(retract: Any) -> Any:
    """The kernel `claim(state)`: the turn just played is called wrong, see above."""

    @kernel
    def claim(state):
        claimant = state.to_move
        if state.wrong:
            retract(state, 1 - claimant)
        elif breaks_rule(state):
            finish(state, 0, claimant)
        else:
            forget(state)

    return claim


# ---- masks, observations, points ----


@kernel
def write_turn(state, words, blank_colours):
    """The legal actions; `blank_colours` is 2 where the mover may lay blanks of both colours."""
    if state.over:
        return
    numbers = len(state.candidates)
    blank = numbers * CELLS
    if state.phase == BLANKS:
        dead = dead_cells(state)
        for colour in range(blank_colours):
            put(words, blank + colour * CELLS, CELLS, dead)
        put_bit(words, blank + blank_colours * CELLS)
        return
    for n in range(numbers):
        allowed = FULL if state.no_referee else state.candidates[n]
        put(words, n * CELLS, CELLS, allowed & state.targets)
    if state.claim:
        put_bit(words, blank + blank_colours * CELLS + 1)


@kernel
def observe_turn(state, player, words, first_number):
    """The common planes; the numbers go to the bytes from `first_number` on."""
    numbers = len(state.candidates)
    for n in range(numbers):
        put(words, n * CELLS, CELLS, state.candidates[n])
        put(words, (numbers + n) * CELLS, CELLS, state.stones[n])
    for side in range(2):
        put(words, (2 * numbers + side) * CELLS, CELLS, state.colours[player ^ side])
        put(words, (2 * numbers + 2 + side) * CELLS, CELLS, state.prior[player ^ side])
    half = TURN_LIMIT // 2
    turn = np.int64(state.to_move == player) if state.over == RUNNING else 2
    put_byte(words, first_number, turn)
    put_byte(words, first_number + 1, state.phase)
    put_byte(words, first_number + 2, BLANK_STONES - popcount(state.blanks))
    put_byte(words, first_number + 3, state.claim)
    late = state.turns - half if state.turns > half else 0  # numba-cuda has no `max` of two
    put_byte(words, first_number + 4, state.turns - late)
    put_byte(words, first_number + 5, late)


@kernel
def points(state, player):
    """Each own number 1; a full own block 2, row or column 3, one less with a blank in it."""
    own = state.colours[player]
    total = popcount(own & ~state.blanks)
    for h in range(HOUSE_BOARDS.shape[0]):
        house = HOUSE_BOARDS[h]
        if own & house == house:
            total += 3 if h < LINES else 2
            if state.blanks & house != ZERO:
                total -= 1
    return total


@kernel
def payoff_of_points(state):
    """What player_0 gains when the points decide, for games with the option `reward`."""
    lead = points(state, WHITE) - points(state, BLACK)
    if state.margin:
        return lead
    return np.int64(lead > 0) - np.int64(lead < 0)
