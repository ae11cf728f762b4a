"""Words of Halma-Dominari: the setup, move names, position texts, displays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from azumaya.envs.errors import MoveNameError, OptionError, PositionError
from azumaya.envs.geometry.dominari36 import BLOCK_OF, CELL, CELLS, HOUSES, SIZE, SQUARES
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.kernels.bits import bit, cells_of
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import split_position, whole_number

WHITE, BLACK = 0, 1
SIDES, COLOURS = "wb", ("white", "black")
NUMBERS = 6
OFF_ACTION = NUMBERS * CELLS
ACTIONS = OFF_ACTION + NUMBERS
MARKS = (".123456", ".abcdef")
"""By player, what stands in texts for its numbers."""

PLAY, CHOOSE = 0, 1
"""Stages: the game itself, and before it the laying of the stones."""

START_CELLS = tuple(
    tuple(CELL[square] for square in squares.split())
    for squares in ("a1 b1 c1 a2 b2 a3", "f6 e6 d6 f5 e5 f4")
)
"""By player, the start cells in the order of the option `setup`."""


def check_setup(value: Any) -> str | tuple[str, str]:
    """The option `setup`."""
    if isinstance(value, str) and value in ("random", "choose"):
        return value
    if isinstance(value, tuple | list) and len(value) == 2:
        digits = "".join(str(n + 1) for n in range(NUMBERS))
        if all(isinstance(part, str) and sorted(part) == list(digits) for part in value):
            return (value[0], value[1])
    raise OptionError(
        f"setup={value!r}: must be 'random', 'choose', or two strings with the digits 1 to 6 once "
        "each, like ('123456', '654321')"
    )


# ---- move names ----


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `5e4` or `5off`."""
    if action >= OFF_ACTION:
        return f"{action - OFF_ACTION + 1}off"
    return f"{action // CELLS + 1}{SQUARES[action % CELLS]}"


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a name; raises `MoveNameError`."""
    if name[:1] in tuple("123456"):
        number, rest = int(name[0]) - 1, name[1:]
        if rest == "off":
            return OFF_ACTION + number
        if rest in CELL:
            return number * CELLS + CELL[rest]
    raise MoveNameError(
        f"{name!r} names no move: a digit from 1 to 6 and a square like 5e4, or 5off, is needed"
    )


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cell a stone goes to; none when it leaves."""
    return () if action >= OFF_ACTION else (action % CELLS,)


# ---- position texts ----


def numbers_of(state: Any) -> list[int]:
    """The number on each of the 36 cells: white's above, black's below, 0 where there is none."""
    numbers = [0] * CELLS
    for player, sign in ((WHITE, 1), (BLACK, -1)):
        for n in range(NUMBERS):
            for cell in cells_of(state["stones"][player, n : n + 1]):
                numbers[cell] = sign * (n + 1)
    return numbers


def write_text(state: Any) -> str:
    """A position text: board, side to move, then the stage before play or the result."""
    marks = "".join(MARKS[n < 0][abs(n)] for n in numbers_of(state))
    rows = (marks[r * SIZE : (r + 1) * SIZE] for r in range(SIZE))
    words = ["/".join(rows), SIDES[int(state["to_move"])]]
    if state["stage"] == CHOOSE:
        words.append("stage=choose")
    if state["over"]:
        words.append(f"result={int(state['payoff'])}")
    return " ".join(words)


def read_text(text: str, states: np.ndarray) -> int | None:
    """Read a text into an empty state, `(1,)`, but for how the game has ended.

    Returns:
        What `result=` says, None where the text has none.

    Raises:
        PositionError: the text is malformed or impossible.
    """
    alphabet = MARKS[WHITE] + MARKS[BLACK][1:]
    parts = split_position(text, (SIZE,) * SIZE, alphabet, SIDES, ("stage", "result"))
    marks = "".join(parts.rows)
    _read_stones(marks, states)
    numbers = [alphabet.index(mark) for mark in marks]
    clash = first_clash([n - NUMBERS if n > NUMBERS else n for n in numbers], HOUSES)
    if clash is not None:
        raise PositionError(
            f"position: the number {clash.number} lies twice in one row, column or block, on "
            f"{SQUARES[clash.first]} and {SQUARES[clash.second]}"
        )
    states["to_move"] = SIDES.index(parts.to_move)
    words = parts.words
    if words.get("stage", "choose") != "choose":
        raise PositionError(f"position: stage={words['stage']}: must be choose, or left out")
    if "stage" in words:
        _check_laying(states[0], "result" in words)
        states["stage"] = CHOOSE
    return whole_number(words["result"], "result", -1, 1) if "result" in words else None


def _read_stones(marks: str, states: np.ndarray) -> None:
    for player in (WHITE, BLACK):
        for n, mark in enumerate(MARKS[player][1:]):
            cells = [cell for cell, there in enumerate(marks) if there == mark]
            if len(cells) > 1:
                raise PositionError(
                    f"position: {mark} ({COLOURS[player]}'s {n + 1}) lies on "
                    f"{SQUARES[cells[0]]} and {SQUARES[cells[1]]}; each player has one"
                )
            if cells:
                states["stones"][0, player, n] = bit(cells[0])


def _check_laying(state: Any, over: bool) -> None:
    """Whether the stones laid can be those of a setup in progress."""
    mover = int(state["to_move"])
    laid = [[n for n in range(NUMBERS) if state["stones"][p, n]] for p in (WHITE, BLACK)]
    count = len(laid[BLACK])
    in_turn = len(laid[WHITE]) == count + mover and count < NUMBERS
    if over or not in_turn or any(numbers != list(range(len(numbers))) for numbers in laid):
        raise PositionError(
            "position: stage=choose: white lays the 1, then black, white the 2, and so on; these "
            "stones and this side to move do not come of it"
        )
    for player in (WHITE, BLACK):
        for n in laid[player]:
            (cell,) = cells_of(state["stones"][player, n : n + 1])
            if cell not in START_CELLS[player]:
                raise PositionError(
                    f"position: stage=choose: {COLOURS[player]}'s {n + 1} on {SQUARES[cell]} "
                    "is not on a start cell"
                )


# ---- sentences and displays ----


def explain_laying(state: Any, action: int, laid: int) -> str:
    """The sentence, after the move's name, while the stones are laid."""
    player = int(state["to_move"])
    number, cell = action // CELLS, action % CELLS
    if action >= OFF_ACTION or number != laid:
        return f": first the stones are laid, and the {laid + 1} is next (rule 1)"
    if cell not in START_CELLS[player]:
        cells = " ".join(SQUARES[c] for c in START_CELLS[player])
        return f": {COLOURS[player]}'s start cells are {cells} (rule 1)"
    if numbers_of(state)[cell]:
        return f": {SQUARES[cell]} is not free (rule 1)"
    return f" is legal: {SQUARES[cell]} is a free start cell"


def side_name(player: int) -> str:
    """`player_0 (white)` and the like."""
    return f"player_{player} ({COLOURS[player]})"


def scene(state: Any, candidates: Mapping[int, tuple[int, ...]]) -> Scene:
    """The position as renderers see it, with the stones borne off beside the board."""
    numbers = numbers_of(state)
    stones = tuple(Stone(COLOURS[n < 0], str(abs(n))) if n else None for n in numbers)
    return Scene(
        board="dominari36",
        grounds=tuple("light" if block % 2 else "plain" for block in BLOCK_OF),
        stones=stones,
        candidates=candidates,
        notes=(_note(state),),
        trays=tuple(
            (f"{colour} {'to lay' if state['stage'] == CHOOSE else 'borne off'}", _beside(state, p))
            for p, colour in enumerate(COLOURS)
        ),
        regions=BLOCK_OF,
    )


def _beside(state: Any, player: int) -> tuple[Stone, ...]:
    gone = (n for n in range(NUMBERS) if not state["stones"][player, n])
    return tuple(Stone(COLOURS[player], str(n + 1)) for n in gone)


def _note(state: Any) -> str:
    if state["over"]:
        payoff = int(state["payoff"])
        return f"over: {side_name(int(payoff < 0))} wins" if payoff else "over: a draw"
    task = "lay the next stone" if state["stage"] == CHOOSE else "move"
    return f"{side_name(int(state['to_move']))} to {task}"
