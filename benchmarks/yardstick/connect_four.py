"""Connect Four: the rules.

1. The board has seven columns of six cells. The players are x, who begins, and o.
2. The player to move drops a disc into a column that is not full; it falls to the lowest empty
   cell.
3. Four discs of one player side by side in a row, a column or a diagonal win at once.
4. When the board is full and nobody has won, the game is a draw.

    a6 b6 .. g6      cell  0  1 ..  6      Actions 0 to 6 are the columns, named `a` to `g`. Cells,
     :  :     :            :  :     :      and the bits of a board, run row by row from the top
    a1 b1 .. g1      cell 35 36 .. 41      left, so the bits of the top row are the actions.

Position text: the six rows from the top, then the player to move or, if the game is over, the
player who moved last: `......./......./......./......./...o.../..xx... o`.

Source: James D. Allen, "Expert Play in Connect-Four" (1990).
Bound: every step fills a cell, so an episode has at most 42 steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.baselines.search.hints import Hints, register_hints
from azumaya.benchmarks.yardstick.connect_four_search import OUTLOOK_WORDS, bounds, outlook, rank
from azumaya.envs.errors import PositionError
from azumaya.envs.game import (
    TERMINATED,
    Game,
    Observation,
    Options,
    Plane,
    Rules,
    Words,
    number_bytes,
)
from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.geometry.symmetry import IDENTITY, turns
from azumaya.envs.kernels.bits import U64, ZERO, board_of, has, popcount, put, put_byte
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Axis, Content, Moved, Settings, Symmetries
from azumaya.envs.text import split_position

BOARD = Rectangle(height=6, width=7)
HEIGHT, WIDTH, CELLS = BOARD.height, BOARD.width, BOARD.cells
PLAYERS, COLOURS, EMPTY = "xo", ("black", "white"), "."

TOP, FIRST_COLUMN = board_of(BOARD.rows[0], 1)[0], board_of(BOARD.columns[0], 1)[0]
IN_A_ROW = 4
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Down and right: along a row, a column, a falling and a rising diagonal."""
FOURS = tuple(
    tuple((row + n * down) * WIDTH + column + n * right for n in range(IN_A_ROW))
    for down, right in DIRECTIONS
    for row in range(HEIGHT - (IN_A_ROW - 1) * down)
    for column in range(WIDTH)
    if 0 <= column + (IN_A_ROW - 1) * right < WIDTH
)
FOUR_BOARDS = np.array([board_of(four, 1)[0] for four in FOURS])
"""Every four of rule 3, `(69,)` uint64."""
STEPS = np.array([down * WIDTH + right for down, right in DIRECTIONS], U64)
BEGINS = np.array(
    [board_of((four[0] for four in FOURS if four[1] - four[0] == s), 1)[0] for s in STEPS.tolist()]
)
"""For each direction, the step between the cells of a four, and the cells where fours can begin."""
VALUES = np.array([[0, 1, 4, 16, 0], [0, 1, 6, 400, 0]])
"""The value of an open four by its discs: for the player who is not to move, and who is."""

STATE = np.dtype(
    [("discs", U64, (2,)), ("to_move", np.int64), ("over", np.int64), ("payoff", np.int64)]
)
"""`discs` has the cells of each player's discs as bits."""
PLANES = (
    Plane("own", "discs of the observer"),
    Plane("opposing", "discs of the opponent"),
    Plane("to move", "1 if the observer is to move, 2 if the game is over", "number", 2),
)
AT = number_bytes(PLANES, CELLS)
"""The byte of a packed observation at which planes of numbers begin."""


# ---- rule predicates ----


@kernel
def open_columns(state):
    """Rule 2: the columns that are not full, as bits of the top row."""
    return TOP & ~(state.discs[0] | state.discs[1])


@kernel
def landing_cell(state, column):
    """Rule 2: the lowest empty cell of a column that is not full."""
    discs = (state.discs[0] | state.discs[1]) & (FIRST_COLUMN << U64(column))
    return (HEIGHT - 1 - popcount(discs)) * WIDTH + column


@kernel
def has_four(discs):
    """Rule 3: whether four discs are in a row, a column or a diagonal."""
    for d in range(STEPS.shape[0]):
        pairs = discs & (discs >> STEPS[d])
        if pairs & (pairs >> (STEPS[d] + STEPS[d])) & BEGINS[d] != ZERO:
            return True
    return False


# ---- kernels ----


@kernel
def write_legal(state, packed):
    """The bits of the top row are the actions."""
    if not state.over:
        packed[0] = open_columns(state)


@kernel
def play(state, action):
    """Drop a disc (rule 2)."""
    mover = state.to_move
    state.discs[mover] |= U64(1) << U64(landing_cell(state, action))
    finish_move(state, mover)


@kernel
def finish_move(state, mover):
    """End the game by rule 3 or 4, or let the other player move."""
    if has_four(state.discs[mover]):
        state.over, state.payoff = TERMINATED, 1 - 2 * mover
    elif open_columns(state) == ZERO:
        state.over = TERMINATED
    else:
        state.to_move = 1 - mover


@kernel
def observe(state, player, packed):
    """The planes of `PLANES`, packed."""
    put(packed, 0, CELLS, state.discs[player])
    put(packed, CELLS, CELLS, state.discs[1 - player])
    put_byte(packed, AT.to_move, 2 if state.over else np.int64(state.to_move == player))


@kernel
def evaluate(state, player):
    """The value of the fours that a player can still complete, less that of the opponent's."""
    own, other = state.discs[player], state.discs[1 - player]
    turn, value = np.int64(state.to_move == player), 0
    for i in range(FOUR_BOARDS.shape[0]):
        four = FOUR_BOARDS[i]
        if four & other == ZERO:
            value += VALUES[turn, popcount(four & own)]
        elif four & own == ZERO:
            value -= VALUES[1 - turn, popcount(four & other)]
    return value


# ---- words ----


HOW_TO_PLAY = """\
1. The board has seven columns, a to g from the left, and six rows. The players are x, who
begins, and o.
2. Players take turns dropping a disc of their own into a column that is not full; it falls to the
lowest free cell.
3. Four of your own discs in a row, upright, level or diagonal, win.
4. A full board is a draw.
A move is the letter of a column: d."""


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The letter of the column."""
    return BOARD.files[action]


def move_form(settings: Settings) -> str:
    """What names of moves look like."""
    return "a column, a to g"


def mark_on(state: Any, cell: int) -> str:
    """A cell's character in a position text."""
    return next((PLAYERS[p] for p in (0, 1) if has(state["discs"][p], cell)), EMPTY)


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    rows = ("".join(mark_on(state, cell) for cell in row) for row in BOARD.rows)
    return f"{'/'.join(rows)} {PLAYERS[int(state['to_move'])]}"


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    parts = split_position(text, (WIDTH,) * HEIGHT, EMPTY + PLAYERS, PLAYERS, ())
    marks, states = "".join(parts.rows), GAME.new_states(1)
    for player, mark in enumerate(PLAYERS):
        cells = [cell for cell in range(CELLS) if marks[cell] == mark]
        states["discs"][0, player] = board_of(cells, 1)[0]
    for cell in range(CELLS - WIDTH):
        if marks[cell] != EMPTY == marks[cell + WIDTH]:
            raise PositionError(f"position: the disc on {BOARD.squares[cell]} hangs in the air")
    more = marks.count("x") - marks.count("o")
    if more not in (0, 1):
        raise PositionError(f"position: x has {more} more discs than o; it must be 0 or 1")
    states["to_move"] = last = 1 - more
    if has_four(states["discs"][0, 1 - last]):
        raise PositionError(
            f"position: {PLAYERS[1 - last]} has won, so {PLAYERS[last]} cannot move"
        )
    finish_move(states[0], last)
    if PLAYERS[states["to_move"][0]] != parts.to_move:
        raise PositionError(f"position: {parts.to_move} is to move; by the discs it is the other")
    return states


def explain(state: Any, action: int, settings: Settings) -> str:
    """A sentence: why an action is legal in a state, or which rule forbids it."""
    name = move_name(action, settings)
    if state["over"]:
        return f"{name}: the game is over"
    if not has(open_columns(state), action):
        return f"{name}: column {name} is full (rule 2)"
    return f"{name} is legal: the disc falls to {BOARD.squares[landing_cell(state, action)]}"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The scene of a position."""
    marks, first = ([mark_on(board, cell) for cell in range(CELLS)] for board in (state, start))
    stones = (
        Stone(COLOURS[PLAYERS.index(mark)], mark, first[cell] != EMPTY) if mark != EMPTY else None
        for cell, mark in enumerate(marks)
    )
    player = int(state["to_move"])  # who moved last, if the game is over
    side = f"player_{player} ({PLAYERS[player]})"
    ended = f"{side} wins" if state["payoff"] else "draw: the board is full"
    note = f"over: {ended}" if state["over"] else f"{side} to move"
    return Scene(board=BOARD, grounds=("plain",) * CELLS, stones=tuple(stones), notes=(note,))


def check_state(state: Any) -> None:
    """Assert what holds in every state."""
    own, other = (int(board) for board in state["discs"])
    full = (1 << CELLS) - 1
    assert not own & other
    assert (own | other) <= full
    fours = [any(discs & int(four) == int(four) for four in FOUR_BOARDS) for discs in (own, other)]
    assert int(state["payoff"]) == fours[0] - fours[1]
    assert bool(state["over"]) == (any(fours) or own | other == full)


GAME: Game = Game(
    name="connect_four",
    title="Connect Four",
    rules=Rules(
        state=STATE,
        reset=draw_start,
        play=play,
        write_legal=write_legal,
        observe=observe,
        evaluate=evaluate,
    ),
    observation=Observation(shape=BOARD.shape, planes=PLANES),
    options=Options(
        starts=lambda settings: GAME.new_states(1),
        num_actions=lambda settings: WIDTH,
        max_steps=lambda settings: CELLS,
        variants=({}, {"position": "oooxxx./xxxooo./oooxxx./xxxooo./oooxxx./xxxooo. x"}),
    ),
    words=Words(
        move_name=move_name,
        move_form=move_form,
        write_text=write_text,
        read_text=read_text,
        explain=explain,
        action_cells=lambda action, settings: BOARD.columns[action],
        scene=scene,
        check_state=check_state,
        how_to_play=HOW_TO_PLAY,
    ),
    symmetries=Symmetries(
        group=(tuple(turns(BOARD)[name] for name in (IDENTITY, "left-right reflection")),),
        fields={"discs": Moved((Axis.PLAYER,), Content.CELLS)},
        actions=lambda settings: ((Axis.REGION,),),
        regions=BOARD.column_of,
    ),
)
register_hints(GAME, Hints(bounds=bounds, outlook=outlook, outlook_words=OUTLOOK_WORDS, rank=rank))
