"""The board of Abalone: marbles, actions, states, planes, symmetries.

Black is player_0 and moves first; white is player_1. The 61 cells and their places as bits are in
`geometry/hex61.py`; `state.marbles[p]` has the marbles of player p, by place.

Actions: the 1,272 moves that fit the empty board. First those in line, by trailing cell, then
direction; then the broadsides of two and those of three, by first cell, last cell, direction. Cells
go in reading order, directions clockwise from north-east.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from azumaya.envs.game import Plane, number_bytes
from azumaya.envs.geometry.hex61 import (
    ARRAY_CELL,
    CELL_OF_PLACE,
    CELLS,
    DIRECTIONS,
    NE,
    NEIGHBOUR,
    NW,
    SIZE,
    E,
)
from azumaya.envs.geometry.symmetry import hexagon
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Axis, Content, Moved, Symmetries

BLACK, WHITE = 0, 1
MARBLES, TO_WIN = 14, 6
"""Marbles of each player at the start, and how many to push out."""
MOST_PLIES = 128**3 - 1
"""The largest option `max_plies`: three planes of the observation show the plies left."""

STATE = np.dtype(
    [
        ("marbles", U64, (2,)),  # by player, by place
        ("to_move", np.int64),
        ("over", np.int64),
        ("payoff", np.int64),
        ("out", np.int64, (2,)),  # by player: their marbles pushed out
        ("ply", np.int64),  # steps so far
        ("max_plies", np.int64),  # option: the limit, 0 = none
        ("tiebreak", np.int64),  # option: 1 if marbles pushed out count at the limit
    ]
)

PLANES = (
    Plane("own", "marbles of the observer"),
    Plane("opposing", "marbles of the opponent"),
    Plane("board", "the 61 cells of the board"),
    Plane("to move", "1 if the observer is to move", "number"),
    Plane("over", "1 if the game is over", "number"),
    Plane("own out", "the observer's marbles pushed out", "number", TO_WIN),
    Plane("opposing out", "the opponent's marbles pushed out", "number", TO_WIN),
    Plane("plies left / 16384", "plies to the limit, // 16384; 0 without a limit", "number", 127),
    Plane("plies left / 128", "the remainder of that, // 128", "number", 127),
    Plane("plies left", "the remainder of that", "number", 127),
    Plane("tiebreak", "1 if marbles pushed out count at the limit", "number"),
)
AT = number_bytes(PLANES, SIZE * SIZE)
"""The bytes of the `number` planes in a packed observation, by the planes' names."""


# ---- actions ----


class Move(NamedTuple):
    """A move on the empty board: `size` marbles from `cells[0]` on go one step in `direction`.

    In a move in line `size` is 0, since it depends on the position, `cells` is the trailing marble
    alone, and `axis` is the direction.
    """

    size: int
    cells: tuple[int, ...]
    axis: int
    direction: int

    @property
    def targets(self) -> tuple[int, ...]:
        """Where the marbles of `cells` go."""
        return tuple(_beside(cell, self.direction) for cell in self.cells)


AXES = (NW, NE, E)
"""From the first marble of a broadside to its last, in the order of the last one's cell."""


def _beside(cell: int, direction: int) -> int:
    beside = NEIGHBOUR[cell][direction]
    assert beside is not None
    return beside


def _row_of_cells(first: int, axis: int, size: int) -> tuple[int, ...] | None:
    cells = [first]
    while len(cells) < size:
        beside = NEIGHBOUR[cells[-1]][axis]
        if beside is None:
            return None
        cells.append(beside)
    return tuple(cells)


def _in_line() -> list[Move]:
    return [
        Move(0, (cell,), direction, direction)
        for cell in range(CELLS)
        for direction in range(DIRECTIONS)
        if NEIGHBOUR[cell][direction] is not None
    ]


def _broadsides(size: int) -> list[Move]:
    found = []
    for first in range(CELLS):
        for axis in AXES:
            cells = _row_of_cells(first, axis, size)
            for direction in range(DIRECTIONS):
                if cells is None or direction % 3 == axis % 3:
                    continue
                if all(NEIGHBOUR[cell][direction] is not None for cell in cells):
                    found.append(Move(size, cells, axis, direction))
    return found


IN_LINE, TWOS, THREES = _in_line(), _broadsides(2), _broadsides(3)
MOVES = (*IN_LINE, *TWOS, *THREES)
"""Every action's move."""
FIRST_TWO, FIRST_THREE = len(IN_LINE), len(IN_LINE) + len(TWOS)
"""The first action that is a broadside of two, and of three."""
ACTIONS = len(MOVES)


def leaves_and_enters(action: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cells of a plane that the marbles named by an action leave, and those they enter."""
    move = MOVES[action]
    leaves, enters = move.cells, move.targets
    return tuple(ARRAY_CELL[cell] for cell in leaves), tuple(ARRAY_CELL[cell] for cell in enters)


# ---- symmetries ----

SYMMETRIES = Symmetries(
    group=hexagon(),
    fields={"marbles": Moved((Axis.PLAYER,), Content.CELLS)},
    actions=lambda settings: ((Axis.MOVE,),),
    bits=tuple(ARRAY_CELL[cell] for cell in CELL_OF_PLACE),
    moves=leaves_and_enters,
)
"""Moves and pushes work the same in all six directions and for both players. Only the layout, which
the position shows, distinguishes them."""
