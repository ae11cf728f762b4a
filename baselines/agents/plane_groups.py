"""Which planes of a game belong to single numbers, and where a network finds what it is told."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.values.features import STOCKS
from azumaya.envs.game import Game
from azumaya.envs.geometry import dominari36, sudoku81
from azumaya.envs.symmetries import Axis

GRIDS = {grid.size: grid for grid in (sudoku81.GRID, dominari36.GRID)}
"""The boards with houses, by their rows."""
CANDIDATE = "candidate"
"""The group of the planes that show candidates."""
SETS = 2
"""The number of sets of cells that a network is told about: the first that all numbers share."""
GROUPS = 5
"""The groups that each candidate is in: by number in its row, its column, its block and on the
board, and those in its cell."""


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


def numbered_planes(game: Game) -> PlaneGroups:
    """The same for a network that needs planes of numbers; raises `ValueError` without any."""
    groups = group_planes(game)
    if not groups.numbered:
        raise ValueError(f"{game.id}: needs planes of numbers")
    return groups


def laid_actions(game: Game, num_actions: int) -> int:
    """How many of the actions place a number on a cell: every number on every cell, or none."""
    laid = len(group_planes(game).numbered[0]) * game.observation.cells
    return laid if num_actions >= laid else 0


def has_layout(game: Game) -> bool:
    """Whether a game has planes of numbers, on a board with houses."""
    return bool(group_planes(game).numbered) and game.observation.shape[0] in GRIDS


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a game's planes have what a network is told, see `CandidateFinder`.

    Attributes:
        planes: how many planes there are.
        size: the rows of the board.
        numbered: for each kind of plane of cells its plane for each number, `(K, N)` int64; those
            of the first kind are candidates.
        stocks: the same for planes that say how much of a number either player has left, `(T, N)`
            int64.
        most: the most that can be left.
        sets: the planes of the sets of cells, `(Q,)` int64.
        shared: the planes that all numbers share, `(P,)` int64.
        scale: the factors that scale these to the range 0 to 1, `(P,)` float32.
        houses: the row, column and block of each cell, counted together, `(S, 3)` int64.
        house_count: how many houses there are.
    """

    planes: int
    size: int
    numbered: np.ndarray
    stocks: np.ndarray
    most: int
    sets: np.ndarray
    shared: np.ndarray
    scale: np.ndarray
    houses: np.ndarray
    house_count: int

    @property
    def cells(self) -> int:
        """How many cells the board has."""
        return len(self.houses)

    @property
    def numbers(self) -> int:
        """How many numbers there are."""
        return int(self.numbered.shape[1])

    @property
    def fields(self) -> int:
        """How many fields a candidate has."""
        return 1 + 3 * len(self.sets)

    @property
    def features(self) -> int:
        """How many features a candidate has: fields, their sums, and what is told besides."""
        told = len(self.shared) + len(self.numbered) + 2 * len(self.stocks)
        return (1 + GROUPS) * self.fields + told

    @property
    def overview(self) -> int:
        """How many numbers tell about a position."""
        return self.fields + (1 + len(self.sets)) * len(self.numbered)

    @property
    def groups(self) -> int:
        """How many groups of candidates a position has."""
        return self.numbers * (self.house_count + 1) + self.cells


@functools.cache
def layout_of(game: Game) -> Layout:
    """The layout of a game's planes.

    Raises:
        ValueError: the game has no candidates, or its board no blocks that are known here.
    """
    if not has_layout(game):
        raise ValueError(f"{game.id}: needs planes of numbers on a board of 6 or 9 rows")
    groups, planes, size = group_planes(game), game.observation.planes, game.observation.shape[0]
    numbered, grid = np.array(groups.numbered, np.int64), GRIDS[size]
    houses = np.stack((grid.row_of, grid.column_of, grid.block_of), 1).astype(np.int64)
    stocks = [kind for kind in groups.counted if planes[kind[0]].group in STOCKS]
    return Layout(
        planes=len(planes),
        size=size,
        numbered=numbered,
        stocks=np.array(stocks, np.int64).reshape(len(stocks), numbered.shape[1]),
        most=max((planes[kind[0]].high for kind in stocks), default=1),
        sets=np.array([i for i in groups.shared if planes[i].kind == "cells"][:SETS], np.int64),
        shared=np.array(groups.shared, np.int64),
        scale=np.array([1 / planes[i].high for i in groups.shared], np.float32),
        houses=houses + size * np.arange(3),
        house_count=len(grid.houses),
    )
