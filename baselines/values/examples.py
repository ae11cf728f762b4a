"""What a network learns from: positions of games, and questions about moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from azumaya.baselines.values.network import F32, Shape, features_of
from azumaya.envs.game import Game

Examples = TypeVar("Examples", bound=tuple[np.ndarray, ...])


def joined(parts: Sequence[Examples]) -> Examples:
    """The examples of all parts, of which there is at least one, as one tuple of arrays."""
    return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


def row_type(shape: Shape) -> type[np.integer[Any]]:
    """The type of row numbers in what is learned from."""
    return np.uint16 if shape.rows <= np.iinfo(np.uint16).max + 1 else np.int32


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Where each example begins, and where the last one ends, `(n + 1,)`; `counts` is `(n,)`."""
    return np.concatenate([[0], np.cumsum(counts)])


class Rows(NamedTuple):
    """`N` positions with `M` features, as kernels take them.

    Attributes:
        found: the features, one position after another, `(M,)` integers of any type.
        offsets: where the features of each position begin, and where the last ones end, `(N + 1,)`.
        begun: what the network's sum starts with, `(N,)` float32.
        targets: what the value should be, for the player to move, `(N,)` float32.
    """

    found: np.ndarray
    offsets: np.ndarray
    begun: np.ndarray
    targets: np.ndarray


class Viewed(NamedTuple):
    """`N` positions as the network sees them.

    Attributes:
        counts: how many features each position has, `(N,)` int64.
        begun, targets, found: as in `Rows`.
    """

    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray


class Games(NamedTuple):
    """What can be learned from `G` games: their positions, one game after another.

    Attributes:
        counts, begun, targets, found: as in `Viewed`; the targets are TD(lambda) returns.
        lengths: the plies of each game, `(G,)` int64.
        results: player_0's payoffs, `(G,)` int64.
    """

    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray
    lengths: np.ndarray
    results: np.ndarray

    @classmethod
    def room(cls, game: Game, shape: Shape, games: int, plies: int) -> Games:
        """Room for `games` games of at most `plies` plies each."""
        most, room = games * plies, features_of(game, shape.plain).room
        return cls(
            np.zeros(most, np.int64), np.zeros(most, np.float32), np.zeros(most, np.float32),
            np.zeros(most * room, row_type(shape)), np.zeros(games, np.int64),
            np.zeros(games, np.int64),
        )  # fmt: skip

    def first(self, count: int) -> Games:
        """A copy of the first `count` games, of those that there is room for."""
        positions = self.lengths[:count].sum()
        ends = (*[positions] * 3, self.counts[:positions].sum(), count, count)
        return Games(*(each[:end].copy() for each, end in zip(self, ends, strict=True)))


class Choices(NamedTuple):
    """`Q` questions, positions in which some moves are right, with those that the moves lead to.

    Attributes:
        counts, begun, targets, found: as in `Viewed`.
        moves: how many moves each question has, `(Q,)` int64.
        right: whether the move to a position is right, `(N,)` bool.
        again: whether the player who made it is to move again, `(N,)` bool.
    """

    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray
    moves: np.ndarray
    right: np.ndarray
    again: np.ndarray


def rows_of(seen: Viewed | Games | Choices) -> Rows:
    """Positions as kernels take them."""
    return Rows(seen.found, offsets_of(seen.counts), seen.begun, seen.targets)


class Moves(NamedTuple):
    """The moves of questions, as a kernel takes them.

    Attributes:
        firsts: where the moves of each question begin, and where the last ones end, `(Q + 1,)`.
        right: as in `Choices`.
        signs: 1 where the player who made the move is to move again, else -1, `(N,)` float32.
        scores: room for the moves of a question, float32.
    """

    firsts: np.ndarray
    right: np.ndarray
    signs: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, choices: Choices) -> Moves:
        """The moves of at least one question."""
        signs = np.where(choices.again, F32(1), F32(-1))
        scores = np.zeros(choices.moves.max(), np.float32)
        return cls(offsets_of(choices.moves), choices.right, signs, scores)
