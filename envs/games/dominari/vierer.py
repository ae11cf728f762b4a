"""Vierer-Dominari: the rules.

1. The first number goes anywhere; every later one beside a stone of either colour, blanks too,
   not diagonally.
2. Blanks are of the mover's colour.
3. Four stones of the own colour, numbers or blanks, side by side in a row or a column, or
   filling a block, win at once.
4. When a turn is over and no number can be laid by rule 1, the game is a draw.

The numbers are 1 to 5. Board, turn, blanks and the game without a referee: see `dominari`.

Source: "Sudoku goes Classic" and `shared/rules.md`, sections 5, 7 and 9, with their decisions.
Nobody is ever skipped, for rule 1 is the same for both.
Bound: 36 stones fit the board, and a number is followed by one `end` at most, so 72 steps;
without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, TRUNCATED, Game, Observation, Options, Rules, Words
from azumaya.envs.games.dominari import words as words_of
from azumaya.envs.games.dominari.actions import (
    COLOUR_NAMES,
    MOVED_FIELDS,
    Actions,
    colour_on,
    explain,
)
from azumaya.envs.games.dominari.board import (
    BLANK_STONES,
    BLANKS,
    REFEREE,
    TURN_LIMIT,
    TURN_STEPS,
    begin_blanks,
    breaks_rule,
    can_fill,
    can_lay,
    claim_kernel,
    close_turn,
    count_turn,
    dead_cells,
    fields,
    finish,
    finish_kernel,
    fitting,
    lay_blank,
    lay_number,
    observe_turn,
    planes,
    take_back,
    taken,
    write_turn,
)
from azumaya.envs.geometry.dominari36 import BLOCKS, CELLS, COLUMNS, FULL, GRID, ROWS, SIZE, SQUARES
from azumaya.envs.geometry.shifts36 import DOWN, RIGHT, beside, step
from azumaya.envs.geometry.symmetry import square
from azumaya.envs.kernels.bits import ZERO, board_of, popcount, word_count
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Axis, Settings, Symmetries

NUMBERS = 5
ACTIONS = Actions(NUMBERS, blank_colours=1)
BLANK, END, CLAIM = ACTIONS.blank, ACTIONS.end, ACTIONS.claim

STATE = np.dtype(fields(NUMBERS))

CELL_PLANES, NUMBER_PLANES = planes(NUMBERS)
PLANES = CELL_PLANES + NUMBER_PLANES
FIRST_NUMBER = 8 * word_count(len(CELL_PLANES) * CELLS)

SYMMETRIES = Symmetries(
    group=(tuple(square(SIZE).values()),),
    numbers=NUMBERS,
    fields=MOVED_FIELDS,
    actions=lambda settings: ((Axis.NUMBER, Axis.CELL), (Axis.CELL,)),
)
"""Every turn and reflection takes fours to fours (rule 3), rows to rows or columns."""

IN_A_ROW = 4
CORNERS = board_of([block[-1] for block in BLOCKS], 1)[0]
"""The last cell of each block."""
FOURS = np.array(
    [
        board_of(line[first : first + IN_A_ROW], 1)[0]
        for line in ROWS + COLUMNS
        for first in range(SIZE - IN_A_ROW + 1)
    ]
    + [board_of(block, 1)[0] for block in BLOCKS]
)
"""Every four of rule 3."""
WORTH = np.array([[0, 1, 6, 60, 1000], [0, 1, 8, 400, 1000]])
"""What an open four is worth to who has so many stones in it: to who waits, and to who is to move
and may fill it. Tried out: with one row for both, three of the opponent's were left open."""


# ---- rule predicates ----


@kernel
def places(state, player):
    """Rule 1: where a number may go, Sudoku's rule aside."""
    stones = taken(state)
    if stones == ZERO:
        return FULL
    return beside(stones) & ~stones


@kernel
def has_four(board):
    """Rule 3."""
    pairs = board & step(board, RIGHT)
    squares = pairs & step(pairs, DOWN) & CORNERS
    rows = pairs & step(step(pairs, RIGHT), RIGHT)
    pairs = board & step(board, DOWN)
    columns = pairs & step(step(pairs, DOWN), DOWN)
    return squares | rows | columns != ZERO


# ---- kernels ----


@kernel
def write_legal(state, words):
    """Candidates AND the neighbours of stones, or the dead cells."""
    write_turn(state, words, 1)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if action == CLAIM:
        claim(state)
        return
    if action != END:
        if state.phase == BLANKS:
            lay_blank(state, mover, action - BLANK)
        else:
            lay_number(state, action // CELLS, action % CELLS)
        if has_four(state.colours[mover]):
            win(state, mover)
            return
        if can_fill(state):
            begin_blanks(state)
            return
    finish_turn(state, mover)


@kernel
def next_turn(state, mover):
    """Who is next after a player's turn; False if the game ends (rule 4)."""
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    return can_lay(state)


@kernel
def retract(state, mover):
    """Take back the wrong turn of a player; the other is next."""
    take_back(state)
    next_turn(state, mover)


@kernel
def no_payoff(state):
    """Rule 4: nobody gains."""
    return 0


finish_turn, claim = finish_kernel(next_turn, retract, no_payoff), claim_kernel(retract)


@kernel
def win(state, mover):
    """Rule 3, for a turn that was not wrong."""
    if state.wrong:
        retract(state, mover)
        close_turn(state, mover, 0)
    else:
        count_turn(state)
        finish(state, 1 - 2 * mover, mover)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_turn(state, player, words, FIRST_NUMBER)


@kernel
def evaluate(state, player):
    """Fours still open to a player, the fuller the dearer, less those open to the opponent."""
    own, other = state.colours[player], state.colours[1 - player]
    turn = np.int64(state.to_move == player)
    stuck = ZERO
    if popcount(state.blanks) == BLANK_STONES:
        stuck = dead_cells(state)
    worth = 0
    for i in range(FOURS.shape[0]):
        four = FOURS[i]
        if four & stuck == ZERO:
            if four & other == ZERO:
                worth += WORTH[turn, popcount(four & own)]
            if four & own == ZERO:
                worth -= WORTH[1 - turn, popcount(four & other)]
    return worth


# ---- host: starts, texts, sentences ----


def starts(settings: Settings) -> np.ndarray:
    """The empty board, white to move."""
    states = words_of.new_states(STATE, settings)
    states["targets"] = FULL
    return states


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return words_of.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states = words_of.new_states(STATE, settings)
    before = words_of.new_states(STATE, settings)
    parts = words_of.split(text, NUMBERS)
    words_of.read_board(states[0], parts)
    words_of.read_turn(states[0], parts, places)
    words_of.read_undo(states[0], before[0], parts, places, lambda board, cell: ZERO)
    _check_possible(states[0])
    if states["wrong"][0]:
        _check_fours(before[0])
    return states


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
                f"position: {COLOUR_NAMES[colour]} has four in a line or block; that ends the game"
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
    return words_of.scene(state, start, ())


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words_of.check_state(state, places)
    fours = [bool(has_four(board)) for board in state["colours"]]
    won = state["over"] == TERMINATED and state["payoff"]
    assert fours == [won == 1, won == -1]
    if state["over"] == TERMINATED and not won:
        assert not places(state, 0) & fitting(state) or breaks_rule(state)
    assert state["payoff"] in (-1, 0, 1)
    assert state["over"] != TRUNCATED or state["turns"] == TURN_LIMIT


GAME = Game(
    name="vierer_dominari",
    title="Vierer-Dominari",
    rules=Rules(
        state=STATE,
        reset=draw_start,
        play=play,
        write_legal=write_legal,
        observe=observe,
        evaluate=evaluate,
    ),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(REFEREE,),
        starts=starts,
        num_actions=ACTIONS.count,
        max_steps=lambda settings: 2 * CELLS if settings["referee"] else TURN_LIMIT * TURN_STEPS,
        variants=(
            {},
            {"referee": False},
            {
                "referee": False,
                "position": "....../....../....../...ee./....d./....13 w claim=1 "
                "undo=....../....../....../....e./....d./....13 turns=194",
            },
        ),
    ),
    words=Words(
        move_name=ACTIONS.name,
        parse_move=ACTIONS.parse,
        action_cells=ACTIONS.cells,
        write_text=write_text,
        read_text=read_text,
        explain=lambda state, action, settings: explain(ACTIONS, where, state, action, settings),
        scene=scene,
        check_state=check_state,
    ),
    symmetries=SYMMETRIES,
)
