"""Sharing weights between what the symmetries of a board make equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from azumaya.envs.geometry.grid import Cells
from azumaya.envs.geometry.symmetry import members_of
from azumaya.envs.symmetries import Symmetries

STATES = 4
"""What a cell can hold for `pattern_rows`."""


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


def pattern_rows(
    patterns: Sequence[tuple[int, ...]], symmetries: Sequence[Cells]
) -> tuple[np.ndarray, int]:
    """A row of weights for each content of each pattern, equal where a symmetry says so.

    Args:
        patterns: sets of `n` cells each, in order.
        symmetries: permutations of the cells.

    Returns:
        `(patterns, STATES**n)` int32, and the number of rows. Content `x` has the state of the
        pattern's first cell in its lowest two bits.
    """
    size = len(patterns[0])
    codes = np.arange(STATES**size)
    states = np.stack([codes >> (2 * i) & 3 for i in range(size)])
    place = {frozenset(pattern): i for i, pattern in enumerate(patterns)}
    rows = np.arange(len(patterns) * len(codes)).reshape(len(patterns), -1)
    for number, pattern in enumerate(patterns):
        for moved in symmetries:
            image = [moved[cell] for cell in pattern]
            other = place.get(frozenset(image))
            if other is None:
                continue
            order = [patterns[other].index(cell) for cell in image]
            there = sum(states[i] << (2 * at) for i, at in enumerate(order))
            rows[number] = np.minimum(rows[number], rows[other, there])
    smallest, shared = np.unique(rows, return_inverse=True)
    return shared.reshape(rows.shape).astype(np.int32), len(smallest)
