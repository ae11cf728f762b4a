"""Which planes of a game belong to single numbers, and where a network finds what it is told."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.values.planes import STOCKS
from azumaya.envs.game import Game
from azumaya.envs.symmetries import Axis

BLOCKS = {9: 3, 6: 2}
"""The rows and columns of a block, by the rows of the board."""
SETS = 2
"""The number of sets of cells that a network is told about: the first that all numbers share."""


@dataclass(frozen=True)
class PlaneGroups:
    """Which planes belong to single numbers, and which to the whole board.

    Attributes:
        numbered: for each kind of plane of cells, the index of its plane for each number, `(K, N)`.
        counted: the same for planes that hold one value for a number, such as a stock.
        shared: the indices of the other planes.
    """

    numbered: tuple[tuple[int, ...], ...]
    counted: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]


def group_planes(game: Game) -> PlaneGroups:
    """Group a game's planes by kind; for example, the candidates of all numbers are one kind."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for index, plane in enumerate(game.observation.planes):
        if plane.index is not None and plane.index[0] is Axis.NUMBER:
            kinds.setdefault((plane.kind, plane.group), []).append(index)
    most = max((len(planes) for (kind, _), planes in kinds.items() if kind == "cells"), default=0)
    numbered, counted = (
        tuple(tuple(planes) for (kind, _), planes in kinds.items() if (kind, len(planes)) == wanted)
        for wanted in (("cells", most), ("number", most))
    )
    used = set(itertools.chain(*numbered, *counted)) if most > 1 else set()
    shared = tuple(i for i in range(len(game.observation.planes)) if i not in used)
    return PlaneGroups(numbered, counted, shared) if used else PlaneGroups((), (), shared)


def houses_of_cells(size: int) -> np.ndarray:
    """The row, column and block of each cell, counted together, `(S, 3)` int64."""
    cells, block = np.arange(size * size), BLOCKS[size]
    rows, columns = cells // size, cells % size
    blocks = rows // block * (size // block) + columns // block
    return np.stack((rows, size + columns, 2 * size + blocks), 1)


@dataclass(frozen=True)
class Layout:
    """Where a game's planes have what a network is told, see `Viewer`.

    Attributes:
        numbered: for each kind of plane of cells its plane for each number, `(K, N)` int64; those
            of the first kind are candidates.
        stocks: the same for planes that say how much of a number either player has left, `(T, N)`.
        most: the most that can be left.
        sets: the planes of the sets of cells, `(Q,)`.
        shared: the planes that all numbers share, `(P,)`.
        scale: the factors that scale these to the range 0 to 1, `(P,)` float32.
        houses: the row, column and block of each cell, counted together, `(S, 3)`.
        board: the number of houses.
        size: the rows of the board.
    """

    numbered: np.ndarray
    stocks: np.ndarray
    most: int
    sets: np.ndarray
    shared: np.ndarray
    scale: np.ndarray
    houses: np.ndarray
    board: int
    size: int

    @property
    def fields(self) -> int:
        """How many fields a candidate has."""
        return 1 + 3 * len(self.sets)


@functools.cache
def layout_of(game: Game) -> Layout:
    """The layout of a game's planes."""
    groups, planes = group_planes(game), game.observation.planes
    numbered = np.array(groups.numbered, np.int64)
    stocks = [kind for kind in groups.counted if planes[kind[0]].group in STOCKS]
    houses = houses_of_cells(game.observation.shape[0])
    return Layout(
        numbered,
        np.array(stocks, np.int64).reshape(len(stocks), numbered.shape[1]),
        max((planes[kind[0]].high for kind in stocks), default=1),
        np.array([i for i in groups.shared if planes[i].kind == "cells"][:SETS], np.int64),
        np.array(groups.shared, np.int64),
        np.array([1 / planes[i].high for i in groups.shared], np.float32),
        houses,
        int(houses.max()) + 1,
        game.observation.shape[0],
    )
