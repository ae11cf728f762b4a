"""Revers-Dominari: the rules.

1. Four different numbers fill the centre block at the start: white on c3 and d4, black on c4 and
   d3.
2. A number must be laid so that it captures at least one stone. A player who cannot lay one is
   skipped, and lays no blanks either.
3. Captured stones turn over to the player who laid. Captured are, blanks like other stones:
   a. a line without gaps of opposing stones, along a row or a column, between the new stone and
      another stone of the mover;
   b. an opposing stone beside the new stone and beside a stone of the mover that is diagonal to
      the new stone;
   c. two opposing stones that make a 2x2 square with the new stone and a stone of the mover
      beside the new stone.
   All are worked out on the board as it is when the stone is laid, then turned over together.
4. Blanks are white or black as the mover likes. One of the mover's own colour captures like a
   number, but need not; one of the other colour never captures.
5. When a turn is over and neither player can lay a number, the game ends. Points: each own number
   1, each full block of own stones 2, each such row or column 3, one less with a blank in it.
   More points win; equal points draw.

The numbers are 1 to 6. Board, turn, blanks and the game without a referee: see `dominari`.

Source: "Sudoku goes Classic" and `shared/rules.md`, sections 5, 8 and 9, with their decisions.
Bound: 32 cells are free at the start, and a number is followed by one `end` at most, so 64
steps; without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from azumaya.envs.bits import U64, ZERO, bit, cells_of, put_byte, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.errors import OptionError, PositionError
from azumaya.envs.game import TERMINATED, Game, Option, Plane, Scene, Settings, Symmetries
from azumaya.envs.geometry.dominari36 import CELL, CELLS, FULL, SIZE, SQUARES
from azumaya.envs.geometry.shifts36 import DOWN, LEFT, RIGHT, UP, step
from azumaya.envs.geometry.symmetry import identity, square
from azumaya.envs.rng import draw_start
from azumaya.envs.rules import dominari_text as words_of
from azumaya.envs.rules.dominari import (
    BLACK,
    BLANKS,
    COMMON_NUMBERS,
    MOST_POINTS,
    REFEREE,
    REWARD,
    TURN_LIMIT,
    TURN_STEPS,
    WHITE,
    begin_blanks,
    breaks_rule,
    can_fill,
    can_lay,
    claim_kernel,
    fields,
    finish_kernel,
    fitting,
    lay_blank,
    lay_number,
    observe_turn,
    payoff_of_points,
    planes,
    points,
    take_back,
    write_turn,
)
from azumaya.envs.rules.dominari_moves import (
    MOVED_FIELDS,
    RENAMED_PLANES,
    Actions,
    explain,
    list_of,
)

NUMBERS = 6
ACTIONS = Actions(NUMBERS, blank_colours=2)
BLANK, END, CLAIM = ACTIONS.blank, ACTIONS.end, ACTIONS.claim

CENTRE = tuple(CELL[square] for square in ("c4", "d4", "c3", "d3"))
CENTRE_COLOURS = (BLACK, WHITE, WHITE, BLACK)
DIRECTIONS = 4
LONGEST_LINE = SIZE - 2

STATE = np.dtype([*fields(NUMBERS), ("margin", np.int64)])  # option: is the payoff the lead?

CELL_PLANES, NUMBER_PLANES = planes(NUMBERS)
PLANES = (
    *CELL_PLANES,
    *NUMBER_PLANES,
    Plane("colour", "1 if the observer is white", "number"),
    Plane("margin", "1 if the winner gets the difference of the points", "number"),
)
FIRST_NUMBER = 8 * word_count(len(CELL_PLANES) * CELLS)

SYMMETRIES = Symmetries(
    group=(tuple(square(SIZE).values()), (identity(CELLS), identity(CELLS).swapping())),
    numbers=NUMBERS,
    fields=MOVED_FIELDS,
    planes={**RENAMED_PLANES, "colour": "player"},
    actions=lambda settings: ("number cell", "player cell"),
)
"""Captures are the same in all directions, and the same for both players; only the start tells the
diagonals apart, and whose stones lie on which. The swap of players stands alone, for blanks are
told by their colour, not by whose they are."""


# ---- rule predicates ----


@kernel
def captured(own, other, here):
    """Rule 3: the opposing stones that a stone on one cell, given as a board, captures."""
    caught = ZERO
    for direction in range(DIRECTIONS):  # a
        line = step(here, direction) & other
        for _ in range(LONGEST_LINE - 1):
            line |= step(line, direction) & other
        if step(line, direction) & own != ZERO:
            caught |= line
    for across in (RIGHT, LEFT):
        for along in (DOWN, UP):
            side, post = step(here, across), step(here, along)
            corner = step(side, along)
            if corner & own != ZERO:  # b
                caught |= (side | post) & other
            elif corner & other != ZERO:  # c
                if side & own != ZERO and post & other != ZERO:
                    caught |= corner | post
                if post & own != ZERO and side & other != ZERO:
                    caught |= corner | side
    return caught


@kernel
def capturing(own, other):
    """Rule 3: the cells, free or not, from which a stone of the own colour captures something."""
    cells = ZERO
    for direction in range(DIRECTIONS):  # a
        line = step(own, direction) & other
        for _ in range(LONGEST_LINE - 1):
            line |= step(line, direction) & other
        cells |= step(line, direction)
    for across in (RIGHT, LEFT):
        own_side, other_side = step(own, across), step(other, across)
        for along in (DOWN, UP):
            own_post, other_post = step(own, along), step(other, along)
            cells |= step(own_side, along) & (other_side | other_post)  # b
            square = (own_side & other_post) | (own_post & other_side)
            cells |= step(other_side, along) & square  # c
    return cells


@kernel
def places(state, player):
    """Rule 2: where a number of a player may go, Sudoku's rule aside."""
    own, other = state.colours[player], state.colours[1 - player]
    return capturing(own, other) & ~(own | other)


# ---- kernels ----


@kernel
def write_legal(state, words):
    """Candidates AND the cells that capture, or the dead cells in both colours."""
    write_turn(state, words, 2)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if action == CLAIM:
        claim(state)
        return
    if action != END:
        cell = action % CELLS
        if state.phase == BLANKS:
            colour = (action - BLANK) // CELLS
            lay_blank(state, colour, cell)
        else:
            colour = mover
            lay_number(state, action // CELLS, cell)
        if colour == mover:
            turn_over(state, mover, cell)
        if can_fill(state):
            begin_blanks(state)
            return
    finish_turn(state, mover)


@kernel
def turn_over(state, mover, cell):
    """Rule 3: what a stone just laid captures."""
    caught = captured(state.colours[mover], state.colours[1 - mover], bit(cell))
    state.colours[mover] |= caught
    state.colours[1 - mover] &= ~caught


@kernel
def next_turn(state, mover):
    """Who is next after a player's turn (rule 2); False if the game ends (rule 5)."""
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    if can_lay(state):
        return True
    state.to_move = mover
    state.targets = places(state, mover)
    return can_lay(state)


@kernel
def retract(state, mover):
    """Take back the wrong turn of a player; the other is next."""
    take_back(state)
    next_turn(state, mover)


finish_turn, claim = finish_kernel(next_turn, retract, payoff_of_points), claim_kernel(retract)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_turn(state, player, words, FIRST_NUMBER)
    put_byte(words, FIRST_NUMBER + COMMON_NUMBERS, 1 - player)
    put_byte(words, FIRST_NUMBER + COMMON_NUMBERS + 1, state.margin)


@kernel
def evaluate(state, player):
    """The lead in points."""
    return points(state, player) - points(state, 1 - player)


# ---- host: starts, texts, sentences ----


def _check_centre(value: Any) -> str:
    digits = "123456"
    known = isinstance(value, str) and len(value) == len(CENTRE) and set(value) <= set(digits)
    if not known or len(set(value)) < len(CENTRE):
        raise OptionError(
            f"centre={value!r}: four different digits from 1 to 6 are needed, as a text, for c4, "
            "d4, c3 and d3"
        )
    return str(value)


OPTIONS = (
    REFEREE,
    REWARD,
    Option(
        "centre",
        None,
        "four different digits, or None",
        "The numbers on c4, d4, c3 and d3 at the start; None: drawn by the seed.",
        _check_centre,
    ),
)


def _new_states(settings: Settings, count: int = 1) -> np.ndarray:
    states = words_of.new_states(STATE, settings, count)
    states["margin"] = settings["reward"] == "margin"
    return states


def starts(settings: Settings) -> np.ndarray:
    """Every way to fill the centre, or the one asked for; white to move."""
    centre = settings["centre"]
    centres = list(permutations("123456", len(CENTRE))) if centre is None else [tuple(centre)]
    states = _new_states(settings, len(centres))
    for state, numbers in zip(states, centres, strict=True):
        marks = [words_of.EMPTY] * CELLS
        for cell, colour, number in zip(CENTRE, CENTRE_COLOURS, numbers, strict=True):
            marks[cell] = words_of.DIGITS[colour][int(number) - 1]
        words_of.lay_marks(state, marks)
        state["targets"] = places(state, WHITE)
    return states


def write_text(state: Any, settings: Settings) -> str:
    """The position text."""
    return words_of.write_text(state)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, before = _new_states(settings), _new_states(settings)
    parts = words_of.split(text, NUMBERS)
    words_of.read_board(states[0], parts)
    words_of.read_turn(states[0], parts, places)
    words_of.read_undo(states[0], before[0], parts, places, _flips)
    if states["over"][0] == TERMINATED:
        _check_end(states[0])
    return states


def _flips(before: Any, cell: int) -> Any:
    """What a stone of the player to move captures from a cell."""
    mover = int(before["to_move"])
    return captured(before["colours"][mover], before["colours"][1 - mover], U64(bit(cell)))


def _check_end(state: Any) -> None:
    payoff, room = int(state["payoff"]), fitting(state)
    stuck = not any(places(state, player) & room for player in (WHITE, BLACK))
    counted = stuck and payoff == payoff_of_points(state)
    drawn = state["no_referee"] and not payoff and breaks_rule(state)
    if not (counted or drawn):
        raise PositionError(f"position: result={payoff} is not how this game ends")


def where(state: Any, cell: int) -> str:
    """Why a number may go to a free cell by rule 2, or not."""
    caught = [SQUARES[c] for c in cells_of(np.array([_flips(state, cell)], U64))]
    if not caught:
        return f"a stone on {SQUARES[cell]} would capture nothing (rule 2)"
    return f"it captures {list_of(caught)}"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    return words_of.scene(state, start, (words_of.points_note(state),))


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words_of.check_state(state, places)
    if state["over"] == TERMINATED:
        _check_end(state)
    elif not state["phase"]:
        assert state["targets"] & FULL == state["targets"]


GAME = Game(
    name="revers_dominari",
    title="Revers-Dominari",
    state=STATE,
    shape=(SIZE, SIZE),
    planes=PLANES,
    options=OPTIONS,
    reset=draw_start,
    play=play,
    write_legal=write_legal,
    observe=observe,
    evaluate=evaluate,
    num_actions=ACTIONS.count,
    payoff_bound=lambda settings: MOST_POINTS if settings["reward"] == "margin" else 1,
    max_steps=lambda settings: (
        2 * (CELLS - len(CENTRE)) if settings["referee"] else TURN_LIMIT * TURN_STEPS
    ),
    starts=starts,
    move_name=ACTIONS.name,
    parse_move=ACTIONS.parse,
    write_text=write_text,
    read_text=read_text,
    explain=lambda state, action, settings: explain(ACTIONS, where, state, action, settings),
    action_cells=ACTIONS.cells,
    scene=scene,
    check_state=check_state,
    symmetries=SYMMETRIES,
    variants=(
        {},
        {"reward": "margin"},
        {"centre": "1234"},
        {"referee": False},
        {
            "referee": False,
            "position": "....../..fa../.5bc../2cdf../.e..../...... w claim=1 "
            "undo=....../..fa../.5bc../23df../....../...... turns=194",
        },
        {"referee": False, "reward": "margin", "centre": "6135"},
    ),
)
