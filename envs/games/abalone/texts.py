"""Position texts of Abalone, and starts: named layouts and those given as position texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED, new_states
from azumaya.envs.games.abalone.board import BLACK, MARBLES, STATE, TO_WIN, WHITE
from azumaya.envs.games.abalone.rules import can_move, tiebreak_payoff
from azumaya.envs.games.abalone.words import COLOURS, LAYOUTS, owners_of
from azumaya.envs.geometry.hex61 import ROW_LENGTHS, board
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import join_rows, read_whole, split_position

SIDES = "bw"
MOST_PLY_TEXT = 999_999_999
"""The largest `ply=`; without a limit a game may be longer than `max_plies` can say.

A game without a limit may even get beyond it. Its texts keep to it, since then nothing depends on
the number."""


# ---- starts ----


def starts(settings: Settings) -> np.ndarray:
    """The layout, `(1,)` states; raises `PositionError` for a text from which no game can start."""
    layout = settings["layout"]
    if layout not in LAYOUTS:
        return _start_from(layout, settings)
    states = _new_state(settings)
    for player in (BLACK, WHITE):
        states["marbles"][0, player] = board(LAYOUTS[layout][player])
    return states


def _start_from(text: str, settings: Settings) -> np.ndarray:
    try:
        states = read_text(text, settings)
    except PositionError as error:
        raise PositionError(str(error).replace("position", "layout", 1)) from None
    if states["over"][0]:
        raise PositionError("layout: the game is over in it, so no episode can start there")
    return states


def _new_state(settings: Settings) -> np.ndarray:
    states = new_states(1, STATE)
    states["max_plies"] = settings["max_plies"]
    states["tiebreak"] = settings["tiebreak"] == "marbles"
    return states


# ---- position texts ----


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
    states = _new_state(settings)
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
        black, comma, white = word.partition(",")
        if not comma:
            raise PositionError(f"position: out={word}: must be two numbers, like out=2,3")
        return [read_whole(number, "out", 0, most) for number in (black, white)]
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
