"""What a solver can know about the end of a game of Sudoku Moyo without searching.

Once nothing fits in the neutral region, a position is a graph. Its vertices are the stones that may
still be laid, each owned by the player in whose regions it would lie. Two stones are neighbours if
they share a cell, or if they have the same number and share a house. Laying a stone removes it and
its neighbours, and the player who cannot lay a stone loses. Two facts follow:

- Removing a stone of a player's own never helps that player, and removing one of the opponent's
  never hurts. This justifies `simplify`.
- A position is at least as good for a player as a sum of small independent games that the player
  can always treat separately. `lead` adds up the values of such games; it justifies `bounds`.

All of this needs regions that are rows, columns or blocks. With other regions nothing is known.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games.shima.board import PLAY, REGION_BITS, ROW
from azumaya.envs.games.shima.stones import neutral_room, own, region_word, word_of
from azumaya.envs.geometry.sudoku81 import (
    BLOCK_OF,
    CELLS,
    COLUMN_OF,
    NUMBERS,
    PEERS,
    ROW_OF,
    WORDS,
)
from azumaya.envs.kernels.bits import ONE, U64, ZERO, board_of, lowest, popcount
from azumaya.envs.kernels.compile import kernel

HOUSE_REGIONS = np.stack(
    [
        [
            board_of((c for c in range(CELLS) if house_of[c] >> b & 1), WORDS)
            for b in range(REGION_BITS)
        ]
        for house_of in (BLOCK_OF, ROW_OF, COLUMN_OF)
    ]
)
"""Regions that are houses: `(3, 4, 2)` uint64, each cell's region number bit by bit."""
ROUNDS = 3
"""The most rounds of `simplify`; a removal may make further ones possible."""
OUTLOOK_WORDS = ROW + 3
"""Words in a row of `outlook`."""


# ---- sets of cells ----


@kernel
def regions_are_houses(state):
    """Whether regions are rows, columns or blocks, so that cells have no peers but `PEERS`."""
    for kind in range(HOUSE_REGIONS.shape[0]):
        same = True
        for b in range(REGION_BITS):
            same &= state.regions[b, 0] == HOUSE_REGIONS[kind, b, 0]
            same &= state.regions[b, 1] == HOUSE_REGIONS[kind, b, 1]
        if same:
            return True
    return False


@kernel
def is_graph(state):
    """Whether the position is a graph as described at the top, won by the last move."""
    if state.stage != PLAY or state.points or state.over:
        return False
    return regions_are_houses(state) and not neutral_room(state)


@kernel
def side_of(state, player):
    """The cells of a player's regions, as two words."""
    side = own(state, player)
    return state.territory[side, 0], word_of(state.territory[side], 0, 1)


@kernel
def next_cell(low, high):
    """The lowest cell of a set that is not empty."""
    return lowest(low) if low != ZERO else 64 + lowest(high)


@kernel
def cell_at(cell):
    """The set of one cell, as two words."""
    index = U64(cell & 63)
    return (ONE << index, ZERO) if cell < 64 else (ZERO, ONE << index)


@kernel
def remove(state, number, cell):
    """Remove a candidate."""
    at = number * CELLS + cell
    state.candidates[at >> 6] &= ~(ONE << U64(at & 63))


@kernel
def occupancy(state):
    """The cells that have candidates and those that have several, two words each."""
    any0, any1, many0, many1 = ZERO, ZERO, ZERO, ZERO
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        many0 |= any0 & low
        many1 |= any1 & high
        any0 |= low
        any1 |= high
    return any0, any1, many0, many1


# ---- simplifying ----


@kernel
def alone(low, high):
    """The cells of a set that have no peer in it, as two words."""
    left0, left1, found0, found1 = low, high, ZERO, ZERO
    while left0 | left1 != ZERO:
        cell = next_cell(left0, left1)
        here0, here1 = cell_at(cell)
        left0 &= ~here0
        left1 &= ~here1
        if (low & PEERS[cell, 0]) | (high & PEERS[cell, 1]) == ZERO:
            found0 |= here0
            found1 |= here1
    return found0, found1


@kernel
def remove_in_free_cells(state, player):
    """Keep one candidate without peers where a cell has such, and those that hurt the opponent.

    Of the candidates of a player's cell, one without peers can always be laid and costs nothing.
    So those that only have peers of the player's own, or none, are never needed.
    """
    mine0, mine1 = side_of(state, player)
    theirs0, theirs1 = side_of(state, 1 - player)
    free0, free1 = ZERO, ZERO
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        low, high = alone(low, high)
        free0 |= low & mine0
        free1 |= high & mine1
    kept0, kept1, changed = ZERO, ZERO, False
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        left0, left1 = low & free0, high & free1
        while left0 | left1 != ZERO:
            cell = next_cell(left0, left1)
            here0, here1 = cell_at(cell)
            left0 &= ~here0
            left1 &= ~here1
            seen0, seen1 = low & PEERS[cell, 0], high & PEERS[cell, 1]
            if (seen0 & theirs0) | (seen1 & theirs1) != ZERO:
                continue
            if seen0 | seen1 == ZERO and (kept0 & here0) | (kept1 & here1) == ZERO:
                kept0 |= here0
                kept1 |= here1
            else:
                remove(state, n, cell)
                changed = True
    return changed


@kernel
def remove_covered(state, player):
    """Remove candidates that are never better than the only candidate of a cell that they see.

    The other one has the same number, the same opposing peers, and no own peers beyond theirs.
    """
    mine0, mine1 = side_of(state, player)
    theirs0, theirs1 = side_of(state, 1 - player)
    _, _, many0, many1 = occupancy(state)
    changed = False
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        only0, only1 = low & mine0 & ~many0, high & mine1 & ~many1
        while only0 | only1 != ZERO:
            cell = next_cell(only0, only1)
            here0, here1 = cell_at(cell)
            only0 &= ~here0
            only1 &= ~here1
            seen0, seen1 = low & PEERS[cell, 0], high & PEERS[cell, 1]
            left0, left1 = seen0 & mine0, seen1 & mine1
            while left0 | left1 != ZERO:
                other = next_cell(left0, left1)
                there0, there1 = cell_at(other)
                left0 &= ~there0
                left1 &= ~there1
                extra0 = seen0 & ~(low & PEERS[other, 0]) & ~there0
                extra1 = seen1 & ~(high & PEERS[other, 1]) & ~there1
                lost0 = low & PEERS[other, 0] & theirs0 & ~seen0
                lost1 = high & PEERS[other, 1] & theirs1 & ~seen1
                if extra0 | extra1 | lost0 | lost1 == ZERO:
                    remove(state, n, other)
                    changed = True
                    low &= ~there0
                    high &= ~there1
                    seen0 &= ~there0
                    seen1 &= ~there1
                    only0 &= ~there0
                    only1 &= ~there1
    return changed


@kernel
def simplify(state):
    """Remove candidates that neither player ever needs; who wins stays the same.

    The moves that are left are legal in the position as it was.
    """
    if not is_graph(state):
        return
    for _ in range(ROUNDS):
        changed = False
        for player in range(2):
            changed |= remove_in_free_cells(state, player)
            changed |= remove_covered(state, player)
        if not changed:
            return


# ---- the outlook ----

SPARE_BITS = 16
"""Bits of the last word of a row that hold a difference of candidates; owners are above."""


@kernel
def owners(state):
    """Whose regions are whose, which the draft decides: two bits a region, from `SPARE_BITS` on."""
    word = ZERO
    for r in range(NUMBERS):
        low, high = region_word(state, r, 0), region_word(state, r, 1)
        for side in range(2):
            there = (low & state.territory[side, 0]) | (high & state.territory[side, 1])
            if there != ZERO:
                word |= ONE << U64(SPARE_BITS + 2 * r + side)
    return word


@kernel
def outlook(state, row):
    """Write to `row`, `(OUTLOOK_WORDS,)`, what the rest of the game depends on.

    Of the candidates without neighbours only the difference between the players matters.
    """
    for w in range(ROW):
        row[w] = state.candidates[w]
    row[ROW] = U64(state.to_move + 2 * state.stage + 16 * state.light + 32 * state.streak)
    row[ROW + 1] = U64(state.handicap + 16 * state.handicap_player + 32 * state.starter)
    row[ROW + 2] = owners(state) if state.drafts else ZERO
    if not is_graph(state):
        return
    _, _, many0, many1 = occupancy(state)
    mine0, mine1 = side_of(state, 0)
    spare = 0
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        low, high = alone(low, high)
        low &= ~many0
        high &= ~many1
        spare += 2 * (popcount(low & mine0) + popcount(high & mine1))
        spare -= popcount(low) + popcount(high)
        while low | high != ZERO:
            cell = next_cell(low, high)
            here0, here1 = cell_at(cell)
            low &= ~here0
            high &= ~here1
            at = n * CELLS + cell
            row[at >> 6] &= ~(ONE << U64(at & 63))
    row[ROW + 2] |= U64(spare + 2 * CELLS)
