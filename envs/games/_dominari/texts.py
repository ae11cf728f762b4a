"""Position texts of Vierer-, Revers- and Score-Dominari: what the three games share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED
from azumaya.envs.games._dominari.board import (
    BLACK,
    BLANK_STONES,
    BLANKS,
    NUMBER,
    TURN_LIMIT,
    WHITE,
    Board,
)
from azumaya.envs.games._dominari.turn import (
    breaks_rule,
    can_fill,
    can_lay,
    find_candidates,
    fitting,
    payoff_of_points,
    taken,
)
from azumaya.envs.games._dominari.words import (
    COLOUR_LETTERS,
    COLOUR_NAMES,
    ROW_LENGTHS,
    Places,
    empty_states,
    number_on,
    numbers_of,
)
from azumaya.envs.geometry.dominari36 import CELLS, HOUSES, SQUARES
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.kernels.bits import U64, ZERO, bit, cells_of, has
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, join_rows, read_whole, split_position

EMPTY = "."
DIGITS = ("123456", "abcdef")
"""By colour, the marks of the numbers."""
BLANK_MARKS = "WB"
"""By colour, the mark of a blank."""
KEYS = ("phase", "claim", "undo", "turns", "result")
"""The keys that the position texts of all three games have."""
LIMIT = "limit"
"""The result of a game that the turn limit has cut off."""
MOST_AHEAD = 100
"""The bound on `result=`: no player can be more points ahead."""

Flips = Callable[[Any, int], Any]
"""`flips(before, cell)`: the stones that a number of the player to move turns over."""


def no_flips(before: Any, cell: int) -> Any:
    """The `flips` of games without captures: none."""
    return ZERO


def lay_marks(state: Any, marks: Iterable[str]) -> None:
    """Lay the stones of a board, given as 36 marks, on an empty state."""
    for cell, mark in enumerate(marks):
        if mark == EMPTY:
            continue
        black = mark in DIGITS[BLACK] or mark == BLANK_MARKS[BLACK]
        state["colours"][BLACK if black else WHITE] |= U64(bit(cell))
        if mark in BLANK_MARKS:
            state["blanks"] |= U64(bit(cell))
        else:
            state["stones"][DIGITS[black].index(mark)] |= U64(bit(cell))
    find_candidates(state)


# ---- writing ----


def write_text(state: Any, more: Iterable[str] = ()) -> str:
    """A position text: the board, who is to move, then the fields that are not at their default.

    `phase=blanks` where the number of the turn is placed; `claim=1` where the player to move may
    claim; `undo=` the board before the turn that would be undone, if its number was wrong;
    `turns=` how many were played; `result=` what player_0 gained, or `limit`. `more` are fields of
    one game only, which stand before `result=`.
    """
    parts = [_board(state, state["colours"]), COLOUR_LETTERS[int(state["to_move"])]]
    if state["phase"] == BLANKS:
        parts.append("phase=blanks")
    if state["claim"]:
        parts.append("claim=1")
    if state["wrong"]:
        parts.append(f"undo={_board(state, state['prior'])}")
    if state["turns"]:
        parts.append(f"turns={int(state['turns'])}")
    parts += more
    if state["over"]:
        limit = state["over"] == TRUNCATED
        parts.append(f"result={LIMIT if limit else int(state['payoff'])}")
    return " ".join(parts)


def _board(state: Any, colours: Any) -> str:
    marks = [EMPTY] * CELLS
    for colour, board in enumerate(colours):
        for cell in cells_of(np.array([board], U64)):
            number = number_on(state, cell)
            marks[cell] = DIGITS[colour][number - 1] if number else BLANK_MARKS[colour]
    return join_rows(marks, ROW_LENGTHS)


# ---- reading ----


def read_position(
    text: str, board: Board, settings: Settings, places: Places, flips: Flips
) -> tuple[np.ndarray, np.ndarray]:
    """The position of a text, and the one before its wrong turn, if it has one: `(1,)` states.

    For games whose texts have no fields of their own.

    Raises:
        PositionError: the text is malformed, or its parts contradict each other.
    """
    states, before = empty_states(board, settings), empty_states(board, settings)
    parts = split(text, board)
    read_board(states[0], parts)
    read_turn(states[0], parts, places)
    read_undo(states[0], before[0], board, parts, places, flips)
    return states, before


def split(text: str, board: Board, more_keys: tuple[str, ...] = ()) -> PositionText:
    """The parts of a position text; `more_keys` are those that only one game has.

    Raises:
        PositionError: the text is malformed.
    """
    keys = (*KEYS, *more_keys)
    return split_position(text, ROW_LENGTHS, _alphabet(board.numbers), COLOUR_LETTERS, keys)


def _alphabet(numbers: int) -> str:
    return EMPTY + DIGITS[WHITE][:numbers] + DIGITS[BLACK][:numbers] + BLANK_MARKS


def read_board(state: Any, parts: PositionText) -> None:
    """Lay the board of a text on an empty state and set who is to move.

    Raises:
        PositionError: the board breaks the Sudoku rule though there is a referee, or has more
            than twelve blanks.
    """
    lay_marks(state, "".join(parts.rows))
    state["to_move"] = COLOUR_LETTERS.index(parts.to_move)
    if not state["no_referee"]:
        _check_houses(state)
    blanks = cells_of(np.array([state["blanks"]], U64))
    if len(blanks) > BLANK_STONES:
        raise PositionError(
            f"position: {len(blanks)} blanks lie on the board; there are {BLANK_STONES} in all"
        )


def _check_houses(state: Any) -> None:
    clash = first_clash(numbers_of(state), HOUSES)
    if clash is not None:
        raise PositionError(f"position: {clash.text(SQUARES)}")


def read_turn(state: Any, parts: PositionText, places: Places) -> None:
    """Read the fields about the turn, except `undo=`, into a state whose board and rights are set.

    Raises:
        PositionError: they do not fit the board or the options.
    """
    fields = parts.fields
    _need_no_referee(state, parts)
    limit = fields.get("result") == LIMIT
    most = TURN_LIMIT if "result" in fields else TURN_LIMIT - 1
    state["turns"] = read_whole(fields.get("turns", "0"), "turns", 0, most)
    if fields.get("phase", "blanks") != "blanks":
        raise PositionError(f"position: phase={fields['phase']}: must be blanks, or left out")
    state["phase"] = BLANKS if "phase" in fields else NUMBER
    if "claim" in fields:
        state["claim"] = read_whole(fields["claim"], "claim", 1, 1)
    if "result" in fields:
        state["over"] = TRUNCATED if limit else TERMINATED
        if not limit:
            state["payoff"] = read_whole(fields["result"], "result", -MOST_AHEAD, MOST_AHEAD)
        _check_over(state, parts, places)
    elif state["phase"] == BLANKS:
        _check_blanks(state)
    else:
        _check_number(state, places)


def _need_no_referee(state: Any, parts: PositionText) -> None:
    if state["no_referee"]:
        return
    for key in ("claim", "undo", "undofree", "turns"):
        if key in parts.fields:
            raise PositionError(f"position: {key}= needs the option referee=False")
    if parts.fields.get("result") == LIMIT:
        raise PositionError(f"position: result={LIMIT} needs the option referee=False")


def _check_over(state: Any, parts: PositionText, places: Places) -> None:
    for key in ("phase", "claim", "undo"):
        if key in parts.fields:
            raise PositionError(f"position: {key}= is allowed only while the game is running")
    if state["over"] == TRUNCATED:
        if state["turns"] != TURN_LIMIT:
            raise PositionError(f"position: result={LIMIT} needs turns={TURN_LIMIT}")
        if not _may_lay(state, places):
            raise PositionError(
                f"position: result={LIMIT}, but the player to move cannot place a number"
            )


def _may_lay(state: Any, places: Places) -> bool:
    player = int(state["to_move"])
    return bool(places(state, player) & fitting(state))


def _check_blanks(state: Any) -> None:
    mover = int(state["to_move"])
    if state["claim"]:
        raise PositionError("position: claim= is allowed only where a turn begins")
    if not can_fill(state):
        raise PositionError("position: phase=blanks, but there is no dead cell or no blank left")
    if not state["colours"][mover] & ~state["blanks"]:
        raise PositionError(
            f"position: phase=blanks, but {COLOUR_NAMES[mover]} has placed no number"
        )


def _check_number(state: Any, places: Places) -> None:
    mover = int(state["to_move"])
    state["targets"] = places(state, mover)
    if not can_lay(state):
        raise PositionError(
            f"position: {COLOUR_NAMES[mover]} is to move and cannot place a number, but no result= "
            "is given"
        )
    if state["claim"]:
        if not state["turns"]:
            raise PositionError("position: claim=1 needs turns= of 1 or more")
        if not state["colours"][1 - mover] & ~state["blanks"]:
            raise PositionError(
                f"position: claim=1, but {COLOUR_NAMES[1 - mover]} has placed no number"
            )


def check_end(state: Any, stuck: bool) -> None:
    """Check the result of a game that points decide, or without a referee a draw after a claim.

    Args:
        state: the state, over by the rules.
        stuck: whether neither player can place a number.

    Raises:
        PositionError: the game does not end like that.
    """
    payoff = int(state["payoff"])
    counted = stuck and payoff == payoff_of_points(state)
    drawn = state["no_referee"] and not payoff and breaks_rule(state)
    if not (counted or drawn):
        raise PositionError(f"position: result={payoff} is not how this game ends")


# ---- the wrong turn ----


def read_undo(
    state: Any, before: Any, board: Board, parts: PositionText, places: Places, flips: Flips
) -> None:
    """Read `undo=`, the board before the wrong turn; everything else of the state is set already.

    Args:
        state: the position.
        before: an empty state with the same options, and with the rights that the players had
            before that turn. It becomes the position before that turn.
        board: the game's board.
        parts: the text.
        places: the game's kernel.
        flips: what the number of that turn turned over.

    Raises:
        PositionError: no wrong turn leads from that board to this one.
    """
    if "undo" not in parts.fields:
        return
    if state["phase"] == NUMBER and not state["claim"]:
        raise PositionError("position: undo= needs claim=1 or phase=blanks")
    marks = split_position(
        f"{parts.fields['undo']} w", ROW_LENGTHS, _alphabet(board.numbers), COLOUR_LETTERS, ()
    )
    mover = int(state["to_move"]) ^ int(state["claim"])
    lay_marks(before, "".join(marks.rows))
    before["to_move"] = mover
    before["targets"] = places(before, mover)
    number, cell = _number_laid(state, before)
    if board.blank_colours == 1:
        _check_blanks_laid(state, before)
    _check_turned(state, before, U64(flips(before, cell)))
    square = SQUARES[cell]
    if has(before["candidates"][number], cell):
        raise PositionError(f"position: undo=: the {number + 1} on {square} broke no rule")
    if not has(before["targets"], cell) or not can_lay(before):
        raise PositionError(
            f"position: undo=: {COLOUR_NAMES[mover]} could not place a number on {square}"
        )
    state["wrong"] = 1
    state["prior"] = before["colours"]


def _number_laid(state: Any, before: Any) -> tuple[int, int]:
    """The number (from 0) and the cell in which two boards differ; blanks may differ too."""
    mover, old = int(before["to_move"]), U64(taken(before))
    laid = [
        (n, cell)
        for n, board in enumerate(state["stones"])
        for cell in cells_of(np.array([board & ~old], U64))
    ]
    same = (state["stones"] & old == before["stones"]).all()
    if not same or state["blanks"] & old != before["blanks"] or len(laid) != 1:
        raise PositionError(
            "position: undo=: the board must be this one without one number and perhaps blanks"
        )
    number, cell = laid[0]
    if not has(state["colours"][mover], cell):
        raise PositionError(
            f"position: undo=: the number on {SQUARES[cell]} must be {COLOUR_NAMES[mover]}'s"
        )
    return number, cell


def _check_blanks_laid(state: Any, before: Any) -> None:
    """Blanks of that turn are of the mover's colour, in games where all blanks are."""
    mover = int(before["to_move"])
    wrong = state["blanks"] & ~U64(taken(before)) & ~state["colours"][mover]
    if wrong:
        squares = ", ".join(SQUARES[cell] for cell in cells_of(np.array([wrong], U64)))
        raise PositionError(
            f"position: undo=: blanks placed in that turn must be {COLOUR_NAMES[mover]}'s: "
            f"{squares}"
        )


def _check_turned(state: Any, before: Any, flips: Any) -> None:
    """Stones turn over to the mover only: those captured, and more only if blanks were placed."""
    mover, old = int(before["to_move"]), U64(taken(before))
    turned = state["colours"][mover] & before["colours"][1 - mover]
    lost = state["colours"][1 - mover] & before["colours"][mover]
    own_blanks = state["blanks"] & ~old & state["colours"][mover]
    if lost or flips & ~turned or (turned != flips and not (flips and own_blanks)):
        where = ", ".join(
            SQUARES[cell] for cell in cells_of(np.array([lost | (turned ^ flips)], U64))
        )
        raise PositionError(f"position: undo=: no turn changes these colours: {where}")
