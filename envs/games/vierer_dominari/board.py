"""The board of Vierer-Dominari: its numbers, blanks, planes and symmetries."""

from __future__ import annotations

from azumaya.envs.games._dominari.board import MOVED_FIELDS, SQUARE_TURNS, Board
from azumaya.envs.symmetries import Axis, Symmetries

BOARD = Board(numbers=5, blank_colours=1)

SYMMETRIES = Symmetries(
    group=(tuple(SQUARE_TURNS.values()),),
    numbers=BOARD.numbers,
    fields=MOVED_FIELDS,
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.CELL,)),
)
"""Every turn and reflection takes winning fours to winning fours."""
