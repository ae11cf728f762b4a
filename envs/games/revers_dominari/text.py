"""Words of Revers-Dominari alone: position texts, sentences, scene and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.game import TERMINATED
from azumaya.envs.games._dominari import texts, words
from azumaya.envs.games._dominari.board import BLACK, WHITE
from azumaya.envs.games._dominari.turn import fitting
from azumaya.envs.games._dominari.words import BOARD_TEXT, list_of
from azumaya.envs.games.revers_dominari.board import BOARD
from azumaya.envs.games.revers_dominari.rules import captured, places
from azumaya.envs.geometry.dominari36 import FULL, SQUARES
from azumaya.envs.kernels.bits import U64, bit, cells_of
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Settings

IDEA = "Surround the opponent's stones to turn them over: the higher score at the end wins."
MINUTES = 10
HOW_TO_PLAY = f"""\
{BOARD_TEXT} The numbers are 1 to 6.
{words.TURN_TEXT}
1. At the start four numbers fill the centre.
2. A number must capture at least one opposing stone. A player who can place no such number is
skipped.
3. A stone captures (a) opposing stones without a gap along a row or column between it and another
stone of yours; (b) an opposing stone that is beside it and beside a stone of yours diagonal to
it; (c) two opposing stones that make a 2x2 square with it and a stone of yours beside it. All
captured stones turn over together to your colour.
4. Blanks are placed in white or black, as you like. One of your own colour captures by rule 3, but
need not; one of the other colour never captures.
5. The game ends when neither player can place a number. The higher score wins; equal scores draw.
{words.POINTS_TEXT}
Moves: 5e4 places a 5 on e4; we4 places a white blank on e4, be4 a black one; end ends the turn."""


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return texts.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, _ = texts.read_position(text, BOARD, settings, places, _flips)
    if states["over"][0] == TERMINATED:
        _check_end(states[0])
    return states


def _flips(before: Any, cell: int) -> Any:
    """What a stone of the player to move captures from a cell."""
    mover = int(before["to_move"])
    return captured(before["colours"][mover], before["colours"][1 - mover], U64(bit(cell)))


def _check_end(state: Any) -> None:
    room = fitting(state)
    texts.check_end(state, stuck=not any(places(state, p) & room for p in (WHITE, BLACK)))


def where(state: Any, cell: int) -> str:
    """Why a number may go to a free cell by rule 2, or not."""
    caught = [SQUARES[c] for c in cells_of(np.array([_flips(state, cell)], U64))]
    if not caught:
        return f"a stone on {SQUARES[cell]} would capture nothing (rule 2)"
    return f"it captures {list_of(caught)}"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    return words.scene(state, start, (words.points_note(state),))


def check_state(state: Any) -> None:
    """Slow invariants; raises `AssertionError` or, for a wrong end, `PositionError`."""
    words.check_state(state, places)
    if state["over"] == TERMINATED:
        _check_end(state)
    elif not state["phase"]:
        assert state["targets"] & FULL == state["targets"]
