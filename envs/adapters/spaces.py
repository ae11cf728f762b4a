"""Observation spaces, built from the planes of a game."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces

from azumaya.envs.game import Game


def observation_box(game: Game, dtype: Any = np.int8) -> spaces.Box:
    """The space of the planes, `(C, rows, columns)`, each from 0 to its highest value."""
    highs = np.array([plane.high for plane in game.observation.planes], dtype)
    high = np.broadcast_to(highs[:, None, None], (len(highs), *game.observation.shape))
    return spaces.Box(np.zeros(high.shape, dtype), high, dtype=dtype)


def batched(space: spaces.Dict, count: int) -> spaces.Dict:
    """The space of `count` such observations, like Gymnasium's `batch_space` but much smaller.

    Gymnasium's boxes store their bounds once per game. With planes that is 16 KB per game, more
    memory than the machine has for a million games. These bounds are views of those of one game.
    """
    boxes: dict[str, spaces.Space[Any]] = {
        name: _repeated(box, count) for name, box in space.items()
    }
    # pairs keep their order in every version of Gymnasium
    return spaces.Dict(tuple(boxes.items()), seed=deepcopy(space.np_random))


class _Repeated(spaces.Box):
    """A box of many games whose bounds are views of those of one, also after it is copied.

    NumPy copies and pickles such views in full, which for planes would be most of an environment.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """What `copy` and `pickle` build the box from: that of one game, and their number."""
        one = spaces.Box(self.low[0], self.high[0], dtype=self.dtype, seed=self.np_random)
        return _repeated, (one, len(self.low))


def _repeated(box: Any, count: int) -> spaces.Box:
    shape, seed = (count, *box.shape), deepcopy(box.np_random)
    many = _Repeated(box.low[None], box.high[None], dtype=box.dtype, seed=seed)
    many._shape = shape
    for name in ("low", "high", "bounded_below", "bounded_above"):
        setattr(many, name, np.broadcast_to(getattr(many, name), shape))
    return many
