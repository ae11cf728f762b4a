"""Words of Score-Dominari alone: position texts, sentences, scene and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED
from azumaya.envs.games._dominari import texts, words
from azumaya.envs.games._dominari.board import BLACK, NUMBER, WHITE
from azumaya.envs.games._dominari.turn import fitting, taken
from azumaya.envs.games._dominari.words import (
    BOARD_TEXT,
    COLOUR_LETTERS,
    COLOUR_NAMES,
    colour_on,
    list_of,
)
from azumaya.envs.games.score_dominari.board import BOARD
from azumaya.envs.games.score_dominari.rules import CORNERS, places
from azumaya.envs.geometry.dominari36 import GRID, SQUARES
from azumaya.envs.kernels.bits import bit
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText

IDEA = "Grow from your corner and fill blocks, rows and columns: the higher score at the end wins."
MINUTES = 10
HOW_TO_PLAY = f"""\
{BOARD_TEXT} The numbers are 1 to 6.
{words.TURN_TEXT}
1. White's first number goes to a1, black's first to f6.
2. Every later number goes beside a stone of your own colour; diagonal neighbours count, and so do
blanks.
3. A player who cannot place a number is skipped; their next number may go on any empty cell where
it fits its row, column and block.
4. Blanks are placed in your own colour.
5. The game ends when no number fits any empty cell. The higher score wins; equal scores draw.
{words.POINTS_TEXT}
Moves: 5e4 places a 5 on e4; we4 (white) or be4 (black) places a blank on e4; end ends the turn."""


# ---- position texts ----


def write_text(state: Any, settings: Settings) -> str:
    """The position text.

    `free=` names the players whose next number may go anywhere, `undofree=` those who had that
    right before the turn in `undo=`.
    """
    more = []
    for key, rights in (("free", state["free"]), ("undofree", state["prior_free"])):
        if rights.any():
            more.append(f"{key}=" + "".join(COLOUR_LETTERS[p] for p in (WHITE, BLACK) if rights[p]))
    return texts.write_text(state, more)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states = words.empty_states(BOARD, settings)
    before = words.empty_states(BOARD, settings)
    parts = texts.split(text, BOARD, ("free", "undofree"))
    texts.read_board(states[0], parts)
    _check_blanks(states[0], "")
    _read_rights(states[0], before[0], parts)
    texts.read_turn(states[0], parts, places)
    texts.read_undo(states[0], before[0], BOARD, parts, places, texts.no_flips)
    _check_blanks(before[0], "undo=: ")
    if states["over"][0] == TERMINATED:
        _check_end(states[0])
    return states


def _only_blanks(state: Any, colours: Any) -> list[int]:
    """The players who have stones of these colours, all of them blanks.

    No game leads there, since blanks follow a number of the same colour. Rules 1 and 2 would
    contradict each other about where the next number of such a player goes.
    """
    return [p for p in (WHITE, BLACK) if colours[p] and not colours[p] & ~state["blanks"]]


def _check_blanks(state: Any, prefix: str) -> None:
    for player in _only_blanks(state, state["colours"]):
        raise PositionError(
            f"position: {prefix}{COLOUR_NAMES[player]} has blanks but no number; a player "
            "places blanks only after a number"
        )


def _read_rights(state: Any, before: Any, parts: PositionText) -> None:
    """Read the rights that the players have, and those before the turn in `undo=`."""
    for key, rights in (("free", state["free"]), ("undofree", before["free"])):
        letters = parts.fields.get(key, "")
        if letters not in ("", "w", "b", "wb"):
            raise PositionError(f"position: {key}={letters}: must be w, b or wb")
        for letter in letters:
            rights[COLOUR_LETTERS.index(letter)] = 1
    for player in (WHITE, BLACK):
        if state["free"][player] and _can_begin(state, player):
            raise PositionError(
                f"position: free=: {COLOUR_NAMES[player]} can place the first number on "
                f"{SQUARES[CORNERS[player]]}, so has not been skipped"
            )
    if "undo" in parts.fields:
        _check_rights(state, before, parts)
    elif "undofree" in parts.fields:
        raise PositionError("position: undofree= is allowed only with undo=")
    state["prior_free"] = before["free"]


def _can_begin(state: Any, player: int) -> bool:
    """Whether a player's first number is still to come and can be placed by rule 1."""
    corner = bit(int(CORNERS[player])) & ~taken(state)
    return not state["colours"][player] and bool(corner & fitting(state))


def _check_rights(state: Any, before: Any, parts: PositionText) -> None:
    """The number used up its player's right; if both were skipped after it, both have one now."""
    mover = COLOUR_LETTERS.index(parts.to_move) ^ ("claim" in parts.fields)
    now, then = state["free"], before["free"]
    kept = not now[mover] and now[1 - mover] == then[1 - mover]
    both_skipped = "claim" in parts.fields and now.all() and not then[1 - mover]
    if not (kept or both_skipped):
        raise PositionError(
            "position: no turn leads from the rights in undofree= to those in free="
        )


def _check_end(state: Any) -> None:
    texts.check_end(state, stuck=not fitting(state))


# ---- sentences, scene, checks ----


def where(state: Any, cell: int) -> str:
    """Why a number may go to a free cell by rules 1 to 3, or not."""
    mover, square = int(state["to_move"]), SQUARES[cell]
    colour, corner = COLOUR_NAMES[mover], int(CORNERS[mover])
    if state["free"][mover]:
        return f"{colour} was skipped and may place a number on any empty cell (rule 3)"
    if not state["colours"][mover]:
        return f"{colour}'s first number goes to {SQUARES[corner]} (rule 1)"
    near = [
        SQUARES[other]
        for other in sorted(GRID.neighbours_of(cell, diagonal=True))
        if colour_on(state, other) == mover
    ]
    if not near:
        return f"no {colour} stone lies beside {square}, even diagonally (rule 2)"
    return f"it lies beside the {colour} stone on {near[0]}"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    rights = list_of([COLOUR_NAMES[p] for p in (WHITE, BLACK) if state["free"][p]])
    note = f"{rights} may place anywhere" if rights else ""
    return words.scene(state, start, (words.points_note(state), note))


def check_state(state: Any) -> None:
    """Slow invariants; raises `AssertionError` or, for a wrong end, `PositionError`."""
    words.check_state(state, places)
    assert state["wrong"] or not state["prior_free"].any()
    assert not _only_blanks(state, state["colours"])
    assert not _only_blanks(state, state["prior"])
    if state["over"] == TERMINATED:
        _check_end(state)
    elif state["phase"] == NUMBER:
        assert fitting(state)
