"""Sharing weights between what the symmetries of a board make equal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azumaya.envs.geometry.grid import Cells
from azumaya.envs.geometry.symmetry import members_of
from azumaya.envs.symmetries import Symmetries


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
