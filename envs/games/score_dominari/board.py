"""The board of Score-Dominari: its numbers, blanks, planes and symmetries."""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Plane
from azumaya.envs.games._dominari.board import (
    MARGIN_FIELD,
    MARGIN_PLANE,
    MOVED_FIELDS,
    SQUARE_TURNS,
    Board,
)
from azumaya.envs.geometry.symmetry import IDENTITY
from azumaya.envs.symmetries import Axis, Moved, Symmetries

BOARD = Board(
    numbers=6,
    blank_colours=1,
    more_fields=(
        ("free", np.int64, (2,)),  # by player: may the next number go anywhere?
        ("prior_free", np.int64, (2,)),  # `free` before the turn, if that turn was wrong
        MARGIN_FIELD,
    ),
    more_planes=(
        Plane("own right", "1 if the observer's next number may go anywhere", "number"),
        Plane("opposing right", "1 if the opponent's next number may go anywhere", "number"),
        Plane("prior own right", "without a referee: the same before the wrong turn", "number"),
        Plane("prior opposing right", "the opponent's right before the wrong turn", "number"),
        MARGIN_PLANE,
    ),
)

SYMMETRIES = Symmetries(
    group=(
        (SQUARE_TURNS[IDENTITY], SQUARE_TURNS["reflection in the rising diagonal"]),
        (SQUARE_TURNS[IDENTITY], SQUARE_TURNS["half turn"].swapping()),
    ),
    numbers=BOARD.numbers,
    fields={**MOVED_FIELDS, "free": Moved((Axis.PLAYER,)), "prior_free": Moved((Axis.PLAYER,))},
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.CELL,)),
)
"""White begins on a1 and black on f6. The reflection in the line between these corners keeps both;
the half turn exchanges them, and the players with them. No other symmetry keeps the pair."""
