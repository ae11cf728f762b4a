"""The board of Revers-Dominari: its numbers, blanks, planes and symmetries."""

from __future__ import annotations

from azumaya.envs.game import Plane
from azumaya.envs.games._dominari.board import (
    MARGIN_FIELD,
    MARGIN_PLANE,
    MOVED_FIELDS,
    SQUARE_TURNS,
    Board,
)
from azumaya.envs.geometry.dominari36 import CELLS
from azumaya.envs.geometry.symmetry import identity
from azumaya.envs.symmetries import Axis, Symmetries

BOARD = Board(
    numbers=6,
    blank_colours=2,
    more_fields=(MARGIN_FIELD,),
    more_planes=(
        Plane("colour", "1 if the observer is white", "number", value=Axis.PLAYER),
        MARGIN_PLANE,
    ),
)

SYMMETRIES = Symmetries(
    group=(tuple(SQUARE_TURNS.values()), (identity(CELLS), identity(CELLS).swapping())),
    numbers=BOARD.numbers,
    fields=MOVED_FIELDS,
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.PLAYER, Axis.CELL)),
)
"""Captures work the same in all directions and for both players. Only the start distinguishes the
diagonals, and it shows on the board. The players can be swapped without a turn of the board because
actions name the colour of a blank, not its owner."""
