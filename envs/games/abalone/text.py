"""Words of Abalone: move names, position texts, sentences, scenes, checks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED, new_states
from azumaya.envs.games.abalone.board import BLACK, MARBLES, MOVES, STATE, TO_WIN, WHITE, Move
from azumaya.envs.games.abalone.rules import can_move, tiebreak_payoff
from azumaya.envs.geometry.hex61 import (
    CELLS,
    DIRECTION_NAMES,
    FULL,
    NEIGHBOUR,
    ROW_LENGTHS,
    SQUARES,
    board,
    cells_on,
)
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import join_rows, read_pair, read_whole, split_position

COLOURS = ("black", "white")
STONES = tuple(Stone(colour) for colour in COLOURS)
MOST_IN_LINE = 3


IDEA = (
    "Push with two or three marbles in line: the first to push six of the opponent's off the "
    "board wins."
)
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


# ---- move names ----


def _name(move: Move) -> str:
    ends = (move.cells[0],) if not move.size else (move.cells[0], move.cells[-1])
    return "".join(SQUARES[cell] for cell in (*ends, move.targets[0]))


NAMES = tuple(_name(move) for move in MOVES)


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `a1b2` or `c2c3d2`."""
    return NAMES[action]


def move_form(settings: Settings) -> str:
    """What names of moves look like."""
    return (
        "the trailing marble and the next cell, like a1b2, or the first marble, the last marble "
        "and the cell that the first moves to, like c2c3d2"
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


def side(state: Any, player: int) -> str:
    """A player's colour."""
    return COLOURS[player]


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


# ---- position texts ----

SIDES = "bw"
MOST_PLY_TEXT = 999_999_999
"""The largest `ply=`; without a limit a game may be longer than `max_plies` can say.

A game without a limit may even get beyond it. Its texts keep to it, since then nothing depends on
the number."""


def write_text(state: Any, settings: Settings) -> str:
    """A position text: the board, who is to move, then the fields that are not at their default."""
    marks = "".join("." if owner is None else SIDES[owner] for owner in owners_of(state))
    parts = [join_rows(marks, ROW_LENGTHS), SIDES[int(state["to_move"])]]
    out = [int(n) for n in state["out"]]
    if out != [MARBLES - marks.count(side) for side in SIDES]:
        parts.append(f"out={out[BLACK]},{out[WHITE]}")
    if state["ply"]:
        parts.append(f"ply={min(int(state['ply']), MOST_PLY_TEXT)}")
    if state["over"]:
        parts.append(f"result={int(state['payoff'])}")
    return " ".join(parts)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states.

    Raises:
        PositionError: the text is malformed, or the position is impossible.
    """
    parts = split_position(text, ROW_LENGTHS, "." + SIDES, SIDES, ("out", "ply", "result"))
    states = new_state(settings)
    state = states[0]
    marks = "".join(parts.rows)
    for player, side in enumerate(SIDES):
        cells = [cell for cell, mark in enumerate(marks) if mark == side]
        states["marbles"][0, player] = board(cells)
    fields = parts.fields
    result = read_whole(fields["result"], "result", -1, 1) if "result" in fields else None
    most = TO_WIN - 1 if result is None else TO_WIN
    states["out"][0] = _read_out(fields.get("out"), marks, most)
    states["ply"] = read_whole(fields.get("ply", "0"), "ply", 0, MOST_PLY_TEXT)
    states["to_move"] = SIDES.index(parts.to_move)
    if result is None:
        _check_running(state)
    else:
        _read_end(state, result)
    return states


def _read_out(word: str | None, marks: str, most: int) -> list[int]:
    if word is not None:
        return [*read_pair(word, "out", most, most)]
    out = [MARBLES - marks.count(side) for side in SIDES]
    for colour, number in zip(COLOURS, out, strict=True):
        if not 0 <= number <= most:
            raise PositionError(
                f"position: {MARBLES - number} {colour} marbles are on the board and out= is not "
                f"given; so {number} of {MARBLES} would be out, but it must be 0 to {most}"
            )
    return out


def _check_running(state: Any) -> None:
    limit = int(state["max_plies"])
    if limit and state["ply"] >= limit:
        raise PositionError(
            f"position: ply={int(state['ply'])} must be below max_plies={limit} "
            "where no result= is given"
        )
    if not can_move(state, int(state["to_move"])):
        raise PositionError(
            "position: the player to move has no legal move, but no result= is given"
        )


def _read_end(state: Any, result: int) -> None:
    """Read how the game has ended: by the rules or at the limit."""
    mover, limit, ply = int(state["to_move"]), int(state["max_plies"]), int(state["ply"])
    by_rules = state["out"][1 - mover] >= TO_WIN or not can_move(state, 1 - mover)
    in_time = limit == 0 or ply <= limit
    if in_time and by_rules and state["out"][mover] < TO_WIN and result == 1 - 2 * mover:
        state["over"] = TERMINATED
    elif (
        0 < limit == ply
        and max(state["out"]) < TO_WIN
        and can_move(state, mover)
        and result == state["tiebreak"] * tiebreak_payoff(state)
    ):
        state["over"] = TRUNCATED
    else:
        raise PositionError(
            f"position: result={result} is not how this game ends: with the winner to move and "
            "six marbles out or no legal move for the loser; or at ply=max_plies, with what the "
            "tiebreak gives"
        )
    state["payoff"] = result


def new_state(settings: Settings) -> np.ndarray:
    """An empty board with the options set, `(1,)` states."""
    states = new_states(1, STATE)
    states["max_plies"] = settings["max_plies"]
    states["tiebreak"] = settings["tiebreak"] == "marbles"
    return states
