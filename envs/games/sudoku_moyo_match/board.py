"""State, planes and symmetries of the match: a single game's, and what the first game leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azumaya.envs.game import Plane, number_bytes, numbered_planes
from azumaya.envs.games._shima.board import CELL_PLANES, ROW
from azumaya.envs.games._shima.board import SYMMETRIES as FAMILY_SYMMETRIES
from azumaya.envs.games.sudoku_moyo.board import FIELDS_OF_MOYO
from azumaya.envs.games.sudoku_moyo.board import NUMBER_PLANES as MOYO_NUMBER_PLANES
from azumaya.envs.geometry.sudoku81 import CELLS, NUMBERS
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Content, Moved

# The match's own fields come first. If they were appended, numba would take the record for a
# subtype of the single game's and warn that this is experimental.
STATE = np.dtype(
    [
        ("givens", U64, (ROW,)),  # the puzzle, in the form of `stones`
        ("game", np.int64),  # 0 in the first game, 1 in the second
        ("began", np.int64),  # the player who started the first game, once that is known
        ("first", np.int64),  # player_0's points in the first game
        ("stones_before", np.int64),  # handicap of each game: how many stones
        ("lays_before", np.int64),  # handicap of each game: the player who places them
        *FIELDS_OF_MOYO,
    ]
)

GIVENS_PLANE = len(CELL_PLANES)

PLANES = (
    *CELL_PLANES,
    *numbered_planes("given", "a {n} of the puzzle lies here", NUMBERS),
    *MOYO_NUMBER_PLANES,
    Plane("second", "1 in the second game", "number"),
    Plane("began", "1 if the observer started the first game, once that is known", "number"),
    Plane("ahead", "points of the first game, if the observer won it", "number", CELLS),
    Plane("behind", "points of the first game, if the opponent won it", "number", CELLS),
    Plane("handicap to come", "handicap stones of a game, plus 10 if the observer's", "number", 19),
)

AT = number_bytes(PLANES, CELLS)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""

SYMMETRIES = replace(
    FAMILY_SYMMETRIES,
    fields={**FAMILY_SYMMETRIES.fields, "givens": Moved((), Content.STONES)},
)
