"""Words of Abalone: layouts, option checks, move names, sentences, scenes, checks.

All of this runs on the host. Position texts, and starts given as position texts, are in `texts.py`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from azumaya.envs.errors import MoveNameError, OptionError, brief
from azumaya.envs.game import TERMINATED, TRUNCATED, plain_text
from azumaya.envs.games.abalone.board import BLACK, MOST_PLIES, MOVES, TO_WIN, WHITE, Move
from azumaya.envs.games.abalone.rules import can_move, tiebreak_payoff
from azumaya.envs.geometry.hex61 import (
    CELL,
    CELLS,
    DIRECTION_NAMES,
    FULL,
    NEIGHBOUR,
    SQUARES,
    cells_on,
)
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.whole import whole_number

COLOURS = ("black", "white")
STONES = tuple(Stone(colour) for colour in COLOURS)
MOST_IN_LINE = 3

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


HOW_TO_PLAY = """\
The board is a hexagon of 61 cells in nine rows, a to i from bottom to top; the numbers 1 to 9 go
along the diagonals, so that b2 is up and to the right of a1, and b1 up and to the left. Black
moves first. Each player has 14 marbles.
1. A turn moves one, two or three of your own marbles that lie side by side in one line, all by
one cell in the same direction: along the line or sideways. All cells moved into must be free,
except in a push.
2. Moving along the line, two marbles push one opposing marble, and three push one or two. They
must be directly in front, and the cell behind them must be free or off the board. A marble pushed
off the board is out. Your own marbles never leave the board by your move.
3. The first player to push out six opposing marbles wins.
4. A player without a legal move loses. If nobody has won after 400 moves, those of both players
together, the game is a draw, unless an option says otherwise.
Moves: a move of one marble, or along the line, is named by the hindmost marble and the cell it
moves to: a1b2. A sideways move is named by both ends of the line (first the one that comes
earlier by letter, then by number) and the cell to which the first of them moves: d3d5e4."""


# ---- options ----


def check_layout(value: Any) -> str:
    """The option `layout`: a name, or a position text, which is read only for the start."""
    if isinstance(value, str) and (value in LAYOUTS or "/" in value):
        return plain_text(value)
    known = ", ".join(repr(name) for name in LAYOUTS)
    raise OptionError(f"layout={brief(value)}: must be one of {known}, or a position text")


def check_plies(value: Any) -> int:
    """The option `max_plies`: its canonical value, or `OptionError`."""
    return whole_number(value, "max_plies", 0, MOST_PLIES)


# ---- move names ----


def _name(move: Move) -> str:
    ends = (move.cells[0],) if not move.size else (move.cells[0], move.cells[-1])
    return "".join(SQUARES[cell] for cell in (*ends, move.targets[0]))


NAMES = tuple(_name(move) for move in MOVES)
ACTION_OF = {name: action for action, name in enumerate(NAMES)}


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `a1b2` or `c2c3d2`."""
    return NAMES[action]


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a name; raises `MoveNameError`."""
    if name in ACTION_OF:
        return ACTION_OF[name]
    raise MoveNameError(
        f"name={brief(name)}: must be the trailing marble and the next cell, like a1b2, or the "
        "first marble, the last marble and the cell that the first moves to, like c2c3d2"
    )


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cells that the marbles named by an action leave and enter."""
    return _touched(action)


@cache
def _touched(action: int) -> tuple[int, ...]:
    move = MOVES[action]
    return tuple(sorted({*move.cells, *move.targets}))


# ---- reading a state ----


def owners_of(state: Any) -> list[int | None]:
    """The player whose marble lies on each of the 61 cells; None for a free cell."""
    owners: list[int | None] = [None] * CELLS
    for player in (BLACK, WHITE):
        for cell in cells_on(state["marbles"][player]):
            owners[cell] = player
    return owners


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
                f": {SQUARES[target]} is not free, and a broadside goes only to free cells (rule 1)"
            )
    return f" is legal: {move.size} marbles go broadside to free cells"


def _run(owners: list[int | None], cell: int | None, owner: int, direction: int) -> list[int]:
    """The cells from one on, in a direction, that have a player's marbles without a gap."""
    run: list[int] = []
    while cell is not None and owners[cell] == owner:
        run.append(cell)
        cell = NEIGHBOUR[cell][direction]
    return run


def _explain_line(owners: list[int | None], mover: int, move: Move) -> str:
    line = _run(owners, move.cells[0], mover, move.direction)
    if len(line) > MOST_IN_LINE:
        return (
            f": {len(line)} marbles in line from {SQUARES[line[0]]} on would have to move, and "
            "more than three cannot (rule 1)"
        )
    front = NEIGHBOUR[line[-1]][move.direction]
    if front is None:
        return (
            f": {SQUARES[line[-1]]} is at the edge, and a player's own marbles never leave the "
            "board (rule 2)"
        )
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


# ---- scenes ----


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the marbles pushed out beside the board."""
    stones = tuple(None if owner is None else STONES[owner] for owner in owners_of(state))
    return Scene(
        board="hex61",
        grounds=("plain",) * CELLS,
        stones=stones,
        notes=(_note(state), _plies(state)),
        trays=tuple(
            (f"{marble.colour} out", (marble,) * int(state["out"][player]))
            for player, marble in enumerate(STONES)
        ),
    )


def _note(state: Any) -> str:
    over, payoff = int(state["over"]), int(state["payoff"])
    if over == TRUNCATED and not payoff:
        return "over: the limit of plies is reached"
    if over:
        winner = int(payoff < 0)
        by = "marbles at the limit of plies" if over == TRUNCATED else "the rules"
        return f"over: player_{winner} ({COLOURS[winner]}) wins by {by}"
    mover = int(state["to_move"])
    return f"player_{mover} ({COLOURS[mover]}) to move"


def _plies(state: Any) -> str:
    limit = int(state["max_plies"])
    return f"ply {int(state['ply'])}" + (f" of {limit}" if limit else "")


# ---- checks ----


def check_state(state: Any) -> None:
    """Slow invariants; raises `AssertionError`."""
    black, white = (int(marbles) for marbles in state["marbles"])
    assert not black & white
    assert not (black | white) & ~int(FULL)
    out, mover = state["out"].tolist(), int(state["to_move"])
    assert min(out) >= 0
    assert max(out) <= TO_WIN
    limit, ply = int(state["max_plies"]), int(state["ply"])
    if state["over"] == TERMINATED:
        assert out[1 - mover] == TO_WIN or not can_move(state, 1 - mover)
        assert state["payoff"] == 1 - 2 * mover
        return
    assert max(out) < TO_WIN
    assert can_move(state, mover)
    if state["over"] == TRUNCATED:
        assert ply == limit > 0
        assert state["payoff"] == (tiebreak_payoff(state) if state["tiebreak"] else 0)
    else:
        assert state["payoff"] == 0
        assert limit == 0 or ply < limit
