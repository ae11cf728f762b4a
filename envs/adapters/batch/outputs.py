"""The buffers that a step of a batch writes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.engine.kernels import PACKED, PLANES
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count

CONTENT = ("masks", "view_rows", "rewards", "both", "terminated", "truncated", "to_move")
"""The fields of `Outputs` that own memory; `observations` is a view of `view_rows`."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """The buffers that a step of `n` games writes.

    Attributes:
        masks: the masks: `(n, A)` int8, or packed words, `(n, W)` uint64.
        view_rows: the observations as kernels write them: `(n, bytes)` int8, or packed words.
        observations: the observations: `(n, C, rows, columns)` int8, or packed; None if the
            format is "none".
        rewards: the reward of the player who moved, `(n,)` float64.
        both: the rewards of both players, `(n, 2)` float64.
        terminated, truncated: whether and how this step ended the game, `(n,)` bool.
        to_move: the player to move next, `(n,)` int64.
    """

    masks: np.ndarray
    view_rows: np.ndarray
    observations: np.ndarray | None
    rewards: np.ndarray
    both: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    to_move: np.ndarray


def buffers(
    game: Game, actions: int, form: int, count: int, new: Callable[[tuple[int, ...], Any], Any]
) -> dict[str, Any]:
    """Buffers for the fields of `Outputs`, allocated by `new(shape, dtype)`.

    `new` may return tensors. Observations are a reshaped view of the rows.
    """
    packed = form == PACKED
    masks = (
        new((count, word_count(actions)), np.uint64) if packed else new((count, actions), np.int8)
    )
    view_rows, views = view_buffers(game, form, count, new)
    return {
        "masks": masks,
        "view_rows": view_rows,
        "observations": views,
        "rewards": new((count,), np.float64),
        "both": new((count, 2), np.float64),
        "terminated": new((count,), np.bool_),
        "truncated": new((count,), np.bool_),
        "to_move": new((count,), np.int64),
    }


def view_buffers(
    game: Game, form: int, count: int, new: Callable[[tuple[int, ...], Any], Any]
) -> tuple[Any, Any]:
    """The observation buffers: `view_rows` and `observations` of `Outputs`."""
    if form == PACKED:
        words = new((count, game.observation.packed_words), np.uint64)
        return words, words
    shape = (len(game.observation.planes), *game.observation.shape)
    size = math.prod(shape) if form == PLANES else 0
    rows = new((count, size), np.int8)
    return rows, rows.reshape(count, *shape) if size else None
