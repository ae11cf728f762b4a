"""The 1,272 moves of Abalone that fit the empty board, numbered and named, and which are legal.

In line by trailing cell, then direction; then broadsides of two and of three, by first cell,
last cell, direction. Cells go in reading order, directions clockwise from north-east.

Legal moves are found on boards, one for each direction in line and one for each kind of broadside
(axis and direction), with the places of the trailing or first marbles set. Action numbers go by
cell first, so these boards have to be interleaved: `LINE_BITS` does that for a row at a time;
broadsides are taken by the place of their first marble, `SIDE_BITS` giving the actions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from azumaya.envs.geometry.hex61 import (
    ARRAY_CELL,
    CELL_AT,
    CELLS,
    DIRECTIONS,
    HAS,
    NE,
    NEIGHBOUR,
    NW,
    PLACE,
    ROW_RANGES,
    SE,
    SIZE,
    SQUARES,
    SW,
    E,
    W,
    facing_each,
    turns,
)
from azumaya.envs.kernels.bits import LOW6, ONE, U64, ZERO, lowest, put, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import everywhere, load, meeting, union, word_in


class Move(NamedTuple):
    """A move on the empty board: `size` marbles from `cells[0]` on, one step in `direction`.

    In line `size` is 0 (it depends on the position), `cells` the trailing marble alone and
    `axis` the direction.
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
LAST_WORD = word_count(ACTIONS) - 1


def _name(move: Move) -> str:
    ends = (move.cells[0],) if not move.size else (move.cells[0], move.cells[-1])
    return "".join(SQUARES[cell] for cell in (*ends, move.targets[0]))


NAMES = tuple(_name(move) for move in MOVES)
ACTION_OF = {name: action for action, name in enumerate(NAMES)}


def leaves_and_enters(action: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cells of a plane that the marbles named leave, and those they enter."""
    move = MOVES[action]
    leaves, enters = move.cells, move.targets
    return tuple(ARRAY_CELL[cell] for cell in leaves), tuple(ARRAY_CELL[cell] for cell in enters)


# ---- tables for the kernels ----

MOVE_PLACE = np.array([PLACE[move.cells[0]] for move in MOVES], np.uint8)
MOVE_WAYS = np.array([move.axis << 3 | move.direction for move in MOVES], np.uint8)
"""By action: the place of the trailing or first cell; the axis, and in three bits the direction."""

SIDE_KINDS = tuple((a, d) for a in AXES for d in range(DIRECTIONS) if d % 3 != a % 3)
"""The axis and direction of each kind of broadside."""
KINDS = len(SIDE_KINDS)

AXIS_TURNS = turns(axis for axis, _ in SIDE_KINDS)
SIDE_TURNS = turns(direction for _, direction in SIDE_KINDS)
ALL_TURNS = turns(range(DIRECTIONS))
"""To look along the axis of each kind of broadside, the way it goes, and in every direction."""

KINDS_A_LOOK = 4
"""So many kinds, those of one axis, `SIDE_BITS` takes at once."""


def _side_tables() -> tuple[np.ndarray, np.ndarray]:
    first = np.zeros((2, CELLS), np.int16)
    table = np.zeros((2, CELLS, len(AXES), 1 << KINDS_A_LOOK), np.uint16)
    for size, moves, offset in ((0, TWOS, FIRST_TWO), (1, THREES, FIRST_THREE)):
        for action in reversed(range(len(moves))):
            first[size, PLACE[moves[action].cells[0]]] = offset + action
        for action, move in enumerate(moves, offset):
            place = PLACE[move.cells[0]]
            axis, kind = divmod(SIDE_KINDS.index((move.axis, move.direction)), KINDS_A_LOOK)
            lit = [value for value in range(1 << KINDS_A_LOOK) if value >> kind & 1]
            table[size, place, axis, lit] |= np.uint16(1 << (action - int(first[size, place])))
    return first, table


SIDE_FIRST, SIDE_BITS = _side_tables()
"""For broadsides of two and of three, by the first marble's place: the first action, `(2, 61)`; and
by axis and the kinds of this axis that can be done, as bits, those of their actions, counted from
there, `(2, 61, 3, 16)`."""

WHOLE_ROW = 8
"""A row with more cells is cut in two chunks, to keep `LINE_BITS` in the first cache and, with all
other tables, in the 64 KiB that CUDA has for constants."""


def _chunks() -> tuple[tuple[int, ...], ...]:
    parts: list[tuple[int, ...]] = []
    for row, (first, end) in enumerate(ROW_RANGES):
        cells = tuple(CELL_AT[number, SIZE - 1 - row] for number in range(first, end))
        half = len(cells) if len(cells) <= WHOLE_ROW else (len(cells) + 1) // 2
        parts += [cells[:half], cells[half:]] if cells[half:] else [cells]
    return tuple(parts)


CHUNKS = _chunks()
"""The board's rows, or halves of them, in reading order: the cells `LINE_BITS` takes at once."""
CHUNK_COUNT = len(CHUNKS)
CHUNK_PLACE = np.array([PLACE[cells[0]] for cells in CHUNKS], U64)
"""The place of a chunk's first cell; those of the others follow."""
CHUNK_MASK = np.array([(1 << len(cells)) - 1 for cells in CHUNKS], U64)
CHUNK_START = np.cumsum([0] + [1 << len(cells) for cells in CHUNKS]).astype(U64)
"""Where a chunk's part of `LINE_BITS` begins."""
_PER_CHUNK = [[a for a, move in enumerate(IN_LINE) if move.cells[0] in cells] for cells in CHUNKS]
CHUNK_FIRST = np.array([actions[0] for actions in _PER_CHUNK])
CHUNK_WIDTH = np.array([len(actions) for actions in _PER_CHUNK])
"""The first action in line of a chunk, and how many there are."""


def _line_bits() -> np.ndarray:
    table = np.zeros((DIRECTIONS, int(CHUNK_START[-1])), U64)
    for chunk, cells in enumerate(CHUNKS):
        for action, move in enumerate(IN_LINE):
            if move.cells[0] not in cells:
                continue
            lit = 1 << cells.index(move.cells[0])
            for value in range(1 << len(cells)):
                if value & lit:
                    row = int(CHUNK_START[chunk]) + value
                    table[move.direction, row] |= U64(1 << (action - int(CHUNK_FIRST[chunk])))
    return table


LINE_BITS = _line_bits()
"""Trailing marbles to action bits: by direction and `CHUNK_START[chunk] + v`, where `v` says which
cells of the chunk are set, the bits of their actions, counted from `CHUNK_FIRST[chunk]`."""


# ---- moves, found on shifted boards ----


@kernel
def facing_all(boards):
    """`facing` in all six directions, for a row of a board for each."""
    return facing_each(boards, ALL_TURNS, DIRECTIONS)


@kernel
def in_line(own, theirs, free):
    """The trailing marbles of all moves in line, as a row by direction: rules 1 and 2.

    Read from the front: `one` and `both` are opposing marbles that give way, alone or with the
    next one; `third` and `second` are own marbles that can go third or second in a line.
    """
    room = everywhere(free, DIRECTIONS)
    one = (facing_all(room) | ~load(HAS, 0, DIRECTIONS)) & theirs
    both = facing_all(one) & theirs
    third = facing_all(room | one | both) & own
    second = facing_all(room | one | third) & own
    return facing_all(room | second) & own


@kernel
def write_lines(own, theirs, free, words):
    """The moves in line."""
    found = in_line(own, theirs, free)
    ne, e, se = word_in(found, NE), word_in(found, E), word_in(found, SE)
    sw, w, nw = word_in(found, SW), word_in(found, W), word_in(found, NW)
    table = LINE_BITS  # named once: a kernel for CUDA keeps a copy for every mention
    for chunk in range(U64(CHUNK_COUNT)):  # unsigned: no index can be negative
        bits = table[NE, row_of(ne, chunk)] | table[E, row_of(e, chunk)]
        bits |= table[SE, row_of(se, chunk)] | table[SW, row_of(sw, chunk)]
        bits |= table[W, row_of(w, chunk)] | table[NW, row_of(nw, chunk)]
        put(words, CHUNK_FIRST[chunk], CHUNK_WIDTH[chunk], bits)


@kernel
def row_of(word, chunk):
    """The row of `LINE_BITS` for what a board has in a chunk."""
    return CHUNK_START[chunk] + ((word >> CHUNK_PLACE[chunk]) & CHUNK_MASK[chunk])


@kernel
def write_sides(own, free, words):
    """The broadsides, found for all kinds at once and taken by the first marble's place.

    Rule 1: marbles side by side that all have a free cell beside them.
    """
    pairs = facing_each(everywhere(own, KINDS), AXIS_TURNS, KINDS) & own
    beside = facing_each(everywhere(free, KINDS), SIDE_TURNS, KINDS)
    twos = pairs & beside & facing_each(beside, AXIS_TURNS, KINDS)
    threes = twos & facing_each(twos, AXIS_TURNS, KINDS)
    first, table = SIDE_FIRST, SIDE_BITS  # named once, as in `write_lines`
    left = union(twos)
    while left:
        place = lowest(left)
        here = left & (~left + ONE)
        put_sides(words, first[0, place], table[0, place], meeting(twos, here))
        put_sides(words, first[1, place], table[1, place], meeting(threes, here))
        left ^= here


@kernel
def put_sides(words, first, table, kinds):
    """Set the bits of the broadsides of some kinds, given as bits, that begin in one place."""
    bits = ZERO
    for axis in range(len(AXES)):
        bits |= U64(table[axis, (kinds >> U64(KINDS_A_LOOK * axis)) & U64((1 << KINDS_A_LOOK) - 1)])
    word, shift = np.int64(first) >> 6, U64(first & 63)
    words[word] |= bits << shift
    words[word + (word < LAST_WORD)] |= (bits >> ONE) >> (LOW6 - shift)
