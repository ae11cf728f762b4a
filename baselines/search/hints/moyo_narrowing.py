"""Moves in Sudoku Moyo that are never better than another one, so that a solver can leave them out.

In the graph of `moyo_endgame`, let `u` and `v` be two stones that the player to move may place.
Placing `u` is at least as good as placing `v` if `u` takes all opposing stones that `v` takes, and
no own ones but `v` itself and those that `v` takes, too:

- If they exclude each other, the player keeps at least as many stones after `u`, and the opponent
  at most as many.
- If they do not, `v` can still be placed after `u`, and nothing threatens it any more. So the
  player can reply to everything as they would have after `v`, and place `v` instead of `u`.

`narrow` looks for this where it is common: among stones with the same number, and among harmless
stones, which take nothing from the opponent.
"""

from __future__ import annotations

from azumaya.baselines.search.hints.moyo_endgame import (
    alone,
    cell_at,
    is_graph,
    next_cell,
    occupancy,
    side_of,
    take_cell,
)
from azumaya.baselines.search.hints.moyo_race import spread
from azumaya.envs.games._shima.board import ROW
from azumaya.envs.games._shima.stones import row_from, word_of
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ZERO
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import load, store


@kernel
def drop(packed, number, low, high):
    """Clear the moves that place a number on a set of cells."""
    if low | high == ZERO:
        return
    store(packed, 0, load(packed, 0, ROW) & ~row_from(number * CELLS, low, high))


@kernel
def surpassed(cell, low, high, other0, other1):
    """The cells of a set on which a number is never better than on `cell`, its only candidate.

    `low` and `high` are the player's candidates of the number, `other` the opponent's.
    """
    taken0, taken1 = other0 & PEERS[cell, 0], other1 & PEERS[cell, 1]
    lost0, lost1 = low & PEERS[cell, 0], high & PEERS[cell, 1]
    here0, here1 = cell_at(cell)
    left0, left1, found0, found1 = low & ~here0, high & ~here1, ZERO, ZERO
    while left0 | left1 != ZERO:
        there, there0, there1, left0, left1 = take_cell(left0, left1)
        seen0, seen1 = PEERS[there, 0], PEERS[there, 1]
        more = (other0 & seen0 & ~taken0) | (other1 & seen1 & ~taken1)
        extra = (lost0 & ~seen0 & ~there0) | (lost1 & ~seen1 & ~there1)
        if more | extra == ZERO:
            found0 |= there0
            found1 |= there1
    return found0, found1


@kernel
def narrow_number(packed, number, low, high, other0, other1, only0, only1):
    """Drop surpassed moves with one number; `only` are cells without another candidate."""
    only0 &= low
    only1 &= high
    while only0 | only1 != ZERO:
        cell = next_cell(only0, only1)
        here0, here1 = cell_at(cell)
        worse0, worse1 = surpassed(cell, low, high, other0, other1)
        only0 &= ~(here0 | worse0)
        only1 &= ~(here1 | worse1)
        drop(packed, number, worse0, worse1)


@kernel
def sort_number(state, packed, number):
    """The player's remaining moves with a number, by their cells.

    Returns those that are harmless and those without own peers, two words each.
    """
    mine0, mine1 = side_of(state, state.to_move)
    theirs0, theirs1 = side_of(state, 1 - state.to_move)
    low, high = word_of(state.candidates, number, 0), word_of(state.candidates, number, 1)
    seen0, seen1 = spread(low & theirs0, high & theirs1)
    left0, left1 = word_of(packed, number, 0), word_of(packed, number, 1)
    free0, free1 = alone(low & mine0, high & mine1, left0, left1)
    return left0 & ~seen0, left1 & ~seen1, free0, free1


@kernel
def narrow_harmless(state, packed, many0, many1):
    """Drop harmless moves where another move that stays costs no other own stone either.

    A move without own peers is at least as good as the harmless ones of its cell, and if it is the
    only candidate of its cell, as all harmless ones. `many` are the cells with several candidates.
    """
    harm0, harm1, quiet0, quiet1 = ZERO, ZERO, ZERO, ZERO  # cells with a move without own peers
    for n in range(NUMBERS):
        low, high, free0, free1 = sort_number(state, packed, n)
        harm0 |= free0 & ~low
        harm1 |= free1 & ~high
        quiet0 |= free0 & low
        quiet1 |= free1 & high
    if (harm0 & ~many0) | (harm1 & ~many1) != ZERO:
        harm0, harm1 = ~ZERO, ~ZERO
    one = (quiet0 & ~many0) | (quiet1 & ~many1) != ZERO  # one quiet move is enough for all cells
    if one:
        quiet0 &= ~many0
        quiet1 &= ~many1
    kept0, kept1 = harm0, harm1
    for n in range(NUMBERS):
        low, high, free0, free1 = sort_number(state, packed, n)
        stay0 = low & free0 & quiet0 & ~kept0
        stay1 = high & free1 & quiet1 & ~kept1
        if one and stay0 | stay1 != ZERO:
            stay0, stay1 = cell_at(next_cell(stay0, stay1))
            kept0, kept1 = ~ZERO, ~ZERO
        kept0 |= stay0
        kept1 |= stay1
        if not one:
            low &= harm0 | quiet0
            high &= harm1 | quiet1
        drop(packed, n, low & ~stay0, high & ~stay1)


@kernel
def narrow(state, packed):
    """Clear moves of a packed row of legal ones that are never better than one that stays."""
    if not is_graph(state):
        return
    mine0, mine1 = side_of(state, state.to_move)
    theirs0, theirs1 = side_of(state, 1 - state.to_move)
    _, _, many0, many1 = occupancy(state)
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        narrow_number(
            packed, n, low & mine0, high & mine1, low & theirs0, high & theirs1, ~many0, ~many1
        )
    narrow_harmless(state, packed, many0, many1)
