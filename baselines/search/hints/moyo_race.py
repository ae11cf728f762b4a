"""Bounds for Sudoku Moyo: which player can be sure to place the last stone.

In the graph of `moyo_endgame`, a player has chosen some own candidates as items such that no two of
them with the same number see each other or have a common opposing peer. Then one opposing stone
spoils at most one candidate of one item, and the items can be counted like independent games:

- a candidate that no opposing one sees is a sure stone;
- a cell with two chosen candidates is a sure stone, too: the player answers when one is spoilt;
- a cell with one chosen candidate is contested: who comes first decides. If the player does, this
  also spoils up to `k` of the opponent's cells, in which nothing else could be placed.

The opponent places at most one stone in each cell, and in each region at most one of each number.
Counted in half stones, a contested item is worth 1 + k to the player on average, and 1 + k more or
less than that depending on who comes first. Players take the largest in turn.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.hints.moyo_endgame import (
    cell_at,
    is_graph,
    next_cell,
    occupancy,
    side_of,
    take_cell,
)
from azumaya.envs.games._shima.board import PLAY, POINTS, ROW
from azumaya.envs.games._shima.stones import neutral_room, own, region_word, word_of
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ONE, U64, ZERO, popcount
from azumaya.envs.kernels.compile import kernel

FAR = 32
"""The half stones by which leads usually fall short when the neutral region has just been filled;
an estimate for positions before that.
"""
MOST_SPOILT = 3
"""Contested items spoil at most as many cells; more are left out of account."""


@kernel
def most_stones(state, player):
    """An upper bound on the stones a player can still place, and the cells that it counts singly.

    In each region it counts the cells with candidates, or the numbers if these are fewer.
    """
    any0, any1, _, _ = occupancy(state)
    mine0, mine1 = side_of(state, player)
    total, single0, single1 = 0, ZERO, ZERO
    for r in range(NUMBERS):
        region0, region1 = region_word(state, r, 0) & mine0, region_word(state, r, 1) & mine1
        cells = popcount(any0 & region0) + popcount(any1 & region1)
        if cells == 0:
            continue
        numbers = 0
        for n in range(NUMBERS):
            low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
            numbers += (low & region0) | (high & region1) != ZERO
        if numbers < cells:
            total += numbers
        else:
            total += cells
            single0 |= region0
            single1 |= region1
    return total, single0, single1


@kernel
def spread(low, high):
    """The cells that see any cell of a set, as two words."""
    seen0, seen1 = ZERO, ZERO
    while low | high != ZERO:
        cell, _, _, low, high = take_cell(low, high)
        seen0 |= PEERS[cell, 0]
        seen1 |= PEERS[cell, 1]
    return seen0, seen1


# ---- items ----

SETTLED, CONTESTED, BIT_0, BIT_1, ODD = 0, 1, 2, 3, 4
"""Rows of the items, `(5, 2)` uint64: the cells that are sure, those that are contested, what each
of these spoils, bit by bit, and at `[ODD, 0]` in bit `k` whether an odd number of them spoil `k`.
"""


@kernel
def holds(items, row, cell):
    """Whether a cell belongs to a row of the items: 0 or 1."""
    return np.int64(items[row, cell >> 6] >> U64(cell & 63) & ONE)


@kernel
def flip(items, row, cell):
    """Add a cell to a row of the items, or take it out."""
    items[row, cell >> 6] ^= ONE << U64(cell & 63)


@kernel
def flip_contested(items, cell, k):
    """Add a contested cell that spoils `k`, or take it out."""
    flip(items, CONTESTED, cell)
    items[ODD, 0] ^= ONE << U64(k)
    if k & 1:
        flip(items, BIT_0, cell)
    if k & 2:
        flip(items, BIT_1, cell)


@kernel
def settle(items, cell):
    """Make a cell sure. Returns by how much that changes the lead, and what the cell spoilt."""
    change, k = 0, 0
    if holds(items, CONTESTED, cell):
        k = holds(items, BIT_0, cell) + 2 * holds(items, BIT_1, cell)
        flip_contested(items, cell, k)
        change = -1 - k
    flip(items, SETTLED, cell)
    return change + 2, k


@kernel
def contest(items, cell, k):
    """Choose a candidate of a cell that opposing ones see; returns the change of the lead."""
    if holds(items, CONTESTED, cell):
        change, before = settle(items, cell)
        return change + 2 * min(before, k)
    flip_contested(items, cell, k)
    return 1 + k


@kernel
def gain_of_first(items):
    """What it is worth, in half stones, to be first in the contest for the contested cells."""
    gain, sign = 0, 1
    for k in range(MOST_SPOILT, -1, -1):
        if (items[ODD, 0] >> U64(k)) & ONE != ZERO:
            gain += sign * (1 + k)
            sign = -sign
    return gain


@kernel
def settle_safe(items, low, high, other0, other1):
    """Settle candidates of one number that no opposing one sees.

    Returns the change of the lead and the candidates that are left to choose from.
    """
    threat0, threat1 = spread(other0, other1)
    low &= ~items[SETTLED, 0]
    high &= ~items[SETTLED, 1]
    safe0, safe1, total = low & ~threat0, high & ~threat1, 0
    while safe0 | safe1 != ZERO:
        cell = next_cell(safe0, safe1)
        total += settle(items, cell)[0]
        here0, here1 = cell_at(cell)
        gone0, gone1 = here0 | PEERS[cell, 0], here1 | PEERS[cell, 1]
        safe0 &= ~gone0
        safe1 &= ~gone1
        low &= ~gone0
        high &= ~gone1
    return total, low, high


@kernel
def contest_number(items, low, high, other0, other1, single0, single1):
    """Choose among the candidates of one number, first those that spoil something.

    `single` are the opponent's cells that have one candidate and are counted singly. Returns the
    change of the lead.
    """
    total = 0
    for least in range(1, -1, -1):
        left0, left1 = low, high
        while left0 | left1 != ZERO:
            cell, here0, here1, left0, left1 = take_cell(left0, left1)
            seen0, seen1 = other0 & PEERS[cell, 0], other1 & PEERS[cell, 1]
            k = min(popcount(seen0 & single0) + popcount(seen1 & single1), MOST_SPOILT)
            if k < least:
                continue
            near0, near1 = spread(seen0, seen1)
            near0 |= here0 | PEERS[cell, 0]
            near1 |= here1 | PEERS[cell, 1]
            left0 &= ~near0
            left1 &= ~near1
            low &= ~near0
            high &= ~near1
            total += contest(items, cell, k)
    return total


@kernel
def lead(state, player):
    """Twice the stones by which a player is sure to be ahead in the race to the last stone.

    The first result holds if the player is to move, the second if the opponent is. A player to move
    wins with at least 2, one to wait with at least 0.
    """
    mine0, mine1 = side_of(state, player)
    theirs0, theirs1 = side_of(state, 1 - player)
    _, _, many0, many1 = occupancy(state)
    most, single0, single1 = most_stones(state, 1 - player)
    items = np.zeros((5, 2), U64)
    total = -2 * most
    for n in range(NUMBERS):
        low, high = word_of(state.candidates, n, 0), word_of(state.candidates, n, 1)
        other0, other1 = low & theirs0, high & theirs1
        change, low, high = settle_safe(items, low & mine0, high & mine1, other0, other1)
        total += change
        total += contest_number(
            items, low, high, other0, other1, single0 & ~many0, single1 & ~many1
        )
    gain = gain_of_first(items)
    return total + gain, total - gain


# ---- bounds ----


@kernel
def bounds(state):
    """The least and the most that the player to move still gains: -1 and 1 unless more is known."""
    if state.points:
        return bounds_of_points(state)
    least, most, _, _ = prospects(state)
    return least, most


@kernel
def prospects(state):
    """`bounds` without points, and estimates of the work that a proof takes; see `Hints`.

    A proof that a player wins takes twice the work for every half stone by which the lead falls
    short. It also grows with the opponent's candidates, because all replies must be refuted. Of the
    numbers tried, those here needed the fewest positions.
    """
    ahead = behind = -FAR
    if is_graph(state):
        ahead = lead(state, state.to_move)[0]
        if ahead >= 2:
            return 1, 1, 0, 0
        behind = lead(state, 1 - state.to_move)[1]
        if behind >= 0:
            return -1, -1, 0, 0
    mine, theirs = mobility(state, state.to_move), mobility(state, 1 - state.to_move)
    win = 8 * (2 - ahead) + (12 * theirs - 2 * mine) // 5
    loss = 8 * -behind + (12 * mine - 2 * theirs) // 5
    return -1, 1, max(win, 0), max(loss, 0)


@kernel
def mobility(state, player):
    """How many stones a player could place now, if nothing fitted in the neutral region."""
    side, total = own(state, player), 0
    for w in range(ROW):
        total += popcount(state.candidates[w] & state.territory[side, w])
    return total


@kernel
def bounds_of_points(state):
    """`bounds` with scoring by points: nobody gains more than the stones they can still place."""
    if state.stage < PLAY or neutral_room(state):
        return -CELLS, CELLS
    most, _, _ = most_stones(state, state.to_move)
    if state.stage == POINTS:
        return state.streak + 1, state.streak + most
    theirs, _, _ = most_stones(state, 1 - state.to_move)
    return -theirs, most
