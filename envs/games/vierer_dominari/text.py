"""Words of Vierer-Dominari alone: position texts, sentences, scene and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED
from azumaya.envs.games._dominari import texts, words
from azumaya.envs.games._dominari.board import TURN_LIMIT
from azumaya.envs.games._dominari.turn import breaks_rule, fitting, taken
from azumaya.envs.games._dominari.words import BOARD_TEXT, COLOUR_NAMES, colour_on
from azumaya.envs.games.vierer_dominari.board import BOARD
from azumaya.envs.games.vierer_dominari.rules import FOURS, has_four, places
from azumaya.envs.geometry.dominari36 import GRID, SQUARES
from azumaya.envs.kernels.bits import cells_of
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Settings

IDEA = (
    "Place numbers by the Sudoku rule, blanks where none fits: four of your colour in a line "
    "or a block win."
)
MINUTES = 5
HOW_TO_PLAY = f"""\
{BOARD_TEXT} The numbers are 1 to 5.
{words.TURN_TEXT}
1. On the empty board the first number goes anywhere. Every later number goes beside a stone of
either colour (left, right, above or below; blanks count as stones).
2. Blanks are placed in your own colour.
3. Four stones of your own colour, numbers or blanks, side by side in a row or column, or filling
a block, win at once.
4. If no number can be placed when a turn is over, the game is a draw.
Moves: 5e4 places a 5 on e4; we4 (white) or be4 (black) places a blank on e4; end ends the turn."""


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return texts.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, before = texts.read_position(text, BOARD, settings, places, texts.no_flips)
    _check_possible(states[0])
    if states["wrong"][0]:
        _check_fours(before[0])
    return states


def winning(state: Any) -> tuple[int, ...]:
    """The cells of the fours that have won."""
    if state["over"] != TERMINATED or not state["payoff"]:
        return ()
    won = FOURS[FOURS & state["colours"][state["to_move"]] == FOURS]
    return tuple(cells_of(np.bitwise_or.reduce(won, keepdims=True)))


def _check_possible(state: Any) -> None:
    """Four in a line ends the game, and an ended game has a result that fits."""
    if state["over"] != TERMINATED:
        _check_fours(state)
        return
    payoff, mover = int(state["payoff"]), int(state["to_move"])
    fours = [bool(has_four(board)) for board in state["colours"]]
    stuck = not (places(state, mover) & fitting(state))
    drawn = stuck or (state["no_referee"] and breaks_rule(state))
    if fours.count(True) != abs(payoff) or (payoff and not fours[mover]):
        possible = False
    else:
        possible = payoff == 1 - 2 * mover if payoff else bool(drawn)
    if not possible:
        raise PositionError(f"position: result={payoff} is not how this game ends")


def _check_fours(state: Any) -> None:
    for colour, board in enumerate(state["colours"]):
        if has_four(board):
            raise PositionError(
                f"position: {COLOUR_NAMES[colour]} has four in a line or block, which ends the game"
            )


def where(state: Any, cell: int) -> str:
    """Why a number may go to a free cell by rule 1, or not."""
    if not taken(state):
        return "the first number goes anywhere"
    for other in sorted(GRID.neighbours_of(cell)):
        if colour_on(state, other) is not None:
            return f"it lies beside the stone on {SQUARES[other]}"
    return f"no stone lies beside {SQUARES[cell]} (rule 1)"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    return words.scene(state, start, ())


def check_state(state: Any) -> None:
    """Slow invariants; raises `AssertionError`."""
    words.check_state(state, places)
    fours = [bool(has_four(board)) for board in state["colours"]]
    won = state["over"] == TERMINATED and state["payoff"]
    assert fours == [won == 1, won == -1]
    if state["over"] == TERMINATED and not won:
        assert not places(state, 0) & fitting(state) or breaks_rule(state)
    assert state["payoff"] in (-1, 0, 1)
    assert state["over"] != TRUNCATED or state["turns"] == TURN_LIMIT
