"""What a solver can know about the end of a game of Sudoku Horikomi without searching.

Once nothing fits in the neutral region, play goes on until neither player can place a stone. So it
does not matter who places them: the player with more stones in their own regions wins.

- At most as many stones are still placed in a region as it has cells with candidates, or numbers
  among these.
- While a number cannot run out, each of its candidates ends in one of two ways: its cell is filled,
  or the number is placed on a peer. If cell and peers are all one player's, that player is sure of
  a stone. Such groups of cells can be counted together if no two share a cell.

The second needs regions that are rows, columns or blocks.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.hints import Hints
from azumaya.baselines.search.hints.moyo_endgame import (
    owners,
    regions_are_houses,
    side_of,
    take_cell,
)
from azumaya.envs.games._shima.board import PLAY, ROW
from azumaya.envs.games._shima.stones import neutral_room, region_word, spread_from, word_of
from azumaya.envs.games.sudoku_horikomi.rules import filled, rank_of_region
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, PEERS
from azumaya.envs.kernels.bits import U64, ZERO, nibble, popcount
from azumaya.envs.kernels.compile import kernel

LARGEST_GROUP = 4
"""The most cells of a group of which one is sure to be filled."""
COUNT_BITS = 4
"""Bits that hold the stones of a region (0 to 9)."""
MOST_RANK = 1 << 40
"""More than any rank."""
OUTLOOK_WORDS = ROW + 5
"""Words in a row of `outlook`."""


# ---- what can still be placed ----


@kernel
def left(state, number):
    """The stones of a number that the players have left, both together."""
    return nibble(state.stock[0], number) + nibble(state.stock[1], number)


@kernel
def candidates_of(state, number):
    """The cells on which a number may still be placed, as two words; none without a stone of it.

    For positions in which nothing fits in the neutral region.
    """
    if left(state, number) == 0:
        return ZERO, ZERO
    return word_of(state.candidates, number, 0), word_of(state.candidates, number, 1)


@kernel
def most_stones(state, cells, player):
    """An upper bound on the stones that are still placed in a player's regions.

    `cells`, `(9, 2)` uint64, has the candidates of each number.
    """
    side0, side1 = side_of(state, player)
    total = 0
    for r in range(NUMBERS):
        region0, region1 = region_word(state, r, 0) & side0, region_word(state, r, 1) & side1
        any0, any1, numbers = ZERO, ZERO, 0
        for n in range(NUMBERS):
            low, high = cells[n, 0] & region0, cells[n, 1] & region1
            any0 |= low
            any1 |= high
            numbers += low | high != ZERO
        total += min(numbers, popcount(any0) + popcount(any1))
    return total


@kernel
def cannot_run_out(state, number, low, high):
    """Whether there are stones of a number for all regions in which it can still be placed."""
    stones, regions = left(state, number), 0
    if popcount(low) + popcount(high) <= stones:
        return True
    for r in range(NUMBERS):
        regions += (low & region_word(state, r, 0)) | (high & region_word(state, r, 1)) != ZERO
    return regions <= stones


@kernel
def sure_stones(state, cells, player, matters):
    """A lower bound on the stones that are still placed in a player's regions; 0 unless it matters.

    Small groups are counted first, so that few groups are lost to shared cells.
    """
    side0, side1 = side_of(state, player)
    total = 0
    if not matters or not regions_are_houses(state):
        return total
    for size in range(1, LARGEST_GROUP + 1):
        for n in range(NUMBERS):
            low, high = cells[n, 0], cells[n, 1]
            left0, left1 = low & side0, high & side1
            if left0 | left1 == ZERO or not cannot_run_out(state, n, low, high):
                continue
            while left0 | left1 != ZERO:
                cell, here0, here1, left0, left1 = take_cell(left0, left1)
                group0, group1 = (low & PEERS[cell, 0]) | here0, (high & PEERS[cell, 1]) | here1
                if (group0 & ~side0) | (group1 & ~side1) != ZERO:
                    continue
                if popcount(group0) + popcount(group1) <= size:
                    total += 1
                    side0 &= ~group0
                    side1 &= ~group1
                    left0 &= ~group0
                    left1 &= ~group1
    return total


# ---- bounds ----


@kernel
def bounds(state):
    """The least and the most that the player to move still gains: -1 and 1 unless more is known."""
    if state.stage != PLAY or state.over or neutral_room(state):
        return -1, 1
    cells = np.empty((NUMBERS, 2), U64)
    for n in range(NUMBERS):
        cells[n, 0], cells[n, 1] = candidates_of(state, n)
    mover, other = state.to_move, 1 - state.to_move
    mine0, mine1 = side_of(state, mover)
    theirs0, theirs1 = side_of(state, other)
    low, high = filled(state, 0), filled(state, 1)
    ahead = popcount(low & mine0) + popcount(high & mine1)
    ahead -= popcount(low & theirs0) + popcount(high & theirs1)
    mine, theirs = most_stones(state, cells, mover), most_stones(state, cells, other)
    if ahead + mine < sure_stones(state, cells, other, ahead + mine < theirs):
        return -1, -1
    if ahead + sure_stones(state, cells, mover, ahead + mine > theirs) > theirs:
        return 1, 1
    return -1, 1


# ---- the outlook ----


@kernel
def put_cells(row, at, low, high):
    """Add a set of cells to a row from bit `at` on."""
    index, (first, second, third) = at >> 6, spread_from(at, low, high)
    row[index] |= first
    row[index + 1] |= second
    row[index + 2] |= third


@kernel
def outlook(state, row):
    """Write to `row`, `(OUTLOOK_WORDS,)`, what the rest of the game depends on.

    Stones of numbers that can no longer be placed do not matter; of the regions in which nothing
    can be placed, only the difference of their ranks does.
    """
    open_ = state.stage < PLAY or neutral_room(state)
    any0, any1, stock0, stock1 = ZERO, ZERO, ZERO, ZERO
    for w in range(OUTLOOK_WORDS):
        row[w] = ZERO
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        if not open_:
            low, high = candidates_of(state, n)
        if low | high == ZERO:
            continue
        any0 |= low
        any1 |= high
        stock0 |= U64(nibble(state.stock[0], n)) << U64(4 * n)
        stock1 |= U64(nibble(state.stock[1], n)) << U64(4 * n)
        put_cells(row, n * CELLS, low, high)
    counts, settled = ZERO, 0
    low, high = filled(state, 0), filled(state, 1)
    mine0, mine1 = side_of(state, 0)
    theirs0, theirs1 = side_of(state, 1)
    for r in range(NUMBERS):
        region0, region1 = region_word(state, r, 0), region_word(state, r, 1)
        stones = popcount(low & region0) + popcount(high & region1)
        owned = (region0 & mine0) | (region1 & mine1) != ZERO
        opposed = (region0 & theirs0) | (region1 & theirs1) != ZERO
        if open_ or (any0 & region0) | (any1 & region1) != ZERO:
            counts |= U64(stones) << U64(COUNT_BITS * r)
        elif owned:
            settled += rank_of_region(stones)
        elif opposed:
            settled -= rank_of_region(stones)
    row[ROW] = owners(state) if state.drafts else ZERO
    row[ROW] |= U64(state.to_move + 2 * state.stage + 16 * state.light + 32 * state.starter)
    row[ROW] |= U64(state.handicap + 16 * state.handicap_player) << U64(8)
    row[ROW + 1] = counts
    row[ROW + 2] = U64(settled + MOST_RANK)
    row[ROW + 3], row[ROW + 4] = stock0, stock1


HINTS = Hints(bounds=bounds, outlook=outlook, outlook_words=OUTLOOK_WORDS)
