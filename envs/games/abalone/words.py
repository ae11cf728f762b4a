"""Words of Abalone: layouts, move names, position texts, sentences, displays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from azumaya.envs.errors import MoveNameError, OptionError, PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED
from azumaya.envs.games.abalone.moves import ACTION_OF, MOVES, NAMES, Move
from azumaya.envs.geometry.hex61 import (
    CELL,
    CELLS,
    DIRECTION_NAMES,
    NEIGHBOUR,
    ROW_LENGTHS,
    SQUARES,
    board,
    cells_on,
)
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import split_position, whole_number

BLACK, WHITE = 0, 1
SIDES = "bw"
COLOURS = ("black", "white")
MARBLES, TO_WIN = 14, 6
MOST_IN_LINE = 3
MOST_PLIES = 128**3 - 1
"""The most the observation's three planes for the plies left can show."""
MOST_PLY_TEXT = 999_999_999

_LAYOUTS = {
    "standard": (
        "a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 b6 c3 c4 c5",
        "i5 i6 i7 i8 i9 h4 h5 h6 h7 h8 h9 g5 g6 g7",
    ),
    "belgian_daisy": (
        "a1 a2 b1 b2 b3 c2 c3 g7 g8 h7 h8 h9 i8 i9",
        "a4 a5 b4 b5 b6 c5 c6 g4 g5 h4 h5 h6 i5 i6",
    ),
    "german_daisy": (
        "b1 b2 c1 c2 c3 d2 d3 f7 f8 g7 g8 g9 h8 h9",
        "b5 b6 c5 c6 c7 d6 d7 f3 f4 g3 g4 g5 h4 h5",
    ),
    "swiss_daisy": (
        "b1 b2 c1 c3 c6 d2 d3 f7 f8 g4 g7 g9 h8 h9",
        "b5 b6 c2 c5 c7 d6 d7 f3 f4 g3 g5 g8 h4 h5",
    ),
    "dutch_daisy": (
        "a1 a2 b1 b3 b5 c2 c3 g7 g8 h5 h7 h9 i8 i9",
        "a4 a5 b2 b4 b6 c5 c6 g4 g5 h4 h6 h8 i5 i6",
    ),
}
LAYOUTS = {
    name: tuple(tuple(CELL[square] for square in squares.split()) for squares in both)
    for name, both in _LAYOUTS.items()
}
"""By name, the cells of the black and of the white marbles."""

CLOSE_COMBAT = (
    "wwwww/bbbbbb/w.....b/..bww..b/.wwbbbw../b..wwb../b.....w/wwwwww/bbbbb b out=5,5 ply=7"
)
"""A start in which one marble more decides."""
CORNERED = "...../....../......./......../........./......../b....../.b..../wb... b out=0,0"
"""A start in which white, whose marble is in the corner, may soon have no move."""


# ---- options ----


def check_layout(value: Any) -> str:
    """The option `layout`: a name or a position text, which is read when the start is laid out."""
    if isinstance(value, str) and (value in LAYOUTS or "/" in value):
        return value
    known = ", ".join(repr(name) for name in LAYOUTS)
    raise OptionError(f"layout={value!r}: must be one of {known}, or a position text")


def check_plies(value: Any) -> int:
    """The option `max_plies`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool | np.bool_) or not 0 <= number <= MOST_PLIES:
        raise OptionError(
            f"max_plies={value!r}: a whole number from 0 (no limit) to {MOST_PLIES} is needed"
        )
    return number


# ---- move names ----


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `a1b2` or `c2c3d2`."""
    return NAMES[action]


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a name; raises `MoveNameError`."""
    if name in ACTION_OF:
        return ACTION_OF[name]
    raise MoveNameError(
        f"{name!r} names no move: the trailing marble and the next cell like a1b2, or the first "
        "marble, the last and where the first goes like c2c3d2 (first < last) are needed"
    )


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cells that the marbles named leave and enter."""
    move = MOVES[action]
    return tuple(sorted({*move.cells, *move.targets}))


# ---- position texts ----


def owners_of(state: Any) -> list[int | None]:
    """The player whose marble lies on each of the 61 cells, None where free."""
    owners: list[int | None] = [None] * CELLS
    for player in (BLACK, WHITE):
        for cell in cells_on(state["marbles"][player]):
            owners[cell] = player
    return owners


def write_text(state: Any) -> str:
    """A position text: board, side to move, then the words that are not at their usual value."""
    marks = "".join("." if owner is None else SIDES[owner] for owner in owners_of(state))
    ends = np.cumsum(ROW_LENGTHS).tolist()
    rows = (marks[end - n : end] for end, n in zip(ends, ROW_LENGTHS, strict=True))
    words = ["/".join(rows), SIDES[int(state["to_move"])]]
    out = [int(n) for n in state["out"]]
    if out != [MARBLES - marks.count(side) for side in SIDES]:
        words.append(f"out={out[BLACK]},{out[WHITE]}")
    if state["ply"]:
        words.append(f"ply={int(state['ply'])}")
    if state["over"]:
        words.append(f"result={int(state['payoff'])}")
    return " ".join(words)


def read_text(text: str, states: np.ndarray) -> int | None:
    """Read a text into an empty state, `(1,)`, but for how the game has ended.

    Returns:
        What `result=` says, None where the text has none.

    Raises:
        PositionError: the text is malformed.
    """
    parts = split_position(text, ROW_LENGTHS, "." + SIDES, SIDES, ("out", "ply", "result"))
    marks = "".join(parts.rows)
    for player, side in enumerate(SIDES):
        cells = [cell for cell, mark in enumerate(marks) if mark == side]
        states["marbles"][0, player] = board(cells)
    words = parts.words
    result = whole_number(words["result"], "result", -1, 1) if "result" in words else None
    most = TO_WIN - 1 if result is None else TO_WIN
    states["out"][0] = _read_out(words.get("out"), marks, most)
    states["ply"] = whole_number(words.get("ply", "0"), "ply", 0, MOST_PLY_TEXT)
    states["to_move"] = SIDES.index(parts.to_move)
    return result


def _read_out(word: str | None, marks: str, most: int) -> list[int]:
    if word is not None:
        black, comma, white = word.partition(",")
        if not comma:
            raise PositionError(f"position: out={word}: two numbers like out=2,3 are needed")
        return [whole_number(number, "out", 0, most) for number in (black, white)]
    out = [MARBLES - marks.count(side) for side in SIDES]
    for colour, number in zip(COLOURS, out, strict=True):
        if not 0 <= number <= most:
            raise PositionError(
                f"position: {MARBLES - number} {colour} marbles on the board and no out=: by "
                f"that {number} of {MARBLES} are out, but it must be 0 to {most}"
            )
    return out


# ---- sentences ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    name, move = NAMES[action], MOVES[action]
    if state["over"]:
        return f"{name}: the game is over"
    owners, mover = owners_of(state), int(state["to_move"])
    for cell in move.cells:
        if owners[cell] != mover:
            return f"{name}: no marble of {COLOURS[mover]} on {SQUARES[cell]} (rule 1)"
    if move.size:
        return f"{name}{_explain_side(owners, move)}"
    return f"{name}{_explain_line(owners, mover, move)}"


def _explain_side(owners: list[int | None], move: Move) -> str:
    for target in move.targets:
        if owners[target] is not None:
            return (
                f": {SQUARES[target]} is not free, and a broadside goes to free cells only (rule 1)"
            )
    return f" is legal: {move.size} marbles go broadside to free cells"


def _run(owners: list[int | None], cell: int | None, owner: int, direction: int) -> list[int]:
    """The marbles of an owner side by side from a cell on."""
    run: list[int] = []
    while cell is not None and owners[cell] == owner:
        run.append(cell)
        cell = NEIGHBOUR[cell][direction]
    return run


def _explain_line(owners: list[int | None], mover: int, move: Move) -> str:
    line = _run(owners, move.cells[0], mover, move.direction)
    if len(line) > MOST_IN_LINE:
        return (
            f": {len(line)} own marbles lie in line from {SQUARES[line[0]]} on, and more than "
            "three cannot move (rule 1)"
        )
    front = NEIGHBOUR[line[-1]][move.direction]
    if front is None:
        return f": {SQUARES[line[-1]]} is at the edge, and own marbles never leave it (rule 2)"
    pushed = _run(owners, front, 1 - mover, move.direction)
    if not pushed:
        where = DIRECTION_NAMES[move.direction]
        return f" is legal: {_marbles(len(line))} in line {where}, and {SQUARES[front]} is free"
    if len(pushed) >= len(line):
        return f": {_marbles(len(line))} cannot push {len(pushed)} (rule 2)"
    behind = NEIGHBOUR[pushed[-1]][move.direction]
    if behind is not None and owners[behind] is not None:
        return (
            f": {SQUARES[behind]} is not free, so what is in front of it cannot be pushed (rule 2)"
        )
    goes = "the last one out" if behind is None else f"{SQUARES[behind]} behind is free"
    return f" is legal: {_marbles(len(line))} against {len(pushed)} in a push, {goes}"


def _marbles(count: int) -> str:
    return f"{count} marble{'s' * (count > 1)}"


# ---- display ----


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the marbles pushed out beside the board."""
    stones = tuple(None if o is None else Stone(COLOURS[o]) for o in owners_of(state))
    return Scene(
        board="hex61",
        grounds=("plain",) * CELLS,
        stones=stones,
        notes=(_note(state), _plies(state)),
        trays=tuple(
            (f"{colour} out", (Stone(colour),) * int(state["out"][player]))
            for player, colour in enumerate(COLOURS)
        ),
    )


def _note(state: Any) -> str:
    over, payoff = int(state["over"]), int(state["payoff"])
    if over == TRUNCATED and not payoff:
        return "over: the limit of plies is reached"
    if over:
        winner = int(payoff < 0)
        by = "by the rules" if over == TERMINATED else "by marbles at the limit of plies"
        return f"over: player_{winner} ({COLOURS[winner]}) wins {by}"
    mover = int(state["to_move"])
    return f"player_{mover} ({COLOURS[mover]}) to move"


def _plies(state: Any) -> str:
    limit = int(state["max_plies"])
    return f"ply {int(state['ply'])}" + (f" of {limit}" if limit else "")
