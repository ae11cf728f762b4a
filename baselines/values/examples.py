"""What a network learns from: positions of games, and questions about moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np

from azumaya.baselines.values.network import F32


@dataclass(frozen=True)
class Joinable:
    """Arrays that hold many examples one after another, and can be appended to others."""

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The examples of all parts, of which there is at least one."""
        names = (item.name for item in fields(cls))
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


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


@dataclass(frozen=True)
class Viewed(Joinable):
    """Positions as the network sees them.

    Attributes:
        counts: how many features each position has, `(N,)` int64.
        begun, targets, found: as in `Rows`.
    """

    counts: np.ndarray
    begun: np.ndarray
    targets: np.ndarray
    found: np.ndarray

    @property
    def rows(self) -> Rows:
        """The positions as kernels take them."""
        return Rows(self.found, offsets_of(self.counts), self.begun, self.targets)


@dataclass(frozen=True)
class Games(Viewed):
    """What can be learned from `G` games: their positions, one game after another.

    Attributes:
        lengths: the plies of each game, `(G,)` int64.
        results: player_0's payoffs, `(G,)` int64.
    """

    lengths: np.ndarray
    results: np.ndarray


@dataclass(frozen=True)
class Choices(Viewed):
    """`Q` questions, positions in which some moves are right, with those that the moves lead to.

    Attributes:
        moves: how many moves each question has, `(Q,)` int64.
        right: whether the move to a position is right, `(N,)` bool.
        again: whether the player who made it is to move again, `(N,)` bool.
    """

    moves: np.ndarray
    right: np.ndarray
    again: np.ndarray


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
