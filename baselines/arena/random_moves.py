"""Random moves that a key decides: the same key and number of a draw give the same move."""

from __future__ import annotations

import numpy as np

from azumaya.envs import Position
from azumaya.envs.kernels.rng import random_below


def random_action(position: Position, key: np.uint64, draw: int) -> int:
    """A legal action of a position that is not over."""
    moves = position.legal_actions()
    return moves[int(random_below(key, draw, len(moves)))]


def random_plies(key: np.uint64, draw: int, least: int, most: int) -> int:
    """How many random plies to play, from `least` to `most`."""
    return least + int(random_below(key, draw, most - least + 1))
