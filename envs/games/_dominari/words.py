"""Words that Vierer-, Revers- and Score-Dominari share: move names, sentences, scenes, checks.

All of this runs on the host. Position texts are in `texts.py`; what only one game says is in
its own `text.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.envs.game import RUNNING, TRUNCATED, new_states
from azumaya.envs.games._dominari.board import (
    BLACK,
    BLANK_STONES,
    BLANKS,
    NUMBER,
    TURN_LIMIT,
    WHITE,
    Board,
)
from azumaya.envs.games._dominari.turn import breaks_rule, can_fill, can_lay, dead_cells, points
from azumaya.envs.geometry.dominari36 import BLOCK_OF, CELLS, FULL, GRID, HOUSES, SIZE, SQUARES
from azumaya.envs.geometry.houses import where_twice
from azumaya.envs.kernels.bits import U64, ZERO, board_of, cells_of, has, popcount
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings

ROW_LENGTHS = (SIZE,) * SIZE
COLOUR_LETTERS = "wb"
COLOUR_NAMES = ("white", "black")
"""By player."""
BOARD_TEXT = """\
The board has 6x6 cells, columns a to f from left to right, rows 1 to 6 from bottom to top, and
nine blocks of 2x2. White moves first."""
"""The beginning of every `how_to_play`."""
GROUNDS = tuple("light" if block % 2 else "plain" for block in BLOCK_OF)
"""The grounds of a scene: every other block is light."""


def side(state: Any, player: int) -> str:
    """A player's colour."""
    return COLOUR_NAMES[player]


def side_name(player: int) -> str:
    """A player and their colour, like `player_0 (white)`."""
    return f"player_{player} ({COLOUR_NAMES[player]})"


def result_note(state: Any) -> str:
    """How a game ended that was not cut off."""
    payoff = int(state["payoff"])
    return f"over: {side_name(int(payoff < 0))} wins" if payoff else "over: a draw"


TURN_TEXT = """\
A turn begins with a number of your own colour placed on an empty cell. No number may stand twice
in a row, a column or a block, whatever its colour. Then, while there are dead cells (empty cells
on which no number fits) and blanks left of the 12 that both players share, you may place blanks on
dead cells, one a step, as many as you like; `end` ends the turn. If there is no dead cell or no
blank left, the turn ends by itself."""
POINTS_TEXT = """\
Each number of your own colour scores 1 point; each block full of your own stones 2 (1 if there is
a blank in it); each row or column full of your own stones 3 (2 with a blank)."""
"""Parts of the `how_to_play` of all three games."""
NO_REFEREE_TEXT = """\
A number may be placed although it then stands twice in a row, a column or a block, and the opponent
may object. A turn is wrong if its number stood twice when it was placed. Who can place a number,
which cells are dead and when the game is over still depend on where numbers fit without standing
twice.
One more move, `claim`, is legal as the first step of a turn, once, if the last turn was the
opponent's. If that turn was wrong, it is undone as a whole. If it was right, but an earlier turn
has left a number twice, the game ends as a draw. Otherwise nothing happens. If the game goes on,
the claimant does so with their own turn; a mistaken claim costs nothing.
A wrong turn cannot end the game: it is undone at the step that would, and the opponent is to move.
After 200 turns, undone ones included, the game is a draw."""
"""The `rules` of the option `referee`."""

Places = Callable[[Any, int], Any]
"""A game's kernel `places(state, player)`: where a player's number may go, the Sudoku rule
aside."""


# ---- starts ----


def empty_states(board: Board, settings: Settings, count: int = 1) -> np.ndarray:
    """Empty boards with the options set, `(count,)` states; `targets` are not set yet."""
    states = new_states(count, board.state)
    states["candidates"] = FULL
    states["no_referee"] = not settings["referee"]
    if "reward" in settings:
        states["margin"] = settings["reward"] == "margin"
    return states


def empty_start(board: Board, places: Places, settings: Settings) -> np.ndarray:
    """The empty board with white to move, `(1,)` states."""
    states = empty_states(board, settings)
    states["targets"] = places(states[0], WHITE)
    return states


# ---- move names ----


def move_namer(board: Board) -> Callable[[int, Settings, int], str]:
    """The function `move_name(action, settings, mover)` of a game."""

    def move_name(action: int, settings: Settings, mover: int = 0) -> str:
        """The name of an action of the player to move, like `5e4`, `we4` or `end`."""
        if action >= board.end:
            return "end" if action == board.end else "claim"
        square = SQUARES[action % CELLS]
        if action < board.blank:
            return f"{action // CELLS + 1}{square}"
        colour = mover if board.blank_colours == 1 else (action - board.blank) // CELLS
        return COLOUR_LETTERS[colour] + square

    return move_name


def form_of_moves(board: Board) -> Callable[[Settings], str]:
    """The function `move_form(settings)` of a game."""

    def move_form(settings: Settings) -> str:
        also = "or end" if settings["referee"] else "end or claim"
        return (
            f"a number from 1 to {board.numbers} and a square, such as 5e4, "
            f"a blank, such as we4 or be4, {also}"
        )

    return move_form


def cell_finder(board: Board) -> Callable[[int, Settings], tuple[int, ...]]:
    """The function `action_cells(action, settings)` of a game."""

    def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
        """The cell that a stone goes to; none for `end` and `claim`."""
        return (action % CELLS,) if action < board.end else ()

    return action_cells


# ---- reading a state ----


def number_on(state: Any, cell: int) -> int:
    """The number on a cell, 0 where there is none."""
    return next((n + 1 for n, board in enumerate(state["stones"]) if has(board, cell)), 0)


def numbers_of(state: Any) -> list[int]:
    """The number on each of the 36 cells, 0 where there is none."""
    return [number_on(state, cell) for cell in range(CELLS)]


def colour_on(state: Any, cell: int) -> int | None:
    """The colour of the stone on a cell, or None."""
    return next((p for p, board in enumerate(state["colours"]) if has(board, cell)), None)


def stone_name(state: Any, cell: int) -> str:
    """The stone on a cell, like `white 5` or `black blank`."""
    colour, number = colour_on(state, cell), number_on(state, cell)
    assert colour is not None
    return f"{COLOUR_NAMES[colour]} {number or 'blank'}"


def candidates_on(state: Any, cell: int) -> tuple[int, ...]:
    """The numbers that the Sudoku rule allows on a cell."""
    return tuple(n + 1 for n, board in enumerate(state["candidates"]) if has(board, cell))


# ---- sentences ----

Where = Callable[[Any, int], str]
"""`where(state, cell)`: what allows the player to move to place a number on a free cell, the Sudoku
rule aside, or what forbids it."""


def explainer(board: Board, where: Where) -> Callable[[Any, int, Settings], str]:
    """The function `explain(state, action, settings)` of a game."""
    move_name = move_namer(board)

    def explain(state: Any, action: int, settings: Settings) -> str:
        """One sentence: why an action is legal in a state, or which rule forbids it."""
        name = move_name(action, settings, int(state["to_move"]))
        if state["over"]:
            return f"{name}: the game is over"
        if action == board.claim:
            return f"{name}{_explain_claim(state)}"
        filling = bool(state["phase"] == BLANKS)
        if action == board.end:
            return f"{name}{_explain_end(filling)}"
        cell, blank = action % CELLS, action >= board.blank
        if blank != filling:
            return f"{name}{_explain_phase(filling)}"
        if colour_on(state, cell) is not None:
            return f"{name}: {SQUARES[cell]} is taken by a {stone_name(state, cell)}"
        if filling:
            return f"{name}{_explain_blank(state, cell)}"
        return f"{name}{_explain_number(where, state, action // CELLS + 1, cell)}"

    return explain


def _explain_claim(state: Any) -> str:
    if state["claim"]:
        return " is legal: the opponent has just played a turn, and it can be claimed now"
    if state["phase"] == BLANKS:
        return ": only the first step of a turn may be a claim"
    return ": no turn of the opponent has just been played, or it was claimed already"


def _explain_end(filling: bool) -> str:
    if filling:
        return " is legal: the number is placed, and blanks are optional"
    return ": a turn begins with a number, which must be placed"


def _explain_phase(filling: bool) -> str:
    if filling:
        return ": the number of this turn is placed, so only blanks or end may follow"
    return ": a blank may be placed only after the number of the same turn"


def _explain_blank(state: Any, cell: int) -> str:
    numbers = candidates_on(state, cell)
    if numbers:
        fits = list_of([str(n) for n in numbers])
        return f": {SQUARES[cell]} is not dead, since {fits} may still be placed there"
    return f" is legal: {SQUARES[cell]} is dead, and there are blanks left"


def _explain_number(where: Where, state: Any, number: int, cell: int) -> str:
    clash, place = where_twice(GRID, numbers_of(state), number, cell), where(state, cell)
    if not has(state["targets"], cell):
        return f": {place}"
    if clash is None:
        return f" is legal: the {number} fits row, column and block, and {place}"
    if state["no_referee"]:
        return f" is legal only because there is no referee: {place}, but {clash}"
    return f": {clash}, and no number stands twice in a house"


def list_of(items: Sequence[str]) -> str:
    """Items as a list in words: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


# ---- scenes ----


def scene(state: Any, start: Any, notes: Sequence[str]) -> Scene:
    """The position as renderers see it; `notes` are the game's own lines."""
    left = BLANK_STONES - popcount(state["blanks"])
    limit = (f"turns played: {int(state['turns'])} of {TURN_LIMIT}",) if state["no_referee"] else ()
    empty = [cell for cell in range(CELLS) if colour_on(state, cell) is None]
    return Scene(
        board="dominari36",
        grounds=GROUNDS,
        stones=tuple(_stone(state, start, cell) for cell in range(CELLS)),
        dead=frozenset(cells_of(np.array([dead_cells(state)], U64))),
        candidates={cell: candidates_on(state, cell) for cell in empty},
        notes=(turn_note(state), *notes, *limit),
        trays=(("blanks left", (Stone("white"),) * left),),
        regions=BLOCK_OF,
    )


def _stone(state: Any, start: Any, cell: int) -> Stone | None:
    colour, number = colour_on(state, cell), number_on(state, cell)
    if colour is None:
        return None
    return Stone(COLOUR_NAMES[colour], str(number or ""), _stays_from(start, cell))


def _stays_from(start: Any, cell: int) -> bool:
    """Whether the stone that lay on a cell at the start, if there was one, is there for good.

    One of a wrong turn is not: once that turn is undone, another stone may come to lie there.
    """
    for_good = start["prior"] if start["wrong"] else start["colours"]
    return any(has(board, cell) for board in for_good)


def turn_note(state: Any) -> str:
    """Whose turn it is, or how the game ended."""
    if state["over"] == TRUNCATED:
        return f"over: {TURN_LIMIT} turns without an end"
    if state["over"]:
        return result_note(state)
    task = "blanks, or end" if state["phase"] == BLANKS else "place a number"
    return f"{side_name(int(state['to_move']))}: {task}{', or claim' if state['claim'] else ''}"


def points_note(state: Any) -> str:
    """The points of both players if the game ended now."""
    white, black = points(state, WHITE), points(state, BLACK)
    return f"points: white {int(white)}, black {int(black)}"


# ---- invariants ----


def check_state(state: Any, places: Places) -> None:
    """Slow invariants: boards agree, the turn is consistent.

    In games blanks lie on dead cells only; texts of study positions may have them anywhere.

    Raises:
        AssertionError: one of these is broken.
    """
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
    _check_turn(state, places)


def _check_turn(state: Any, places: Places) -> None:
    over, number = bool(state["over"]), state["phase"] == NUMBER
    running = state["over"] == RUNNING
    assert number or (running and can_fill(state))
    targets = places(state, int(state["to_move"])) if running and number else ZERO
    assert state["targets"] == targets
    assert bool(can_lay(state)) == (running and number)
    assert bool(state["prior"].any()) == bool(state["wrong"])
    assert not state["claim"] or (running and number and state["turns"])
    assert not state["wrong"] or (running and (state["claim"] or not number))
    assert state["turns"] <= TURN_LIMIT - (not over)
    if not state["no_referee"]:
        assert not breaks_rule(state)
        assert not state["wrong"]
        assert not state["claim"]
        assert not state["turns"]
