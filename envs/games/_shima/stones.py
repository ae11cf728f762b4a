"""Kernels on territories and sets of stones that all games of the family share.

Rule numbers are those of Sudoku Moyo; Sudoku Horikomi has the same rules 1, 2 and 4. The
layout of sets and planes is in `board`.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.games._shima.board import (
    ALL_ONES,
    DARK,
    LIGHT,
    NUMBER_ACTIONS,
    OWN_PLANE,
    REGION_BITS,
    REGION_PLANE,
    ROW,
    STONES_ON,
    STONES_PLANE,
)
from azumaya.envs.geometry.sudoku81 import CELLS, FULL, HIGH_BITS, LOW_BITS, PEERS
from azumaya.envs.kernels.bits import LOW6, ONE, U64
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, load, raised, store, word_at, word_in

# ---- rule predicates ----


@kernel
def own(state, player):
    """The colour of a player's regions, LIGHT or DARK."""
    return player ^ state.light


@kernel
def stones_of(state, side):
    """All stones on the cells of LIGHT or DARK, as a row."""
    return load(state.territory, side * ROW, ROW)


@kernel
def neutral_candidates(state):
    """Rule 2: the stones that may be placed in the neutral region, as a row."""
    owned = stones_of(state, LIGHT) | stones_of(state, DARK)
    return load(state.candidates, 0, ROW) & ~owned


@kernel
def neutral_room(state):
    """Rule 2: whether any number may still be placed in the neutral region."""
    return any_bit(neutral_candidates(state))


@kernel
def region_at(state, cell):
    """The number of a cell's region, from 0."""
    region = np.int64(0)
    for b in range(REGION_BITS):
        region |= np.int64((state.regions[b, cell >> 6] >> U64(cell & 63)) & ONE) << b
    return region


@kernel
def region_word(state, region, w):
    """Word `w` of the cells of a region (from 0)."""
    cells = FULL[w]
    for b in range(REGION_BITS):
        cells &= state.regions[b, w] ^ ~(ALL_ONES * U64(region >> b & 1))
    return cells


# ---- sets of cells inside sets of stones ----


@kernel
def stone_at(at):
    """The row in which only bit `at` is set."""
    return word_at(at >> 6, ONE << U64(at & 63), ROW)


@kernel
def spread_from(at, low, high):
    """The three words that a set of cells (`low`, `high`) covers if it begins at bit `at`."""
    shift = U64(at & 63)
    middle = ((low >> ONE) >> (LOW6 - shift)) | (high << shift)
    return low << shift, middle, (high >> ONE) >> (LOW6 - shift)


@kernel
def row_from(at, low, high):
    """The row in which a set of cells (`low`, `high`) begins at bit `at`."""
    index, (first, second, third) = at >> 6, spread_from(at, low, high)
    row = word_at(index, first, ROW) | word_at(index + 1, second, ROW)
    return row | word_at(index + 2, third, ROW)


@kernel
def word_of(stones, number, w):
    """Word `w` of the cells of a number (from 0) in a set of stones."""
    at = number * CELLS + w * LOW_BITS
    shift = U64(at & 63)
    word = stones[at >> 6] >> shift
    if (at >> 6) + 1 < ROW:
        word |= (stones[(at >> 6) + 1] << ONE) << (LOW6 - shift)
    return word & FULL[w]


# ---- placing a stone ----


@kernel
def lay(state, number, cell):
    """Lay a number (from 0) on a cell; by rule 4 the cell's houses and region lose the number."""
    word, index, at = cell >> 6, U64(cell & 63), number * CELLS
    low, high = ALL_ONES, FULL[1]
    for b in range(REGION_BITS):
        other = ALL_ONES * ((~state.regions[b, word] >> index) & ONE)
        low &= state.regions[b, 0] ^ other
        high &= state.regions[b, 1] ^ other
    there = load(STONES_ON, cell * ROW, ROW)
    gone = there | row_from(at, low | PEERS[cell, 0], high | PEERS[cell, 1])
    store(state.candidates, 0, load(state.candidates, 0, ROW) & ~gone)
    store(state.stones, 0, load(state.stones, 0, ROW) | stone_at(at + cell))


@kernel
def lay_puzzles(states, puzzles):
    """Lay the givens, `(n, 81)` uint8 with 0 for empty, on boards without stones, `(n,)`."""
    for i in range(puzzles.shape[0]):
        for cell in range(CELLS):
            if puzzles[i, cell]:
                lay(states[i], np.int64(puzzles[i, cell]) - 1, cell)


# ---- observing ----


@kernel
def put_stones(packed, plane, stones):
    """Add a set of stones, a row, as nine planes from `plane` on; their bits must be zero."""
    first, shift = (plane * CELLS) >> 6, (plane * CELLS) & 63
    store(packed, first, load(packed, first, ROW) | raised(stones, shift))
    if shift + (NUMBER_ACTIONS & 63) > 64:
        packed[first + ROW] |= word_in(stones, ROW - 1) >> U64(64 - shift)


@kernel
def append(packed, at, held, low, high):
    """Write a set of cells from bit `at` on; `held` is what the word there already contains.

    Returns the content of the word to which the next bit belongs.
    """
    index, (first, second, third) = at >> 6, spread_from(at, low, high)
    packed[index], packed[index + 1] = held | first, second
    if (at & 63) + HIGH_BITS >= 64:
        packed[index + 2] = third
        return third
    return second


@kernel
def observe_cells(state, player, packed):
    """Write the planes `CELL_PLANES`, word by word."""
    candidates, at = load(state.candidates, 0, ROW), STONES_PLANE * CELLS
    store(packed, 0, candidates)
    before = word_at(0, word_in(candidates, ROW - 1), ROW)
    stones = before | raised(load(state.stones, 0, ROW), at & 63)
    store(packed, at >> 6, stones)
    held, at = word_in(stones, ROW - 1), OWN_PLANE * CELLS
    for side in range(2):
        owner = own(state, player ^ side)
        low = state.territory[owner, 0] & ~state.territory[1 - owner, 0]
        high = state.territory[owner, 1] & ~state.territory[1 - owner, 1] & FULL[1]
        held = append(packed, at + side * CELLS, held, low, high)
    at = REGION_PLANE * CELLS
    for b in range(REGION_BITS):
        held = append(packed, at + b * CELLS, held, state.regions[b, 0], state.regions[b, 1])
