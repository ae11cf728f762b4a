"""The features of a position: which rows of a value network's first layer are added up.

A feature set turns an observation into a list of row numbers. A network adds these rows instead of
multiplying a matrix, so an evaluation costs little more than reading the rows that apply.

`features_of` in `network.py` chooses the set of a game. Where only houses matter,
`house_features.py` and `open_features.py` treat all numbers alike, and all cells alike. On other
boards cells share rows with their symmetric images only (`board_features.py`); where it matters
which numbers still fit a cell, `laying_rows.py` adds rows. `plain_features` shares nothing and is
there for comparison.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.game import Game, Plane
from azumaya.envs.geometry.grid import Cells
from azumaya.envs.geometry.symmetry import members_of
from azumaya.envs.kernels.bits import LOW6, ONE, SIX, U64, ZERO, lowest, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.symmetries import Symmetries


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a game.

    Attributes:
        kind: a name that is stored with a network; it changes if the meaning of the rows does.
        rows: the number of rows.
        most: the most features of a position.
        room: the size of the array that `write` needs: the features, and scratch space behind them.
        row_words: the words of a row for `write`: a packed observation, a zero behind it, and what
            `add` writes.
        write: kernel `write(row, memo, player, features)`: write the row numbers for an observation
            of `player`, `(row_words,)` uint64, to `(room,)` int32, and return how many there are.
            `memo`, `(memo_words,)` uint64, is zero at first, and only `write` changes it. What it
            holds changes the speed, never the result.
        memo_words: the words that `write` keeps from call to call, to work less; 0 for none.
        add: kernel `add(state, player, row)`: write to `row`, zeroed, what features need beyond the
            observation, for a player in a running position; None if nothing is needed.
        added_words: the words that `add` writes.
    """

    kind: str
    rows: int
    most: int
    room: int
    row_words: int
    write: Any
    memo_words: int = 0
    add: Any = None
    added_words: int = 0


@dataclass(frozen=True)
class AddedRows:
    """Rows that follow others in a feature set.

    Attributes:
        end: the number of the row after the last.
        most: the most features.
        add: the kernel that writes the features; returns how many there are then.
    """

    end: int
    most: int
    add: Any


def plain_features(game: Game) -> Features:
    """Features that know nothing of a game: each bit of the packed observation has a row.

    They are there for comparison: with them every number and every cell has to be learned on its
    own.
    """
    words = game.observation.packed_words
    bits = 64 * words
    return Features("plain 1", bits, bits, bits, words + 1, _plain_kernel(words))


def _plain_kernel(words):  # type: ignore[no-untyped-def]
    """The kernel of the features, for observations of this many words."""

    @kernel
    def write(row, memo, player, features):
        count = 0
        for w in range(words):
            left = row[w]
            while left != ZERO:
                features[count] = 64 * w + lowest(left)
                count += 1
                left &= left - ONE
        return count

    return write


# ---- planes and numbers of packed observations ----


STOCKS = "own stock", "opposing stock"
"""The groups of the planes that say how many stones of each number a player has left."""


def kind_of(plane: Plane) -> str:
    """The name that a plane shares with the others of its group."""
    return plane.group or plane.name


def cell_planes(game: Game, *kinds: str) -> np.ndarray:
    """The numbers of the `cells` planes of these kinds, `(n,)` int64."""
    planes = game.observation.planes[: game.observation.cell_planes]
    return np.array([i for i, plane in enumerate(planes) if kind_of(plane) in kinds], np.int64)


@functools.cache
def plane_kernel(cells: int) -> Any:
    """The kernel `plane(row, p)`: plane `p` of an observation, as two words.

    It reads the word behind the plane, so a row needs one word more than an observation has.
    """
    last = cells - 64 if cells > 64 else cells
    mask, size = ~ZERO >> U64(64 - last), U64(cells)

    # Unsigned indices and both shifts in every case: with signed ones and a branch it took forty
    # times as long.
    @kernel
    def two_words(row, p):
        start = U64(p) * size
        at, shift = start >> SIX, start & LOW6
        back = LOW6 - shift
        middle = row[at + ONE]
        low = row[at] >> shift | middle << back << ONE
        high = middle >> shift | row[at + ONE + ONE] << back << ONE
        return low, high & mask

    @kernel
    def one_word(row, p):
        start = U64(p) * size
        at, shift = start >> SIX, start & LOW6
        return (row[at] >> shift | row[at + ONE] << (LOW6 - shift) << ONE) & mask, ZERO

    plane = two_words if cells > 64 else one_word
    return plane


@functools.cache
def number_kernel(game: Game) -> Any:
    """The kernel `number(row, i)`: the value of `number` plane `i` of an observation."""
    first = word_count(game.observation.cell_planes * game.observation.cells)

    @kernel
    def number(row, i):
        return np.int64((row[first + (i >> 3)] >> U64(8 * (i & 7))) & U64(255))

    return number


# ---- what the symmetries of a board make equal shares weights ----


def colour_keeping(symmetries: Symmetries) -> list[Cells]:
    """The permutations of cells that leave the players as they are."""
    return (
        [s.cells for s in members_of(symmetries.group) if not s.swaps] if symmetries.group else []
    )


def colour_swapping(symmetries: Symmetries, cells: int) -> Cells:
    """A permutation of cells that makes a position of player_1 one of player_0.

    The identity if there is none.
    """
    members = members_of(symmetries.group) if symmetries.group else []
    return next((member.cells for member in members if member.swaps), tuple(range(cells)))


def orbits_of(count: int, symmetries: Sequence[Cells]) -> tuple[np.ndarray, int]:
    """The orbit of each of `count` things, `(count,)` int64, and the number of orbits.

    Args:
        count: how many things there are.
        symmetries: permutations of them, a group; none stands for the identity alone.
    """
    least = [min([i, *(moved[i] for moved in symmetries)]) for i in range(count)]
    smallest, orbits = np.unique(least, return_inverse=True)
    return orbits.astype(np.int64), len(smallest)


@dataclass(frozen=True)
class PatternRows:
    """A row of weights for each content of each pattern, equal where a symmetry says so.

    A content is a number with the states of a pattern's cells as its digits, the lowest first.

    Attributes:
        cells: the cells of each pattern, `(patterns, n)` int64, in such an order that patterns of
            one orbit have the same row for the same content.
        orbits: the orbit of each pattern, `(patterns,)` int64.
        rows: the row of each content in each orbit, `(orbits, states**n)` int32.
        count: the number of rows.
    """

    cells: np.ndarray
    orbits: np.ndarray
    rows: np.ndarray
    count: int


def pattern_rows(
    patterns: Sequence[tuple[int, ...]], symmetries: Sequence[Cells], states: int
) -> PatternRows:
    """The rows of patterns.

    Args:
        patterns: sets of `n` cells each.
        symmetries: permutations of the cells, a group; none stands for the identity alone.
        states: the number of states that a cell can be in.
    """
    size = len(patterns[0])
    codes = np.arange(states**size)
    digits = np.stack([codes // states**i % states for i in range(size)])
    place = {frozenset(pattern): i for i, pattern in enumerate(patterns)}
    cells, orbits = list(patterns), np.full(len(patterns), -1, np.int64)
    tables: list[np.ndarray] = []
    for number, pattern in enumerate(patterns):
        if orbits[number] >= 0:
            continue
        orbits[number], rows = len(tables), codes.copy()
        for moved in symmetries:
            image = tuple(moved[cell] for cell in pattern)
            other = place.get(frozenset(image))
            if other == number:
                order = [pattern.index(cell) for cell in image]
                there = sum(digits[i] * states**at for i, at in enumerate(order))
                rows = np.minimum(rows, there)
            elif other is not None and orbits[other] < 0:
                orbits[other], cells[other] = orbits[number], image
        tables.append(rows + len(tables) * len(codes))
    smallest, shared = np.unique(tables, return_inverse=True)
    rows = shared.reshape(len(tables), -1).astype(np.int32)
    return PatternRows(np.array(cells, np.int64), orbits, rows, len(smallest))
