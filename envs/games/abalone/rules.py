"""Abalone: the rules.

1. A move shifts one, two or three of one's own marbles, side by side in one line, by one cell in
   one direction: in line or broadside. Cells moved into must be free, except in a push.
2. A push is a move in line of two marbles against one, or three against one or two, directly in
   front, with a free cell or the edge behind them. A marble pushed off the board is out. A player's
   own marbles never leave the board. A move in line takes the trailing marble and all of the
   player's marbles in front of it without a gap, so it is illegal if these are more than three; a
   marble behind the trailing one stays.
3. Pushing is never forced. The first player to push out six opposing marbles wins.
4. A player who is to move but has no legal move loses. At `max_plies` the game is cut off, with
   nothing for either player or, with `tiebreak="marbles"`, won by whoever has pushed out more.

Source: the rules of the game by Michel Lalet and Laurent Lévi; the whole contract and the decisions
are in `docs/games/abalone.md`.
Decisions: `max_plies` counts from the `ply=` of a start position; it is at most 2,097,151.
How it ends: by rule 3 or 4, or at the limit.
Bound: `max_plies` steps. Without a limit there is none, since marbles can go back and forth for
ever; `max_steps` is then `NO_BOUND`.

Legal moves are found on shifted boards. There is one board for each direction in line and one for
each kind of broadside (axis and direction), with the places of the trailing or first marbles set.
Actions are numbered by cell first, so these boards have to be interleaved: `LINE_BITS` does that
for a row at a time; broadsides are taken by the place of their first marble, and `SIDE_BITS` gives
their actions.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import TERMINATED, TRUNCATED
from azumaya.envs.games.abalone.board import (
    ACTIONS,
    AT,
    AXES,
    FIRST_THREE,
    FIRST_TWO,
    IN_LINE,
    MOVES,
    THREES,
    TO_WIN,
    TWOS,
)
from azumaya.envs.geometry.hex61 import (
    CELL_AT,
    CELLS,
    DIRECTIONS,
    DISCS,
    FULL,
    HAS,
    HIGH_BITS,
    LOW_BITS,
    LOW_ROWS,
    NE,
    NW,
    PLACE,
    RADIUS,
    ROW_RANGES,
    SE,
    SIZE,
    SW,
    E,
    W,
    array_rows,
    facing,
    facing_each,
    shifted,
    turns,
)
from azumaya.envs.kernels.bits import (
    LOW6,
    ONE,
    U64,
    ZERO,
    bit,
    lowest,
    popcount,
    put,
    put_byte,
    word_count,
)
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rows import any_bit, everywhere, load, meeting, union, word_in

NO_BOUND = 2**31 - 1
"""The bound on steps of a game without a limit."""
MARBLE_SCORE = 16
"""What `evaluate` gives for a marble: more than a move can change centrality, which is five marbles
by one step each."""

# ---- tables for rules 1 and 2 ----

LAST_WORD = word_count(ACTIONS) - 1
"""The last word of a packed mask."""

MOVE_PLACE = np.array([PLACE[move.cells[0]] for move in MOVES], np.uint8)
MOVE_WAYS = np.array([move.axis << 3 | move.direction for move in MOVES], np.uint8)
"""By action: the place of the trailing or first cell; the axis, and in the low three bits the
direction."""

SIDE_KINDS = tuple((a, d) for a in AXES for d in range(DIRECTIONS) if d % 3 != a % 3)
"""The axis and direction of each kind of broadside."""
KINDS = len(SIDE_KINDS)

AXIS_TURNS = turns(axis for axis, _ in SIDE_KINDS)
SIDE_TURNS = turns(direction for _, direction in SIDE_KINDS)
ALL_TURNS = turns(range(DIRECTIONS))
"""For `facing_each`: along the axis of each kind of broadside, in its direction of movement, and in
all six directions."""

KINDS_PER_AXIS = 4
"""`SIDE_BITS` is indexed by the kinds of one axis at once."""


def _side_tables() -> tuple[np.ndarray, np.ndarray]:
    first = np.zeros((2, CELLS), np.int16)
    table = np.zeros((2, CELLS, len(AXES), 1 << KINDS_PER_AXIS), np.uint16)
    for size, moves, offset in ((0, TWOS, FIRST_TWO), (1, THREES, FIRST_THREE)):
        for action in reversed(range(len(moves))):
            first[size, PLACE[moves[action].cells[0]]] = offset + action
        for action, move in enumerate(moves, offset):
            place = PLACE[move.cells[0]]
            axis, kind = divmod(SIDE_KINDS.index((move.axis, move.direction)), KINDS_PER_AXIS)
            lit = [value for value in range(1 << KINDS_PER_AXIS) if value >> kind & 1]
            table[size, place, axis, lit] |= np.uint16(1 << (action - int(first[size, place])))
    return first, table


SIDE_FIRST, SIDE_BITS = _side_tables()
"""For broadsides of two and of three, by the first marble's place: the first action, `(2, 61)`;
and, by axis and by which kinds of that axis are legal (as bits), the bits of their actions, counted
from that first one, `(2, 61, 3, 16)`."""

WHOLE_ROW = 8
"""A row with more cells is cut into two chunks, so that `LINE_BITS` fits the first-level cache and,
with all other tables, the 64 KiB that CUDA has for constants."""


def _chunks() -> tuple[tuple[int, ...], ...]:
    parts: list[tuple[int, ...]] = []
    for row, (first, end) in enumerate(ROW_RANGES):
        cells = tuple(CELL_AT[number, SIZE - 1 - row] for number in range(first, end))
        half = len(cells) if len(cells) <= WHOLE_ROW else (len(cells) + 1) // 2
        parts += [cells[:half], cells[half:]] if cells[half:] else [cells]
    return tuple(parts)


CHUNKS = _chunks()
"""The board's rows, or halves of them, in reading order: the cells that one look-up in `LINE_BITS`
covers."""
CHUNK_COUNT = len(CHUNKS)
CHUNK_PLACE = np.array([PLACE[cells[0]] for cells in CHUNKS], U64)
"""The place of a chunk's first cell; the places of the others follow it."""
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
"""From trailing marbles to actions. Indexed by direction and `CHUNK_START[chunk] + v`, where the
bits of `v` are the trailing marbles in the chunk; an entry has the bits of their actions, counted
from `CHUNK_FIRST[chunk]`."""


# ---- rules 1 and 2, on shifted boards ----


@kernel
def facing_all(boards):
    """`facing` in all six directions, for a row with a board for each direction."""
    return facing_each(boards, ALL_TURNS, DIRECTIONS)


@kernel
def in_line(own, theirs, free):
    """Rules 1 and 2: the trailing marbles of all moves in line, as a row by direction.

    Worked out from the front of a line: `one` and `both` are opposing marbles that can be pushed,
    alone or with the next one; `third` and `second` are the player's marbles that can go third or
    second in a line.
    """
    room = everywhere(free, DIRECTIONS)
    one = (facing_all(room) | ~load(HAS, 0, DIRECTIONS)) & theirs
    both = facing_all(one) & theirs
    third = facing_all(room | one | both) & own
    second = facing_all(room | one | third) & own
    return facing_all(room | second) & own


@kernel
def write_lines(own, theirs, free, packed):
    """Set the bits of the moves in line."""
    found = in_line(own, theirs, free)
    ne, e, se = word_in(found, NE), word_in(found, E), word_in(found, SE)
    sw, w, nw = word_in(found, SW), word_in(found, W), word_in(found, NW)
    table = LINE_BITS  # one name: a CUDA kernel keeps a copy of a global for every mention
    for chunk in range(U64(CHUNK_COUNT)):  # unsigned: no index can be negative
        bits = table[NE, row_of(ne, chunk)] | table[E, row_of(e, chunk)]
        bits |= table[SE, row_of(se, chunk)] | table[SW, row_of(sw, chunk)]
        bits |= table[W, row_of(w, chunk)] | table[NW, row_of(nw, chunk)]
        put(packed, CHUNK_FIRST[chunk], CHUNK_WIDTH[chunk], bits)


@kernel
def row_of(word, chunk):
    """The row of `LINE_BITS` for the trailing marbles in a chunk."""
    return CHUNK_START[chunk] + ((word >> CHUNK_PLACE[chunk]) & CHUNK_MASK[chunk])


@kernel
def write_sides(own, free, packed):
    """Rule 1: set the bits of the broadsides: marbles in line, each with a free cell beside it.

    They are found for all kinds at once and written by the first marble's place.
    """
    pairs = facing_each(everywhere(own, KINDS), AXIS_TURNS, KINDS) & own
    beside = facing_each(everywhere(free, KINDS), SIDE_TURNS, KINDS)
    twos = pairs & beside & facing_each(beside, AXIS_TURNS, KINDS)
    threes = twos & facing_each(twos, AXIS_TURNS, KINDS)
    first, table = SIDE_FIRST, SIDE_BITS  # one name each, as in `write_lines`
    left = union(twos)
    while left:
        place = lowest(left)
        here = left & (~left + ONE)
        put_sides(packed, first[0, place], table[0, place], meeting(twos, here))
        put_sides(packed, first[1, place], table[1, place], meeting(threes, here))
        left ^= here


@kernel
def put_sides(packed, first, table, kinds):
    """Set the bits of broadsides that begin in one place; `kinds` has the legal ones as bits."""
    bits = ZERO
    for axis in range(len(AXES)):
        bits |= U64(
            table[axis, (kinds >> U64(KINDS_PER_AXIS * axis)) & U64((1 << KINDS_PER_AXIS) - 1)]
        )
    word, shift = np.int64(first) >> 6, U64(first & 63)
    packed[word] |= bits << shift
    packed[word + (word < LAST_WORD)] |= (bits >> ONE) >> (LOW6 - shift)


# ---- rule predicates ----


@kernel
def free_cells(state):
    """The cells without a marble."""
    return FULL & ~(state.marbles[0] | state.marbles[1])


@kernel
def can_move(state, player):
    """Rule 4: whether a player could move if it were their turn.

    A marble beside a free cell can go there. If there is none, there are no broadsides either, and
    only pushes off the board are left.
    """
    own, theirs, free = state.marbles[player], state.marbles[1 - player], free_cells(state)
    for direction in range(DIRECTIONS):
        if own & facing(free, direction):
            return True
    return any_bit(in_line(own, theirs, free))


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """Set the bits of all legal moves."""
    if state.over:
        return
    own, theirs = state.marbles[state.to_move], state.marbles[1 - state.to_move]
    free = free_cells(state)
    write_lines(own, theirs, free, packed)
    write_sides(own, free, packed)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    first, ways = bit(MOVE_PLACE[action]), np.int64(MOVE_WAYS[action])
    axis, direction = ways >> 3, ways & 7
    if action < FIRST_TWO:
        move_in_line(state, mover, first, direction)
    else:
        group = first | shifted(first, axis)
        if action >= FIRST_THREE:
            group |= shifted(group, axis)
        state.marbles[mover] = (state.marbles[mover] ^ group) | shifted(group, direction)
    state.ply += 1
    end_turn(state, mover)


@kernel
def move_in_line(state, mover, first, direction):
    """Rule 2: move the player's marbles from the trailing one on, and those they push."""
    own, theirs = state.marbles[mover], state.marbles[1 - mover]
    second = shifted(first, direction) & own
    third = shifted(second, direction) & own
    line = first | second | third
    front = shifted(line, direction) & ~line
    one = front & theirs
    pushed = one | (shifted(one, direction) & theirs)
    behind = shifted(pushed, direction) & ~pushed
    state.marbles[mover] = (own ^ first) | front
    state.marbles[1 - mover] = (theirs ^ one) | behind
    if one != ZERO and behind == ZERO:
        state.out[1 - mover] += 1


@kernel
def end_turn(state, mover):
    """Rules 3 and 4: the game ends, or the other player is to move."""
    other = 1 - mover
    if state.out[other] >= TO_WIN or not can_move(state, other):
        state.over = TERMINATED
        state.payoff = 1 - 2 * mover
        return
    state.to_move = other
    if state.max_plies > 0 and state.ply >= state.max_plies:
        state.over = TRUNCATED
        state.payoff = state.tiebreak * tiebreak_payoff(state)


@kernel
def tiebreak_payoff(state):
    """1 if player_0 has pushed out more marbles, -1 if fewer, 0 if equally many."""
    return np.int64(state.out[1] > state.out[0]) - np.int64(state.out[1] < state.out[0])


@kernel
def observe(state, player, packed):
    """Write the planes."""
    put_plane(packed, 0, state.marbles[player])
    put_plane(packed, 1, state.marbles[1 - player])
    put_plane(packed, 2, FULL)
    left = state.max_plies - state.ply if state.max_plies > 0 else 0
    put_byte(packed, AT.to_move, np.int64(state.to_move == player and not state.over))
    put_byte(packed, AT.over, np.int64(state.over != 0))
    put_byte(packed, AT.own_out, state.out[player])
    put_byte(packed, AT.opposing_out, state.out[1 - player])
    put_byte(packed, AT.plies_left_16384, left >> 14)
    put_byte(packed, AT.plies_left_128, left >> 7 & 127)
    put_byte(packed, AT.plies_left, left & 127)
    put_byte(packed, AT.tiebreak, state.tiebreak)


@kernel
def put_plane(packed, plane, marbles):
    """Write one plane of cells: a board in the 9x9 array of `hex61.array_rows`."""
    start = plane * SIZE * SIZE
    put(packed, start, LOW_BITS, array_rows(marbles, 0, LOW_ROWS))
    put(packed, start + LOW_BITS, HIGH_BITS, array_rows(marbles, LOW_ROWS, SIZE))


@kernel
def evaluate(state, player):
    """Marbles first, then centrality: 4 for a marble in the centre, 0 for one on the edge."""
    own, theirs = state.marbles[player], state.marbles[1 - player]
    total = MARBLE_SCORE * (state.out[1 - player] - state.out[player])
    for k in range(RADIUS):
        total += popcount(own & DISCS[k]) - popcount(theirs & DISCS[k])
    return total
