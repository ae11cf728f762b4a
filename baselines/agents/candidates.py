"""What `NumberNet` is told about a position: its candidates, one by one. None of it is learned."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from azumaya.baselines.agents.candidate_kernels import finder_kernels
from azumaya.baselines.agents.plane_groups import GROUPS, layout_of
from azumaya.envs.game import Game

Array = TypeVar("Array")


class Candidates(NamedTuple, Generic[Array]):
    """The candidates of a batch of positions, one after another, and what is told about them.

    Attributes:
        position: the position of each candidate, `(M,)` int64, in ascending order.
        lengths: how many candidates each position has, `(B,)` int64.
        number: its number, counted from 0, `(M,)` int64.
        cell: its cell, `(M,)` int64.
        groups: the groups that it is in, `(M, 5)` int64, from 0 to less than `B * Layout.groups`:
            the candidates of its number in its row, its column, its block and on the board, and
            those in its cell.
        features: what is told about it, `(M, Layout.features)` float32, see `CandidateFinder`.
        overview: what is told about each position, `(B, Layout.overview)` float32.
    """

    position: Array
    lengths: Array
    number: Array
    cell: Array
    groups: Array
    features: Array
    overview: Array


class CandidateFinder:
    """Finds the candidates of a game's positions and what a network is told about them.

    A candidate is a number that fits a cell. Where players have stocks, a number that nobody has
    left is a candidate only of cells in none of the sets, where stones come from no stock.

    A candidate has `fields`: 1, and for each set of cells whether its cell belongs to it, this as a
    share of the cell's candidates, and this if it is the only one. (The shares add up to the number
    of the set's cells that are alive. Placing a number in a house of a cell of which it is the only
    candidate makes the cell dead.) Its features are, in this order: the fields; their sums over the
    candidates of each of its groups, divided by the rows of the board; the shared planes at its
    cell, scaled to the range 0 to 1; how often its number is in the planes of each kind, divided by
    the rows; and for each kind of stock how much is left, as a share of the most, and whether
    anything is.

    The overview of a position has the sums of the fields of all candidates and, for each kind of
    planes, how many numbers there are on the board and on each of the sets, all divided by the
    cells.

    Args:
        game: a game with candidates.

    Attributes:
        layout: where the game's planes have this.

    Raises:
        ValueError: the game has no candidates, or its board no blocks that are known here.
    """

    def __init__(self, game: Game) -> None:
        self._game, self.layout = game, layout_of(game)
        self._count, self._find = finder_kernels(game)

    def __reduce__(self) -> tuple[Any, ...]:
        return CandidateFinder, (self._game,)

    def find(self, planes: np.ndarray) -> Candidates[np.ndarray]:
        """The candidates in planes `(B, C, rows, columns)` int8, and what is told about them.

        Raises:
            ValueError: the planes are not those of the game, or of another dtype.
        """
        layout = self.layout
        wanted = (layout.planes, *self._game.observation.shape)
        if planes.shape[1:] != wanted or planes.dtype != np.int8:
            raise ValueError(
                f"planes of shape {planes.shape} and dtype {planes.dtype}: {self._game.id} has "
                f"planes of shape (B, {', '.join(map(str, wanted))}) and dtype int8"
            )
        rows = np.ascontiguousarray(planes).reshape(len(planes), layout.planes, layout.cells)
        lengths = np.empty(len(rows), np.int64)
        self._count(rows, lengths)
        count = int(lengths.sum())
        position = np.empty(count, np.int64)
        number, cell = (np.empty(count + 1, np.int64) for _ in range(2))  # see `list_kernels`
        groups = np.empty((count, GROUPS), np.int64)
        features = np.empty((count, layout.features), np.float32)
        overview = np.empty((len(rows), layout.overview), np.float32)
        self._find(rows, position, number, cell, groups, features, overview)
        return Candidates(
            position, lengths, number[:count], cell[:count], groups, features, overview
        )
