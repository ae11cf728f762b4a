"""Position texts and displays of Vierer-, Revers- and Score-Dominari, and what all states obey."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, as_states
from azumaya.envs.games.dominari import board as dominari
from azumaya.envs.games.dominari.actions import (
    COLOUR_LETTERS,
    COLOUR_NAMES,
    candidates_on,
    colour_on,
    number_on,
)
from azumaya.envs.games.dominari.board import BLACK, BLANK_STONES, BLANKS, NUMBER, TURN_LIMIT, WHITE
from azumaya.envs.geometry.dominari36 import BLOCK_OF, CELLS, FULL, HOUSES, SIZE, SQUARES
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.kernels.bits import U64, ZERO, bit, board_of, cells_of, has, popcount
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, split_position, whole_number

EMPTY = "."
DIGITS = ("123456", "abcdef")
"""The marks of the numbers, by colour."""
BLANK_MARKS = "WB"
WORDS = ("phase", "claim", "undo", "turns", "result")
"""The words of a position text that all three games know."""
LIMIT = "limit"
"""The result of a game cut off by the limit of turns."""
MOST_POINTS = 100

Places = Callable[[Any, int], Any]
"""The kernel `places(state, player)` of a game: where a number of the player may go, Sudoku's
rule aside."""


# ---- states ----


def new_states(dtype: np.dtype[Any], settings: Settings, count: int = 1) -> np.ndarray:
    """Empty boards, `(count,)` states."""
    states = as_states(np.zeros(count, dtype))
    states["candidates"] = FULL
    states["no_referee"] = not settings["referee"]
    return states


def lay_marks(state: Any, marks: Iterable[str]) -> None:
    """Lay the stones of a board, given by its 36 marks, on an empty state."""
    for cell, mark in enumerate(marks):
        if mark == EMPTY:
            continue
        black = mark in DIGITS[BLACK] or mark == BLANK_MARKS[BLACK]
        state["colours"][BLACK if black else WHITE] |= U64(bit(cell))
        if mark in BLANK_MARKS:
            state["blanks"] |= U64(bit(cell))
        else:
            state["stones"][DIGITS[black].index(mark)] |= U64(bit(cell))
    dominari.find_candidates(state)


# ---- writing ----


def write_text(state: Any, more: Iterable[str] = ()) -> str:
    """A position text: board, side to move, then the words that are not at their usual value.

    `phase=blanks` where the number of the turn is laid; `claim=1` where the player to move may
    claim; `undo=` the board before the turn that would be taken back, where its number was
    wrong; `turns=` how many were played; `result=` what player_0 gained, or `limit`.
    """
    words = [_board(state, state["colours"]), COLOUR_LETTERS[int(state["to_move"])]]
    if state["phase"] == BLANKS:
        words.append("phase=blanks")
    if state["claim"]:
        words.append("claim=1")
    if state["wrong"]:
        words.append(f"undo={_board(state, state['prior'])}")
    if state["turns"]:
        words.append(f"turns={int(state['turns'])}")
    words += more
    if state["over"]:
        limit = state["over"] == TRUNCATED
        words.append(f"result={LIMIT if limit else int(state['payoff'])}")
    return " ".join(words)


def _board(state: Any, colours: Any) -> str:
    marks = [EMPTY] * CELLS
    for colour, board in enumerate(colours):
        for cell in cells_of(np.array([board], U64)):
            number = number_on(state, cell)
            marks[cell] = DIGITS[colour][number - 1] if number else BLANK_MARKS[colour]
    return "/".join("".join(marks[r * SIZE : (r + 1) * SIZE]) for r in range(SIZE))


# ---- reading ----


def split(text: str, numbers: int, keys: tuple[str, ...] = ()) -> PositionText:
    """The parts of a position text; raises `PositionError` where it is malformed."""
    return split_position(text, (SIZE,) * SIZE, _alphabet(numbers), COLOUR_LETTERS, (*WORDS, *keys))


def _alphabet(numbers: int) -> str:
    return EMPTY + DIGITS[WHITE][:numbers] + DIGITS[BLACK][:numbers] + BLANK_MARKS


def read_board(state: Any, parts: PositionText) -> None:
    """Lay the board of a text on an empty state and set who is to move.

    Raises:
        PositionError: the board breaks Sudoku's rule though there is a referee, or has more
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
    clash = first_clash([number_on(state, cell) for cell in range(CELLS)], HOUSES)
    if clash is not None:
        raise PositionError(
            f"position: the number {clash.number} stands twice in one row, column or block, on "
            f"{SQUARES[clash.first]} and {SQUARES[clash.second]}"
        )


def read_turn(state: Any, parts: PositionText, places: Places) -> None:
    """Read the words of the turn, but for `undo=`, into a state whose board and rights are set.

    Raises:
        PositionError: they do not fit the board or the options.
    """
    words = parts.words
    _need_no_referee(state, parts)
    limit = words.get("result") == LIMIT
    most = TURN_LIMIT if "result" in words else TURN_LIMIT - 1
    state["turns"] = whole_number(words.get("turns", "0"), "turns", 0, most)
    if words.get("phase", "blanks") != "blanks":
        raise PositionError(f"position: phase={words['phase']}: must be blanks or left out")
    state["phase"] = BLANKS if "phase" in words else NUMBER
    if "claim" in words:
        state["claim"] = whole_number(words["claim"], "claim", 1, 1)
    if "result" in words:
        state["over"] = TRUNCATED if limit else TERMINATED
        if not limit:
            state["payoff"] = whole_number(words["result"], "result", -MOST_POINTS, MOST_POINTS)
        _check_over(state, parts, places)
    elif state["phase"] == BLANKS:
        _check_blanks(state)
    else:
        _check_number(state, places)


def _need_no_referee(state: Any, parts: PositionText) -> None:
    if state["no_referee"]:
        return
    for key in ("claim", "undo", "undofree", "turns"):
        if key in parts.words:
            raise PositionError(f"position: {key}= needs the option referee=False")
    if parts.words.get("result") == LIMIT:
        raise PositionError(f"position: result={LIMIT} needs the option referee=False")


def _check_over(state: Any, parts: PositionText, places: Places) -> None:
    for key in ("phase", "claim", "undo"):
        if key in parts.words:
            raise PositionError(f"position: {key}= stands only while the game goes on")
    if state["over"] == TRUNCATED:
        if state["turns"] != TURN_LIMIT:
            raise PositionError(f"position: result={LIMIT} needs turns={TURN_LIMIT}")
        if not _may_lay(state, places):
            raise PositionError(f"position: result={LIMIT}, but the player to move cannot lay")


def _may_lay(state: Any, places: Places) -> bool:
    player = int(state["to_move"])
    return bool(places(state, player) & dominari.fitting(state))


def _check_blanks(state: Any) -> None:
    mover = int(state["to_move"])
    if state["claim"]:
        raise PositionError("position: claim= stands only where a turn begins")
    if not dominari.can_fill(state):
        raise PositionError("position: phase=blanks, but no dead cell or no blank is left")
    if not state["colours"][mover] & ~state["blanks"]:
        raise PositionError(f"position: phase=blanks, but {COLOUR_NAMES[mover]} has laid no number")


def _check_number(state: Any, places: Places) -> None:
    mover = int(state["to_move"])
    state["targets"] = places(state, mover)
    if not dominari.can_lay(state):
        raise PositionError(
            f"position: {COLOUR_NAMES[mover]} is to move and cannot lay a number, but no result= "
            "is given"
        )
    if state["claim"]:
        if not state["turns"]:
            raise PositionError("position: claim=1 needs turns= of 1 or more")
        if not state["colours"][1 - mover] & ~state["blanks"]:
            raise PositionError(
                f"position: claim=1, but {COLOUR_NAMES[1 - mover]} has laid no number"
            )


# ---- the wrong turn ----


def read_undo(state: Any, before: Any, parts: PositionText, places: Places, flips: Places) -> None:
    """Read `undo=`, the board before the wrong turn, into a state that is read but for it.

    Args:
        state: the position; its turn is set.
        before: an empty state with the same options and the rights there were before that turn.
        parts: the text.
        places: the game's kernel.
        flips: `flips(before, cell)`, the stones that the number of that turn turned over.

    Raises:
        PositionError: no wrong turn leads from that board to this one.
    """
    if "undo" not in parts.words:
        return
    if state["phase"] == NUMBER and not state["claim"]:
        raise PositionError("position: undo= needs claim=1 or phase=blanks")
    numbers = len(state["stones"])
    board = split_position(
        f"{parts.words['undo']} w", (SIZE,) * SIZE, _alphabet(numbers), COLOUR_LETTERS, ()
    )
    mover = int(state["to_move"]) ^ int(state["claim"])
    lay_marks(before, "".join(board.rows))
    before["to_move"] = mover
    before["targets"] = places(before, mover)
    number, cell = _number_laid(state, before)
    _check_turned(state, before, U64(flips(before, cell)))
    square = SQUARES[cell]
    if has(before["candidates"][number], cell):
        raise PositionError(f"position: undo=: the {number + 1} on {square} broke no rule")
    if not has(before["targets"], cell) or not dominari.can_lay(before):
        raise PositionError(f"position: undo=: {COLOUR_NAMES[mover]} could not lay on {square}")
    state["wrong"] = 1
    state["prior"] = before["colours"]


def _number_laid(state: Any, before: Any) -> tuple[int, int]:
    """The number (from 0) and the cell in which two boards differ; blanks may be new too."""
    mover, old = int(before["to_move"]), U64(dominari.taken(before))
    laid = [
        (n, cell)
        for n, board in enumerate(state["stones"])
        for cell in cells_of(np.array([board & ~old], U64))
    ]
    same = (state["stones"] & old == before["stones"]).all()
    if not same or state["blanks"] & old != before["blanks"] or len(laid) != 1:
        raise PositionError(
            "position: undo=: the board must be this one without one number and some blanks"
        )
    number, cell = laid[0]
    if not has(state["colours"][mover], cell):
        raise PositionError(
            f"position: undo=: the number on {SQUARES[cell]} must be {COLOUR_NAMES[mover]}'s"
        )
    return number, cell


def _check_turned(state: Any, before: Any, flips: Any) -> None:
    """Stones turn over to the mover alone: the captured, and more only if blanks were laid."""
    mover, old = int(before["to_move"]), U64(dominari.taken(before))
    turned = state["colours"][mover] & before["colours"][1 - mover]
    lost = state["colours"][1 - mover] & before["colours"][mover]
    own_blanks = state["blanks"] & ~old & state["colours"][mover]
    if lost or flips & ~turned or (turned != flips and not (flips and own_blanks)):
        where = ", ".join(
            SQUARES[cell] for cell in cells_of(np.array([lost | (turned ^ flips)], U64))
        )
        raise PositionError(f"position: undo=: no turn changes the colours so, on {where}")


# ---- displays ----


def scene(state: Any, start: Any, notes: Sequence[str]) -> Scene:
    """The position as renderers see it; `notes` are the game's own lines."""
    left = BLANK_STONES - popcount(state["blanks"])
    limit = (f"turns played: {int(state['turns'])} of {TURN_LIMIT}",) if state["no_referee"] else ()
    empty = [cell for cell in range(CELLS) if colour_on(state, cell) is None]
    return Scene(
        board="dominari36",
        grounds=tuple("light" if block % 2 else "plain" for block in BLOCK_OF),
        stones=tuple(_stone(state, start, cell) for cell in range(CELLS)),
        dead=frozenset(cells_of(np.array([dominari.dead_cells(state)], U64))),
        candidates={cell: candidates_on(state, cell) for cell in empty},
        notes=(turn_note(state), *notes, *limit),
        trays=(("blanks left", (Stone("white"),) * left),),
        regions=BLOCK_OF,
    )


def _stone(state: Any, start: Any, cell: int) -> Stone | None:
    colour, number = colour_on(state, cell), number_on(state, cell)
    if colour is None:
        return None
    return Stone(COLOUR_NAMES[colour], str(number or ""), colour_on(start, cell) is not None)


def side_name(player: int) -> str:
    """`player_0 (white)` and the like."""
    return f"player_{player} ({COLOUR_NAMES[player]})"


def turn_note(state: Any) -> str:
    """Whose turn it is, or how the game ended."""
    if state["over"] == TRUNCATED:
        return f"over: {TURN_LIMIT} turns without an end"
    if state["over"]:
        payoff = int(state["payoff"])
        return f"over: {side_name(int(payoff < 0))} wins" if payoff else "over: a draw"
    task = "blanks, or end" if state["phase"] == BLANKS else "lay a number"
    return f"{side_name(int(state['to_move']))}: {task}{', or claim' if state['claim'] else ''}"


def points_note(state: Any) -> str:
    """The points of both, as they would count now."""
    white, black = dominari.points(state, WHITE), dominari.points(state, BLACK)
    return f"points: white {int(white)}, black {int(black)}"


# ---- invariants ----


def check_state(state: Any, places: Places) -> None:
    """What all states obey: boards agree, blanks lie on dead cells, the turn is as it must be."""
    numbers, colours = list(state["stones"]), list(state["colours"])
    cells = [cells_of(np.array([board], U64)) for board in (*numbers, state["blanks"])]
    laid = sorted(cell for board in cells for cell in board)
    assert laid == cells_of(np.array([colours[0] | colours[1]], U64))
    assert colours[0] & colours[1] == ZERO
    assert len(laid) == len(set(laid))
    assert len(cells[-1]) <= BLANK_STONES
    for n in range(len(numbers)):
        seen = {c for house in HOUSES for c in house if set(house) & set(cells[n])}
        left = set(range(CELLS)) - seen - set(laid)
        assert state["candidates"][n] == board_of(left, 1)[0], f"candidates of {n + 1}"
        assert set(cells[-1]) <= seen, f"a blank on a cell that the {n + 1} fits"
    _check_turn(state, places)


def _check_turn(state: Any, places: Places) -> None:
    over, number = bool(state["over"]), state["phase"] == NUMBER
    running = state["over"] == RUNNING
    assert number or (running and dominari.can_fill(state))
    targets = places(state, int(state["to_move"])) if running and number else ZERO
    assert state["targets"] == targets
    assert bool(dominari.can_lay(state)) == (running and number)
    assert bool(state["prior"].any()) == bool(state["wrong"])
    assert not state["claim"] or (running and number and state["turns"])
    assert not state["wrong"] or (running and (state["claim"] or not number))
    assert state["turns"] <= TURN_LIMIT - (not over)
    if not state["no_referee"]:
        assert not dominari.breaks_rule(state)
        assert not state["wrong"]
        assert not state["claim"]
        assert not state["turns"]
