"""Reading planes and numbers out of packed observations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.game import Game, Plane
from azumaya.envs.kernels.bits import ONE, U64, ZERO, word_count
from azumaya.envs.kernels.compile import kernel

STOCKS = "own stock", "opposing stock"
"""The groups of the planes that say how many stones of each number a player has left."""
_6, _63 = U64(6), U64(63)


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
        at, shift = start >> _6, start & _63
        back = _63 - shift
        middle = row[at + ONE]
        low = row[at] >> shift | middle << back << ONE
        high = middle >> shift | row[at + ONE + ONE] << back << ONE
        return low, high & mask

    @kernel
    def one_word(row, p):
        start = U64(p) * size
        at, shift = start >> _6, start & _63
        return (row[at] >> shift | row[at + ONE] << (_63 - shift) << ONE) & mask, ZERO

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
