"""State and planes of Sudoku Moyo; the board, its actions and its symmetries are the family's."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.game import Plane, number_bytes
from azumaya.envs.games._shima.board import CELL_PLANES, FIELDS, POINTS, before_play_planes
from azumaya.envs.geometry.sudoku81 import CELLS

FIELDS_OF_MOYO: list[tuple[Any, ...]] = [
    *FIELDS,
    ("points", np.int32),  # option: 1 if the game is scored by points
    ("streak", np.int32),  # in POINTS: stones the winner has placed since the loser's last one
]
STATE = np.dtype(FIELDS_OF_MOYO)

NUMBER_PLANES = (
    *before_play_planes("0 draft, 1 colour, 2 starter, 3 handicap, 4 play, 5 points", POINTS),
    Plane("points", "0 scored by win, else 1 + stones placed since the loser's last", "number", 82),
)

PLANES = (*CELL_PLANES, *NUMBER_PLANES)
AT = number_bytes(PLANES, CELLS)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""
