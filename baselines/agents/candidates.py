"""What `NumberNet` is told about a position: its candidates, one by one. None of it is learned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np

from azumaya.baselines.agents.candidate_kernels import KINDS, view_kernels
from azumaya.baselines.agents.plane_groups import layout_of
from azumaya.envs.game import Game

Array = TypeVar("Array")
Other = TypeVar("Other")


@dataclass(frozen=True)
class Seen(Generic[Array]):
    """The candidates of a batch of positions, one after another, and what is told about them.

    Attributes:
        position: the position of each candidate, `(M,)` int64, in ascending order.
        lengths: how many candidates each position has, `(B,)` int64.
        number: its number, counted from 0, `(M,)` int64.
        cell: its cell, `(M,)` int64.
        groups: the groups that it is in, `(M, 5)` int64, from 0 to less than `B * Viewer.groups`:
            the candidates of its number in its row, its column, its block and on the board, and
            those in its cell.
        features: `(M, features)` float32, see `Viewer`.
        overview: what is told about each position, `(B, overview)` float32.
    """

    position: Array
    lengths: Array
    number: Array
    cell: Array
    groups: Array
    features: Array
    overview: Array

    def each(self, change: Callable[[Array], Other]) -> Seen[Other]:
        """The same with each array changed."""
        return Seen(*(change(getattr(self, item.name)) for item in fields(self)))


class Viewer:
    """Finds the candidates of a game's positions and what a network is told about them.

    A candidate is a number that fits a cell. Where players have stocks, a number that nobody has
    left is a candidate only of cells in none of the sets, where stones come from no stock.

    A candidate has `fields`: 1, and for each set of cells whether its cell belongs to it, this as a
    share of the cell's candidates, and this if it is the only one. Its features are, in this order:
    the fields; their sums over the candidates of its number in its row, column, block and on the
    board, and over those of its cell, divided by the rows of the board; the shared planes at its
    cell, scaled to the range 0 to 1; how often its number is in the planes of each kind, divided by
    the rows; and for each kind of stock how much is left, as a share of the most, and whether
    anything is.

    The overview of a position has the sums of the fields of all candidates and, for each kind of
    planes, how many numbers there are on the board and on each of the sets, all divided by the
    cells.

    Args:
        game: a game with candidates.

    Attributes:
        numbers: how many numbers there are.
        cells: how many cells.
        fields, features, overview: how many of these there are.
        groups: how many groups of candidates a position has.
    """

    def __init__(self, game: Game) -> None:
        layout = layout_of(game)
        kinds, self.numbers = layout.numbered.shape
        self.cells, self.fields = game.observation.cells, layout.fields
        told = len(layout.shared) + kinds + 2 * len(layout.stocks)
        self.features = (1 + KINDS) * self.fields + told
        self.overview = self.fields + (1 + len(layout.sets)) * kinds
        self.groups = self.numbers * (layout.board + 1) + self.cells
        self._count, self._view = view_kernels(game)

    def view(self, planes: np.ndarray) -> Seen[np.ndarray]:
        """Look at positions, from their planes `(B, C, rows, columns)` int8."""
        rows = np.ascontiguousarray(planes).reshape(*planes.shape[:2], self.cells)
        lengths = np.empty(len(rows), np.int64)
        self._count(rows, lengths)
        count = int(lengths.sum())
        position, number, cell = (np.empty(count, np.int64) for _ in range(3))
        groups = np.empty((count, KINDS), np.int64)
        features = np.empty((count, self.features), np.float32)
        overview = np.empty((len(rows), self.overview), np.float32)
        self._view(rows, position, number, cell, groups, features, overview)
        return Seen(position, lengths, number, cell, groups, features, overview)
