"""Sudoku tiles, the Sudoku of Brettspielnetz: the rules.

1. Of 81 tiles, nine of each number, nine lie on the board at random, one in each row and each
   column, no number twice in a row, column or block.
2. The other tiles are shuffled. The player to move is shown the next one and places it on an empty
   cell, so that no number appears twice in a row, column or block (the Sudoku rule).
3. The tile placed scores a point for each tile already in its row, column or block, each counted
   once.
4. The game ends when the tile drawn fits nowhere, or the tiles run out. More points win; equal
   points draw.

With `misplacement` a tile may go to any empty cell. If it breaks the Sudoku rule there, it scores
nothing and is put aside for good.

Source: the rules of Brettspielnetz (2024). The game's page, with all options, is
`docs/games/sudoku_tiles.md`.
Decisions: tiles put aside; random starts are equally likely among all that obey rule 1; the first
tile is drawn from those that fit.
End: rule 4.
Bound: every step uses up a tile, so a game has at most 81 steps.

Actions, state and planes are in `board`. All random draws are made when an episode begins.
"""

from __future__ import annotations

import itertools

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games.sudoku_tiles.board import AT, FITS_PLANE, HUNDRED, ONE_EACH, READY
from azumaya.envs.geometry.sudoku81 import (
    CELLS,
    FULL,
    HIGH_BITS,
    LOW_BITS,
    NUMBERS,
    PEERS,
    SIZE,
    WORDS,
)
from azumaya.envs.kernels.bits import LOW4, U64, ZERO, bit, has, nibble, popcount, put, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.kernels.states import copy_state

# Each use of an episode's key has a range of draws of its own; compiled players draw from 2**32 on.
PILE_DRAWS, RESAMPLE_DRAWS, FIRST_DRAW, DEAL_DRAWS = 1 << 16, 1 << 17, 1 << 18, 1 << 19
DRAWS_A_TRY = 32
"""Draws set aside for each attempt to deal a random start."""
IN_ORDER = U64(0x876543210)
"""The numbers 0 to 8, four bits each."""
THREES = np.array(list(itertools.permutations(range(3))), np.int64)
"""The six orders of 0, 1, 2: `(6, 3)`."""

# ---- rule predicates ----


@kernel
def lay(state, number, cell):
    """Lay a number (from 0) on an empty cell: by rule 2 the cell's houses lose the number."""
    word, here = cell >> 6, bit(cell & 63)
    for n in range(NUMBERS):
        state.candidates[n, word] &= ~here
    state.stones[number, word] |= here
    state.empty[word] &= ~here
    for w in range(WORDS):
        state.candidates[number, w] &= ~PEERS[cell, w]


@kernel
def fits(state, number):
    """Rule 2: whether a number (from 0) may be placed on any cell."""
    return state.candidates[number, 0] | state.candidates[number, 1] != ZERO


@kernel
def may_lie(state, w):
    """Rule 2: word `w` of the cells on which the drawn tile may be placed by the Sudoku rule."""
    return state.candidates[state.tile - 1, w] if state.tile else ZERO


@kernel
def points_on(state, cell):
    """Rule 3: how many tiles lie in the row, column and block of a cell."""
    near = 0
    for w in range(WORDS):
        near += popcount(PEERS[cell, w] & ~state.empty[w])
    return near


# ---- the pile ----


@kernel
def tile_at(state, k):
    """Tile `k` of the pile, 1 to 9."""
    return nibble(state.pile[k >> 4], k & 15)


@kernel
def put_tile(state, k, tile):
    """Make a tile (1 to 9) tile `k` of the pile."""
    shift = U64(4 * (k & 15))
    state.pile[k >> 4] = (state.pile[k >> 4] & ~(LOW4 << shift)) | (U64(tile) << shift)


@kernel
def draw(state):
    """Rule 2: show the next tile; there must be one."""
    state.height -= 1
    state.tile = tile_at(state, state.height)
    state.left -= bit(4 * (state.tile - 1))


# ---- counts of tiles ----


@kernel
def total(counts):
    """The sum of the counts of all numbers."""
    tiles = 0
    for n in range(NUMBERS):
        tiles += nibble(counts, n)
    return tiles


@kernel
def pick(counts, k):
    """The number (from 0) of tile `k` of the counted tiles, sorted; there must be more than k."""
    number = 0
    while k >= nibble(counts, number):
        k -= nibble(counts, number)
        number += 1
    return number


@kernel
def fixed_counts(state):
    """The counts of the tiles at the top of the pile that the user has chosen."""
    counts = ZERO
    for k in range(state.height - state.fixed, state.height):
        counts += bit(4 * (tile_at(state, k) - 1))
    return counts


# ---- the start ----


@kernel
def shuffled_nine(key, at):
    """The numbers 0 to 8 in random order, four bits each."""
    word = IN_ORDER
    for k in range(SIZE - 1, 0, -1):
        j = random_below(key, at + k, k + 1)
        change = U64(nibble(word, k) ^ nibble(word, j))
        word ^= (change << U64(4 * k)) | (change << U64(4 * j))
    return word


@kernel
def columns_of_blocks(key, at):
    """By row a random column, four bits each, so that each column and block gets one cell."""
    columns = ZERO
    for row in range(SIZE):
        stack = THREES[random_below(key, at + row // 3, 6), row % 3]
        inside = THREES[random_below(key, at + 3 + stack, 6), row // 3]
        columns |= U64(3 * stack + inside) << U64(4 * row)
    return columns


@kernel
def random_tiles(loose, columns, key, at):
    """By row a number (from 0), four bits each, drawn from `loose`; and whether they obey rule 1.

    Each row and column gets one tile, so a number can appear twice only in a block.
    """
    tiles, count = ZERO, total(loose)
    for row in range(SIZE):
        number = pick(loose, random_below(key, at + row, count - row))
        loose -= bit(4 * number)
        tiles |= U64(number) << U64(4 * row)
        for other in range(row - row % 3, row):
            same_block = nibble(columns, other) // 3 == nibble(columns, row) // 3
            if same_block and nibble(tiles, other) == number:
                return tiles, False
    return tiles, True


@kernel
def has_room(tile, columns, tiles):
    """Whether a tile (1 to 9; 0 stands for any) fits beside the tiles of a start."""
    low, high = FULL[0], FULL[1]
    for row in range(SIZE):
        cell = SIZE * row + nibble(columns, row)
        if cell < 64:
            low &= ~bit(cell)
        else:
            high &= ~bit(cell - 64)
        if nibble(tiles, row) == tile - 1:
            low &= ~PEERS[cell, 0]
            high &= ~PEERS[cell, 1]
    return low | high != ZERO


@kernel
def deal(state, loose, key):
    """Rule 1: the nine tiles of a start as (columns, numbers from 0), four bits a row.

    Random tiles are drawn again until they obey the Sudoku rule and the first tile, if the user has
    chosen it, fits. So all such starts are equally likely. About four attempts in five succeed.
    """
    if state.deal == ONE_EACH:
        return columns_of_blocks(key, DEAL_DRAWS), shuffled_nine(key, DEAL_DRAWS + SIZE)
    at = DEAL_DRAWS
    while True:
        columns = shuffled_nine(key, at)
        tiles, valid = random_tiles(loose, columns, key, at + SIZE)
        if valid and has_room(state.tile, columns, tiles):
            return columns, tiles
        at += DRAWS_A_TRY


@kernel
def lay_start(state, loose, key):
    """Lay the nine tiles of a start; returns their counts."""
    columns, tiles = deal(state, loose, key)
    counts = ZERO
    for row in range(SIZE):
        number = nibble(tiles, row)
        lay(state, number, SIZE * row + nibble(columns, row))
        counts += bit(4 * number)
    return counts


@kernel
def first_tile(state, loose, key):
    """The number (from 0) of the first tile, drawn from those of `loose` that fit."""
    for n in range(NUMBERS):
        if not fits(state, n):
            loose &= ~(LOW4 << U64(4 * n))
    return pick(loose, random_below(key, FIRST_DRAW, total(loose)))


@kernel
def stack(state, loose, key, draws):
    """Put the tiles counted in `loose` under the pile in random order.

    Uses the key's draws from `draws` on.
    """
    count = 0
    for n in range(NUMBERS):
        for _ in range(nibble(loose, n)):
            put_tile(state, count, n + 1)
            count += 1
    for k in range(count - 1, 0, -1):
        j = random_below(key, draws + k, k + 1)
        tile = tile_at(state, k)
        put_tile(state, k, tile_at(state, j))
        put_tile(state, j, tile)


@kernel
def reset(states, i, starts, key):
    """Begin an episode: deal the start, draw the first tile, shuffle the rest."""
    copy_state(states, i, starts, 0)
    state = states[i]
    loose = state.left - fixed_counts(state)
    if state.deal != READY:
        dealt = lay_start(state, loose, key)
        loose -= dealt
        state.left -= dealt
        state.deal = READY
    if state.tile == 0:
        number = first_tile(state, loose, key)
        loose -= bit(4 * number)
        state.left -= bit(4 * number)
        state.tile = number + 1
    stack(state, loose, key, PILE_DRAWS)
    state.began = state.height


@kernel
def resample(state, key):
    """Redraw the order of the hidden pile; the tiles drawn so far stay."""
    state.fixed = 0
    stack(state, state.left, key, RESAMPLE_DRAWS)


# ---- the game ----


@kernel
def write_legal(state, packed):
    """The candidates of the drawn number; with `misplacement` all empty cells."""
    if state.over:
        return
    for w in range(WORDS):
        packed[w] = state.empty[w] if state.misplacement else may_lie(state, w)


@kernel
def play(state, action):
    """Lay the drawn tile on a cell, or put it aside, and draw the next."""
    mover, number = state.to_move, state.tile - 1
    if has(state.candidates[number, action >> 6], action & 63):
        gain = points_on(state, action)
        state.scores[mover] += gain
        if state.points:
            state.payoff += gain if mover == 0 else -gain
        lay(state, number, action)
    if state.height == 0:
        state.tile = 0
        finish(state)
        return
    draw(state)
    if fits(state, state.tile - 1):
        state.to_move = 1 - mover
    else:
        finish(state)


@kernel
def finish(state):
    """Rule 4: end the game; the side to move stays the player who made the last step."""
    state.over = TERMINATED
    if not state.points:
        lead = state.scores[0] - state.scores[1]
        state.payoff = np.int64(lead > 0) - np.int64(lead < 0)


@kernel
def observe(state, player, packed):
    """Write the planes `PLANES`."""
    for n in range(NUMBERS):
        put_board(packed, n, state.stones[n, 0], state.stones[n, 1])
    put_board(packed, FITS_PLANE, may_lie(state, 0), may_lie(state, 1))
    put_byte(packed, AT.to_move, np.int64(state.to_move == player and not state.over))
    put_byte(packed, AT.drawn, state.tile)
    for n in range(NUMBERS):
        put_byte(packed, AT.left_1 + n, nibble(state.left, n))
    own, opposing = state.scores[player], state.scores[1 - player]
    put_byte(packed, AT.own_hundreds, own // HUNDRED)
    put_byte(packed, AT.own_ones, own % HUNDRED)
    put_byte(packed, AT.opposing_hundreds, opposing // HUNDRED)
    put_byte(packed, AT.opposing_ones, opposing % HUNDRED)
    put_byte(packed, AT.misplacement, state.misplacement)
    put_byte(packed, AT.points, state.points)


@kernel
def put_board(packed, plane, low, high):
    """Write a set of cells as one plane."""
    put(packed, plane * CELLS, LOW_BITS, low)
    put(packed, plane * CELLS + LOW_BITS, HIGH_BITS, high)


@kernel
def evaluate(state, player):
    """The player's points minus the opponent's."""
    return state.scores[player] - state.scores[1 - player]
