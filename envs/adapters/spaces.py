"""Observation spaces, from the planes of a game."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from azumaya.envs.game import Game


def observation_box(game: Game, dtype: Any = np.int8) -> spaces.Box:
    """The planes, `(C, rows, columns)`, each from 0 to the highest value it can have."""
    highs = np.array([plane.high for plane in game.planes], dtype)
    high = np.broadcast_to(highs[:, None, None], (len(highs), *game.shape))
    return spaces.Box(np.zeros(high.shape, dtype), high, dtype=dtype)
