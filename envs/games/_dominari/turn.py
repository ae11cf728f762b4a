"""The turn that Vierer-, Revers- and Score-Dominari share: blanks, claims, masks, points.

1. A turn begins with a number of the mover's colour, placed by the Sudoku rule (no number may stand
   twice in a house) and by the game's own rule. It must be placed if any can be.
2. A cell is dead if it is empty and the Sudoku rule alone allows no number there. After the
   number, while there are dead cells and blanks left, the mover may place blanks on dead cells, one
   a step. The action `end` ends the turn; so does running out of dead cells or blanks.
3. Without a referee, numbers may break the Sudoku rule. A turn is wrong if its number did.
4. The first step of a turn may be a `claim` that the opponent's turn just played was wrong. If it
   was, it is undone. If it was right but the board breaks the Sudoku rule from an earlier turn, the
   game is a draw. Otherwise nothing happens. Each turn can be claimed once.
5. A wrong turn cannot end the game: where it would, it is undone at once.
6. Without a referee the game is cut off after 200 turns. Turns undone count.
7. Points, where a game uses them: 1 for each number of one's own colour, 2 for each block full of
   one's own stones, 3 for each such row or column; one point less for a house with a blank in it.

Source: "Sudoku goes Classic" (Spielpforte, Bambus Spieleverlag); the whole contract and the
decisions are in `docs/games/dominari.md`.

Only wrong turns can be undone, so `state.prior` holds the colours before a turn only if it was
wrong. The stones and blanks of that time are those on cells that had a colour, and the candidates
follow from the stones.

Kernels that depend on the game are made by functions (`play_kernel` and so on) that take the
game's own kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED
from azumaya.envs.games._dominari.board import (
    BLACK,
    BLANK_STONES,
    BLANKS,
    NUMBER,
    TURN_LIMIT,
    WHITE,
    Board,
)
from azumaya.envs.geometry.dominari36 import CELLS, FULL, HOUSE_BOARDS, PEERS, SIZE
from azumaya.envs.kernels.bits import ONE, ZERO, bit, has, lowest, popcount, put, put_bit, put_byte
from azumaya.envs.kernels.compile import kernel

ROWS_AND_COLUMNS = 2 * SIZE
"""`HOUSE_BOARDS` has this many rows and columns, then the blocks."""
MOST_POINTS = CELLS + 3 * ROWS_AND_COLUMNS + 2 * (len(HOUSE_BOARDS) - ROWS_AND_COLUMNS)
"""The points of a board full of one player's numbers."""


# ---- the board ----


@kernel
def taken(state):
    """The cells with a stone."""
    return state.colours[WHITE] | state.colours[BLACK]


@kernel
def fitting(state):
    """The cells where the Sudoku rule allows some number."""
    cells = ZERO
    for n in range(len(state.candidates)):
        cells |= state.candidates[n]
    return cells


@kernel
def dead_cells(state):
    """Rule 2: the empty cells where the Sudoku rule allows no number."""
    return FULL & ~(taken(state) | fitting(state))


@kernel
def can_fill(state):
    """Rule 2: whether there is a dead cell and a blank left."""
    return dead_cells(state) != ZERO and popcount(state.blanks) < BLANK_STONES


@kernel
def can_lay(state):
    """Rule 1: whether the Sudoku rule allows a number on one of the targets."""
    return fitting(state) & state.targets != ZERO


@kernel
def seen_from(board):
    """The cells that share a house with some other cell that is on a board."""
    cells = ZERO
    while board != ZERO:
        cells |= PEERS[lowest(board)]
        board &= board - ONE
    return cells


@kernel
def find_candidates(state):
    """Set the candidates from the stones."""
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


@kernel
def points(state, player):
    """Rule 7."""
    own = state.colours[player]
    total = popcount(own & ~state.blanks)
    for h in range(HOUSE_BOARDS.shape[0]):
        house = HOUSE_BOARDS[h]
        if own & house == house:
            total += 3 if h < ROWS_AND_COLUMNS else 2
            if state.blanks & house != ZERO:
                total -= 1
    return total


@kernel
def lead(state, player):
    """By how many points a player leads."""
    return points(state, player) - points(state, 1 - player)


@kernel
def payoff_of_points(state):
    """What player_0 gains when the points decide, in games with the option `reward`."""
    difference = lead(state, WHITE)
    if state.margin:
        return difference
    return np.int64(difference > 0) - np.int64(difference < 0)


# ---- steps ----


@kernel
def lay_number(state, number, cell):
    """Rule 1: place a number (from 0) in the mover's colour; it is wrong unless a candidate."""
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
    """Rule 2: place a blank on a dead cell, which is no candidate of any number."""
    state.blanks |= bit(cell)
    state.colours[colour] |= bit(cell)


@kernel
def begin_blanks(state):
    """Let the same player go on with blanks."""
    state.phase = BLANKS
    state.targets = ZERO


@kernel
def close_turn(state, mover, stands):
    """Close a turn once the next player is set; `stands` is 0 if the turn was undone."""
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
    """Count a turn played; only games without a referee count them."""
    state.turns += state.no_referee


@kernel
def finish(state, payoff, mover):
    """End the game by the rules; the side to move stays the player who made the last step."""
    state.over = TERMINATED
    state.payoff = payoff
    state.to_move = mover
    close(state)


@kernel
def close(state):
    """Clear what only a running game needs."""
    state.phase = NUMBER
    state.targets = ZERO
    forget(state)


# ---- wrong turns ----


@kernel
def forget(state):
    """Leave no turn to claim or to undo."""
    state.claim = 0
    state.wrong = 0
    state.prior[WHITE] = ZERO
    state.prior[BLACK] = ZERO


@kernel
def take_back(state):
    """Undo the stones, colours and blanks of a wrong turn."""
    before = state.prior[WHITE] | state.prior[BLACK]
    state.colours[WHITE] = state.prior[WHITE]
    state.colours[BLACK] = state.prior[BLACK]
    state.blanks &= before
    for n in range(len(state.stones)):
        state.stones[n] &= before
    find_candidates(state)
    state.phase = NUMBER
    forget(state)


# ---- kernels made for a game ----


def retract_kernel(next_turn: Any) -> Any:
    """The kernel `retract(state, mover)`: undo the mover's wrong turn and set who is next.

    Args:
        next_turn: as for `finish_kernel`.
    """

    @kernel
    def retract(state, mover):
        take_back(state)
        next_turn(state, mover)

    return retract


def finish_kernel(next_turn: Any, retract: Any, payoff: Any) -> Any:
    """The kernel `finish_turn(state, mover)`: a player's turn is over (rule 5).

    Args:
        next_turn: kernel `next_turn(state, mover)`: sets who is next and where their number may
            go; returns whether one can be placed there, False if the game ends.
        retract: kernel `retract(state, mover)`: undoes the turn and sets who is next.
        payoff: kernel `payoff(state)`: what player_0 gains if the game ends.
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
    """The kernel `claim(state)`: the player to move claims (rule 4)."""

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


def play_kernel(board: Board, after_stone: Any, finish_turn: Any, claim: Any) -> Any:
    """The kernel `play(state, action)`: one step of a turn (rules 1, 2 and 4).

    Args:
        board: the game's board.
        after_stone: kernel `after_stone(state, colour, cell)`: what follows from a stone just
            placed, while the player who placed it is still to move; returns whether that ended the
            turn.
        finish_turn: the kernel made by `finish_kernel`.
        claim: the kernel made by `claim_kernel`.
    """
    blank, end, claiming = board.blank, board.end, board.claim
    choose_colour = board.blank_colours == 2

    @kernel
    def play(state, action):
        mover = state.to_move
        if action == claiming:
            claim(state)
            return
        if action != end:
            colour, cell = mover, action % CELLS
            if state.phase == BLANKS:
                if choose_colour:
                    colour = (action - blank) // CELLS
                lay_blank(state, colour, cell)
            else:
                lay_number(state, action // CELLS, cell)
            if after_stone(state, colour, cell):
                return
            if can_fill(state):
                begin_blanks(state)
                return
        finish_turn(state, mover)

    return play


def write_legal_kernel(board: Board) -> Any:
    """The kernel `write_legal(state, packed)`: candidates on targets, or dead cells and `end`."""
    blank, end, claiming = board.blank, board.end, board.claim
    numbers, blank_colours = board.numbers, board.blank_colours

    @kernel
    def write_legal(state, packed):
        if state.over:
            return
        if state.phase == BLANKS:
            dead = dead_cells(state)
            for colour in range(blank_colours):
                put(packed, blank + colour * CELLS, CELLS, dead)
            put_bit(packed, end)
            return
        for n in range(numbers):
            allowed = FULL if state.no_referee else state.candidates[n]
            put(packed, n * CELLS, CELLS, allowed & state.targets)
        if state.claim:
            put_bit(packed, claiming)

    return write_legal


# ---- observations ----


@kernel
def observe_turn(state, player, packed, at):
    """Write the planes that all three games have; `at` is that of the board."""
    numbers = len(state.candidates)
    for n in range(numbers):
        put(packed, n * CELLS, CELLS, state.candidates[n])
        put(packed, (numbers + n) * CELLS, CELLS, state.stones[n])
    for side in range(2):
        put(packed, (2 * numbers + side) * CELLS, CELLS, state.colours[player ^ side])
        put(packed, (2 * numbers + 2 + side) * CELLS, CELLS, state.prior[player ^ side])
    half = TURN_LIMIT // 2
    turn = np.int64(state.to_move == player) if state.over == RUNNING else 2
    put_byte(packed, at.to_move, turn)
    put_byte(packed, at.phase, state.phase)
    put_byte(packed, at.blanks, BLANK_STONES - popcount(state.blanks))
    put_byte(packed, at.claim, state.claim)
    late = max(state.turns - half, 0)
    put_byte(packed, at.turns, state.turns - late)
    put_byte(packed, at.late_turns, late)
