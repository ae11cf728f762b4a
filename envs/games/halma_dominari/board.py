"""The board of Halma-Dominari: cells, actions, states, planes, symmetries.

a6 .. f6   cell 0 .. 5      White is player_0 and moves first; black is player_1.
 :    :         :    :      Actions: number n (1 to 6) to cell c is `(n - 1) * 36 + c`;
a1 .. f1   cell 30 .. 35    bearing number n off is `216 + n - 1`.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Plane, number_bytes, numbered_planes
from azumaya.envs.geometry.dominari36 import CELL, CELLS, SIZE
from azumaya.envs.geometry.symmetry import IDENTITY, square
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Axis, Content, Moved, Symmetries

WHITE, BLACK = 0, 1
NUMBERS = 6
"""Each player has one stone of each number."""

OFF_ACTION = NUMBERS * CELLS
"""The first action that bears a stone off."""
ACTIONS = OFF_ACTION + NUMBERS

PLAY, CHOOSE, SHUFFLE = 0, 1, 2
"""Stages: the game itself; placing the stones before it; a start whose arrangements `reset` has yet
to draw."""

START_CELLS = tuple(
    tuple(CELL[square] for square in squares.split())
    for squares in ("a1 b1 c1 a2 b2 a3", "f6 e6 d6 f5 e5 f4")
)
"""By player, the start cells in the order of the option `setup`."""

STATE = np.dtype(
    [
        ("stones", U64, (2, NUMBERS)),  # by player and number: its cell as a bit, or nothing
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("stage", np.int64),  # PLAY or CHOOSE
    ]
)

PLANES = (
    *numbered_planes("own", "the observer's {n} lies here", NUMBERS),
    *numbered_planes("opposing", "the opponent's {n} lies here", NUMBERS),
    *numbered_planes("room", "free, and the observer's {n} fits by rule 3", NUMBERS),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane("over", "1 if the game is over", "number"),
    Plane("white", "1 if the observer is white and goes up and right", "number", value=Axis.PLAYER),
    Plane("laying", "1 while the stones are laid", "number"),
)
OPPOSING_PLANE, ROOM_PLANE = NUMBERS, 2 * NUMBERS
AT = number_bytes(PLANES, CELLS)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""

_SQUARE = square(SIZE)
SYMMETRIES = Symmetries(
    group=(
        (_SQUARE[IDENTITY], _SQUARE["reflection in the rising diagonal"]),
        (_SQUARE[IDENTITY], _SQUARE["half turn"].swapping()),
    ),
    numbers=NUMBERS,
    fields={"stones": Moved((Axis.PLAYER, Axis.NUMBER), Content.CELLS)},
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.NUMBER,)),
    in_order=("stage", CHOOSE),
)
"""The reflection in the line from a1 to f6 exchanges up and right, and keeps both start triangles.
The half turn exchanges the directions of white and black. No other turn or reflection keeps the
rules. While the stones are placed, white goes first and the numbers are placed in order."""
