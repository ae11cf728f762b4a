"""Position texts of Halma-Dominari."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, new_states
from azumaya.envs.games.dominari_words import COLOUR_LETTERS, COLOUR_NAMES, ROW_LENGTHS, side_name
from azumaya.envs.games.halma.board import (
    BLACK,
    CHOOSE,
    NUMBERS,
    START_CELLS,
    STATE,
    WHITE,
)
from azumaya.envs.games.halma.rules import can_move, laid
from azumaya.envs.games.halma.words import check_end, numbers_of
from azumaya.envs.geometry.dominari36 import HOUSES, SQUARES
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.kernels.bits import bit, cells_of
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, join_rows, read_whole, split_position

MARKS = (".123456", ".abcdef")
"""By player, the marks of no stone and of the numbers."""


def write_text(state: Any, settings: Settings) -> str:
    """A position text: the board, who is to move, then the stage before play, or the result."""
    marks = "".join(MARKS[n < 0][abs(n)] for n in numbers_of(state))
    parts = [join_rows(marks, ROW_LENGTHS), COLOUR_LETTERS[int(state["to_move"])]]
    if state["stage"] == CHOOSE:
        parts.append("stage=choose")
    if state["over"]:
        parts.append(f"result={int(state['payoff'])}")
    return " ".join(parts)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states.

    Raises:
        PositionError: the text is malformed, or the position is impossible.
    """
    alphabet = MARKS[WHITE] + MARKS[BLACK][1:]
    parts = split_position(text, ROW_LENGTHS, alphabet, COLOUR_LETTERS, ("stage", "result"))
    states = new_states(1, STATE)
    state = states[0]
    _read_stones("".join(parts.rows), states)
    _check_houses(state)
    state["to_move"] = COLOUR_LETTERS.index(parts.to_move)
    fields = parts.fields
    if fields.get("stage", "choose") != "choose":
        raise PositionError(f"position: stage={fields['stage']}: must be choose, or left out")
    if "stage" in fields:
        _check_laying(state, "result" in fields)
        state["stage"] = CHOOSE
    else:
        _read_end(state, parts)
    return states


def _read_stones(marks: str, states: np.ndarray) -> None:
    for player in (WHITE, BLACK):
        for n, mark in enumerate(MARKS[player][1:]):
            cells = [cell for cell, there in enumerate(marks) if there == mark]
            if len(cells) > 1:
                raise PositionError(
                    f"position: {mark} ({COLOUR_NAMES[player]}'s {n + 1}) lies on "
                    f"{SQUARES[cells[0]]} and {SQUARES[cells[1]]}; each player has one"
                )
            if cells:
                states["stones"][0, player, n] = bit(cells[0])


def _check_houses(state: Any) -> None:
    clash = first_clash([abs(number) for number in numbers_of(state)], HOUSES)
    if clash is not None:
        raise PositionError(f"position: {clash.text(SQUARES)}")


def _check_laying(state: Any, over: bool) -> None:
    """Refuse stones that no laying in turns leads to."""
    mover = int(state["to_move"])
    numbers = [[n for n in range(NUMBERS) if state["stones"][p, n]] for p in (WHITE, BLACK)]
    count = len(numbers[BLACK])
    in_turn = len(numbers[WHITE]) == count + mover and count < NUMBERS
    if over or not in_turn or any(found != list(range(len(found))) for found in numbers):
        raise PositionError(
            "position: stage=choose: white lays the 1, then black lays the 1, white the 2, and so "
            "on, which cannot lead to these stones with this player to move"
        )
    for player in (WHITE, BLACK):
        for n in numbers[player]:
            (cell,) = cells_of(state["stones"][player, n : n + 1])
            if cell not in START_CELLS[player]:
                raise PositionError(
                    f"position: stage=choose: {COLOUR_NAMES[player]}'s {n + 1} on {SQUARES[cell]} "
                    "is not on a start cell"
                )


def _read_end(state: Any, parts: PositionText) -> None:
    """Read `result=`; without it, check that the game goes on."""
    mover = int(state["to_move"])
    if "result" in parts.fields:
        result = read_whole(parts.fields["result"], "result", -1, 1)
        check_end(state, result)
        state["over"], state["payoff"] = TERMINATED, result
    elif not (laid(state, WHITE) and laid(state, BLACK)):
        raise PositionError("position: a player has no stones, but no result= is given")
    elif not can_move(state, mover):
        raise PositionError(
            f"position: {side_name(mover)} is to move and cannot, but no result= is given"
        )
