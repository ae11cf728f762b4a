"""State, planes and symmetries of Sudoku Horikomi; the board and its actions are the family's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azumaya.envs.game import number_bytes, numbered_planes
from azumaya.envs.games._shima.board import CELL_PLANES, FIELDS, PLAY, before_play_planes
from azumaya.envs.games._shima.board import SYMMETRIES as FAMILY_SYMMETRIES
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Axis, Content, Moved

SET = 4
"""How many stones of each number a player has."""

STATE = np.dtype(
    [
        *FIELDS,
        ("stock", U64, (2,)),  # by player, the stones left: four bits a number (bits.nibble)
    ]
)

PLANES = (
    *CELL_PLANES,
    *before_play_planes("0 draft, 1 colour, 2 starter, 3 handicap, 4 play", PLAY),
    *numbered_planes(
        "own stock", "stones of number {n} the observer has left", NUMBERS, "number", SET
    ),
    *numbered_planes(
        "opposing stock", "stones of number {n} the opponent has left", NUMBERS, "number", SET
    ),
)
AT = number_bytes(PLANES, CELLS)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""

SYMMETRIES = replace(
    FAMILY_SYMMETRIES,
    fields={**FAMILY_SYMMETRIES.fields, "stock": Moved((Axis.PLAYER,), Content.COUNTS)},
)
"""As in Sudoku Moyo; rule 7 counts how full the regions are, in any order."""
