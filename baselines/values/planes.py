"""Reading planes and numbers out of packed observations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.game import Game, Plane
from azumaya.envs.kernels.bits import U64, ZERO, word_count
from azumaya.envs.kernels.compile import kernel

_63, _64 = U64(63), U64(64)


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
    mask = ~ZERO >> U64(64 - last)
    two = cells > 64

    @kernel
    def word_from(row, start):
        at, shift = start >> 6, U64(start) & _63
        word = row[at] >> shift
        if shift != ZERO:
            word |= row[at + 1] << (_64 - shift)
        return word

    @kernel
    def plane(row, p):
        start = p * cells
        if two:
            return word_from(row, start), word_from(row, start + 64) & mask
        return word_from(row, start) & mask, ZERO

    return plane


@functools.cache
def number_kernel(game: Game) -> Any:
    """The kernel `number(row, i)`: the value of `number` plane `i` of an observation."""
    first = word_count(game.observation.cell_planes * game.observation.cells)

    @kernel
    def number(row, i):
        return np.int64((row[first + (i >> 3)] >> U64(8 * (i & 7))) & U64(255))

    return number
