"""Words of Halma-Dominari: move names, position texts, sentences, scenes, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, new_states
from azumaya.envs.games._dominari.words import (
    BOARD_TEXT,
    COLOUR_LETTERS,
    COLOUR_NAMES,
    GROUNDS,
    ROW_LENGTHS,
    result_note,
    side_name,
)
from azumaya.envs.games.halma_dominari.board import (
    BLACK,
    CHOOSE,
    NUMBERS,
    OFF_ACTION,
    PLAY,
    START_CELLS,
    STATE,
    WHITE,
)
from azumaya.envs.games.halma_dominari.rules import (
    CORNER,
    START,
    can_move,
    fits,
    goals_of,
    jumps_of,
    laid,
    steps_from,
    stones_of,
    taken_cells,
)
from azumaya.envs.geometry.dominari36 import BLOCK_OF, CELLS, GRID, HOUSES, SQUARES
from azumaya.envs.geometry.houses import first_clash, where_twice
from azumaya.envs.kernels.bits import U64, bit, cells_of, has, lowest
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, join_rows, read_whole, split_position

IDEA = (
    "Step and jump across the board, never two equal numbers in a line: the first to bring "
    "all six stones home wins."
)
HOW_TO_PLAY = f"""\
{BOARD_TEXT}
1. Each player has the numbers 1 to 6. White starts in the corner at a1, black in the corner at f6.
If the numbers are not there yet, they are placed first, in turns: white's 1, black's 1, white's 2
and so on, white's on free cells among a1 b1 c1 a2 b2 a3, black's among f6 e6 d6 f5 e5 f4.
2. A turn moves one of your own stones. It goes to a neighbouring free cell, or jumps over one
neighbouring stone of either colour to the free cell just behind it; jumps may be chained. Stones
jumped over stay. Every step and every jump goes forward: for white up, right, or diagonally up and
right; for black down, left, or diagonally down and left.
3. After the move no number may stand twice in a row, a column or a block, whatever its colour.
Cells between two jumps need only be free.
4. A stone on the opponent's corner cell (f6 for white, a1 for black) may step off the board; a
stone that jumps over a stone on that cell leaves the board too. A jump that lands on the corner
cell ends there.
5. A player who can move must move; one who cannot is skipped. If neither can, the game is a draw.
6. The first player to have all six stones off the board wins.
Moves: 5e4 moves your 5 to e4, or places it there; 5off takes your 5 off the board."""


# ---- move names ----


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `5e4` or `5off`."""
    if action >= OFF_ACTION:
        return f"{action - OFF_ACTION + 1}off"
    return f"{action // CELLS + 1}{SQUARES[action % CELLS]}"


def move_form(settings: Settings) -> str:
    """What names of moves look like."""
    return "a digit from 1 to 6 and a square, such as 5e4, or a digit and off, such as 5off"


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cell a stone goes to; none when it leaves."""
    return () if action >= OFF_ACTION else (action % CELLS,)


# ---- reading a state ----


def numbers_of(state: Any) -> list[int]:
    """The number on each of the 36 cells: positive for white, negative for black, 0 for none."""
    numbers = [0] * CELLS
    for player, sign in ((WHITE, 1), (BLACK, -1)):
        for n in range(NUMBERS):
            for cell in cells_of(state["stones"][player, n : n + 1]):
                numbers[cell] = sign * (n + 1)
    return numbers


def taken_word(state: Any) -> np.uint64:
    """The cells with a stone; compiled kernels hand words to the host as plain ints."""
    return U64(taken_cells(state))


# ---- sentences ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    name = move_name(action, settings)
    if state["over"]:
        return f"{name}: the game is over"
    player = int(state["to_move"])
    if state["stage"] == CHOOSE:
        return f"{name}{_explain_laying(state, action)}"
    number = action - OFF_ACTION if action >= OFF_ACTION else action // CELLS
    stone = state["stones"][player, number]
    if not stone:
        return f"{name}: the {number + 1} has left the board already"
    taken = taken_word(state)
    if action >= OFF_ACTION:
        return f"{name}{_explain_off(state, player, number, taken)}"
    return f"{name}{_explain_move(state, player, number, action % CELLS, taken)}"


def _explain_laying(state: Any, action: int) -> str:
    """What follows the move's name while the stones are placed."""
    player = int(state["to_move"])
    following = int(laid(state, player))
    number, cell = action // CELLS, action % CELLS
    if action >= OFF_ACTION or number != following:
        return f": the stones are still being placed, and the {following + 1} is next (rule 1)"
    if cell not in START_CELLS[player]:
        cells = " ".join(SQUARES[c] for c in START_CELLS[player])
        return f": {COLOUR_NAMES[player]}'s start cells are {cells} (rule 1)"
    if numbers_of(state)[cell]:
        return f": {SQUARES[cell]} is not free (rule 1)"
    return f" is legal: {SQUARES[cell]} is a free start cell"


def _explain_off(state: Any, player: int, number: int, taken: Any) -> str:
    corner = SQUARES[lowest(CORNER[player])]
    stone = state["stones"][player, number]
    if stone == CORNER[player]:
        return f" is legal: the stone steps off from {corner} (rule 4)"
    if has(U64(goals_of(state, player, number, taken)), CELLS):
        return f" is legal: the stone jumps over the one on {corner} (rule 4)"
    return f": stones leave only by a step from {corner} or a jump over a stone on it (rule 4)"


def _explain_move(state: Any, player: int, number: int, cell: int, taken: Any) -> str:
    stone, square = state["stones"][player, number], SQUARES[cell]
    start = SQUARES[lowest(stone)]
    if has(taken, cell):
        return f": {square} is not free (rule 2)"
    jump = has(U64(jumps_of(state, player, number, taken)), cell)
    if not jump and not has(U64(steps_from(stone, player, taken)), cell):
        ways = "up and right" if player == WHITE else "down and left"
        return f": no step and no jumps lead from {start} to {square}, going {ways} (rule 2)"
    if not has(U64(fits(state, player, number)), cell):
        numbers = [abs(n) for n in numbers_of(state)]
        numbers[lowest(stone)] = 0  # it leaves its cell
        there = where_twice(GRID, numbers, number + 1, cell)
        return f": {there}, and no number may stand twice (rule 3)"
    how = "jumps" if jump else "goes one step"
    return f" is legal: the stone {how} from {start}, and the {number + 1} fits there"


# ---- scenes ----


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it, with the stones borne off beside the board."""
    tray = "to place" if state["stage"] == CHOOSE else "borne off"
    return Scene(
        board="dominari36",
        grounds=GROUNDS,
        stones=tuple(
            Stone(COLOUR_NAMES[n < 0], str(abs(n))) if n else None for n in numbers_of(state)
        ),
        candidates=_candidates(state),
        notes=(_note(state),),
        trays=tuple((f"{COLOUR_NAMES[p]} {tray}", _off_board(state, p)) for p in (WHITE, BLACK)),
        regions=BLOCK_OF,
    )


def _candidates(state: Any) -> dict[int, tuple[int, ...]]:
    """By free cell, the numbers on the board that the mover may leave there by rule 3."""
    taken, player = taken_word(state), int(state["to_move"])
    on_board = [n for n in range(NUMBERS) if state["stones"][player, n]]
    fitting = {n: U64(fits(state, player, n)) for n in on_board}
    return {
        cell: tuple(n + 1 for n, cells in fitting.items() if has(cells, cell))
        for cell in range(CELLS)
        if not has(taken, cell)
    }


def _off_board(state: Any, player: int) -> tuple[Stone, ...]:
    gone = (n for n in range(NUMBERS) if not state["stones"][player, n])
    return tuple(Stone(COLOUR_NAMES[player], str(n + 1)) for n in gone)


def _note(state: Any) -> str:
    if state["over"]:
        return result_note(state)
    task = "place the next stone" if state["stage"] == CHOOSE else "move"
    return f"{side_name(int(state['to_move']))} to {task}"


# ---- checks ----


def check_end(state: Any, result: int) -> None:
    """Check that a game can end in a state with a result; raises `PositionError`."""
    mover = int(state["to_move"])
    stones = [int(laid(state, player)) for player in (WHITE, BLACK)]
    if result:
        possible = stones[mover] == 0 < stones[1 - mover] and result == 1 - 2 * mover
    else:
        possible = min(stones) > 0 and not can_move(state, WHITE) and not can_move(state, BLACK)
    if not possible:
        raise PositionError(
            f"position: result={result} is not how this game ends: the winner is to move and has "
            "no stones left, or (result=0) both have stones and cannot move"
        )


def check_state(state: Any) -> None:
    """Slow invariants; raises `AssertionError` or, for a wrong end, `PositionError`."""
    boards = [int(board) for board in state["stones"].ravel()]
    assert all(board & (board - 1) == 0 and not board >> CELLS for board in boards)
    assert sum(boards) == int(taken_word(state))
    numbers = [abs(number) for number in numbers_of(state)]
    assert first_clash(numbers, HOUSES) is None
    counts = [int(laid(state, player)) for player in (WHITE, BLACK)]
    mover = int(state["to_move"])
    if state["stage"] == CHOOSE:
        assert not state["over"]
        assert counts == [counts[BLACK] + mover, counts[BLACK]]
        assert all(int(stones_of(state, p)) & ~int(START[p]) == 0 for p in (WHITE, BLACK))
    elif state["over"]:
        assert state["over"] == TERMINATED
        check_end(state, int(state["payoff"]))
    else:
        assert state["stage"] == PLAY
        assert min(counts) > 0
        assert can_move(state, mover)
        assert state["payoff"] == 0


# ---- position texts ----

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
    """Refuse stones that no placing in turns leads to."""
    mover = int(state["to_move"])
    numbers = [[n for n in range(NUMBERS) if state["stones"][p, n]] for p in (WHITE, BLACK)]
    count = len(numbers[BLACK])
    in_turn = len(numbers[WHITE]) == count + mover and count < NUMBERS
    if over or not in_turn or any(found != list(range(len(found))) for found in numbers):
        raise PositionError(
            "position: stage=choose: white places the 1, then black the 1, white the 2, and so "
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
