"""Score-Dominari: the rules.

1. White's first number goes to a1, black's first to f6.
2. Later numbers go beside a stone of the own colour, blanks too; diagonally counts.
3. A player who cannot lay a number is skipped, and on their next turn may lay one on any empty
   cell. That right is used up by the next number, wherever it lies. Both may have it at once.
4. Blanks are of the mover's colour.
5. When a turn is over and every empty cell is dead, the game ends. Points: each own number 1,
   each full block of own stones 2, each such row or column 3, one less with a blank in it. More
   points win; equal points draw.

The numbers are 1 to 6. Board, turn, blanks and the game without a referee: see `dominari`.

Source: "Sudoku goes Classic" and `shared/rules.md`, sections 5 and 9, with their decisions.
Bound: 36 stones fit the board, and a number is followed by one `end` at most, so 72 steps;
without a referee 200 turns of at most 14 steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.bits import ZERO, bit, put_byte, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, Game, Plane, Scene, Settings, Symmetries
from azumaya.envs.geometry.dominari36 import CELL, CELLS, FULL, GRID, SIZE, SQUARES
from azumaya.envs.geometry.shifts36 import around
from azumaya.envs.geometry.symmetry import IDENTITY, square
from azumaya.envs.rng import draw_start
from azumaya.envs.rules import dominari_text as words_of
from azumaya.envs.rules.dominari import (
    BLACK,
    BLANKS,
    COMMON_NUMBERS,
    MOST_POINTS,
    NUMBER,
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
    taken,
    write_turn,
)
from azumaya.envs.rules.dominari_moves import (
    COLOUR_LETTERS,
    COLOUR_NAMES,
    MOVED_FIELDS,
    RENAMED_PLANES,
    Actions,
    colour_on,
    explain,
    list_of,
)
from azumaya.envs.text import PositionText

NUMBERS = 6
ACTIONS = Actions(NUMBERS, blank_colours=1)
BLANK, END, CLAIM = ACTIONS.blank, ACTIONS.end, ACTIONS.claim

CORNERS = np.array([CELL["a1"], CELL["f6"]])
"""By player, where the first number goes."""

STATE = np.dtype(
    [
        *fields(NUMBERS),
        ("free", np.int64, (2,)),  # by player: may the next number go anywhere?
        ("prior_free", np.int64, (2,)),  # `free` before the turn, if that turn was wrong
        ("margin", np.int64),  # option: is the payoff the lead?
    ]
)

CELL_PLANES, NUMBER_PLANES = planes(NUMBERS)
PLANES = (
    *CELL_PLANES,
    *NUMBER_PLANES,
    Plane("own right", "1 if the observer's next number may go anywhere", "number"),
    Plane("opposing right", "1 if the opponent's next number may go anywhere", "number"),
    Plane("prior own right", "without a referee: the same before the wrong turn", "number"),
    Plane("prior opposing right", "the opponent's right before the wrong turn", "number"),
    Plane("margin", "1 if the winner gets the difference of the points", "number"),
)
FIRST_NUMBER = 8 * word_count(len(CELL_PLANES) * CELLS)
FIRST_RIGHT = FIRST_NUMBER + COMMON_NUMBERS

_SQUARE = square(SIZE)
SYMMETRIES = Symmetries(
    group=(
        (_SQUARE[IDENTITY], _SQUARE["reflection in the rising diagonal"]),
        (_SQUARE[IDENTITY], _SQUARE["half turn"].swapping()),
    ),
    numbers=NUMBERS,
    fields={**MOVED_FIELDS, "free": "player", "prior_free": "player"},
    planes=RENAMED_PLANES,
    actions=lambda settings: ("number cell", "cell"),
)
"""Rule 1 has white begin on a1 and black on f6: the reflection in the line between them keeps both
corners, the half turn changes them, and the players with them; no other keeps the pair."""


# ---- rule predicates ----


@kernel
def places(state, player):
    """Rules 1 to 3: where a number of a player may go, Sudoku's rule aside."""
    own, empty = state.colours[player], ~taken(state)
    if state.free[player]:
        return empty & FULL
    if own == ZERO:
        return bit(CORNERS[player]) & empty
    return around(own) & empty


# ---- kernels ----


@kernel
def write_legal(state, words):
    """Candidates AND the surroundings of own stones, or the dead cells."""
    write_turn(state, words, 1)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if action == CLAIM:
        claim(state)
    elif action == END:
        finish_turn(state, mover)
    else:
        if state.phase == BLANKS:
            lay_blank(state, mover, action - BLANK)
        else:
            lay_number(state, action // CELLS, action % CELLS)
            state.prior_free[WHITE] = state.free[WHITE]
            state.prior_free[BLACK] = state.free[BLACK]
            state.free[mover] = 0
        if can_fill(state):
            begin_blanks(state)
        else:
            finish_turn(state, mover)
    if state.wrong == 0:
        state.prior_free[WHITE] = 0
        state.prior_free[BLACK] = 0


@kernel
def next_turn(state, mover):
    """Who is next after a player's turn; skips and the right they give (rule 3).

    False if the game ends (rule 5).
    """
    if fitting(state) == ZERO:
        return False
    state.to_move = 1 - mover
    state.targets = places(state, 1 - mover)
    while not can_lay(state):
        state.free[state.to_move] = 1
        state.to_move = 1 - state.to_move
        state.targets = places(state, state.to_move)
    return True


@kernel
def retract(state, mover):
    """Take back the wrong turn of a player, with the rights used and given; the other is next."""
    take_back(state)
    state.free[WHITE] = state.prior_free[WHITE]
    state.free[BLACK] = state.prior_free[BLACK]
    next_turn(state, mover)


finish_turn, claim = finish_kernel(next_turn, retract, payoff_of_points), claim_kernel(retract)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_turn(state, player, words, FIRST_NUMBER)
    for side in range(2):
        put_byte(words, FIRST_RIGHT + side, state.free[player ^ side])
        put_byte(words, FIRST_RIGHT + 2 + side, state.prior_free[player ^ side])
    put_byte(words, FIRST_RIGHT + 4, state.margin)


@kernel
def evaluate(state, player):
    """The lead in points."""
    return points(state, player) - points(state, 1 - player)


# ---- host: starts, texts, sentences ----


def _new_states(settings: Settings) -> np.ndarray:
    states = words_of.new_states(STATE, settings)
    states["margin"] = settings["reward"] == "margin"
    return states


def starts(settings: Settings) -> np.ndarray:
    """The empty board, white to move."""
    states = _new_states(settings)
    states["targets"] = places(states[0], WHITE)
    return states


def write_text(state: Any, settings: Settings) -> str:
    """The position text.

    `free=` names the players whose next number may go anywhere, `undofree=` those who had that
    right before the turn in `undo=`.
    """
    more = []
    for key, rights in (("free", state["free"]), ("undofree", state["prior_free"])):
        if rights.any():
            more.append(f"{key}=" + "".join(COLOUR_LETTERS[p] for p in (WHITE, BLACK) if rights[p]))
    return words_of.write_text(state, more)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, before = _new_states(settings), _new_states(settings)
    parts = words_of.split(text, NUMBERS, ("free", "undofree"))
    words_of.read_board(states[0], parts)
    _read_rights(states[0], before[0], parts)
    words_of.read_turn(states[0], parts, places)
    words_of.read_undo(states[0], before[0], parts, places, lambda board, cell: ZERO)
    if states["over"][0] == TERMINATED:
        _check_end(states[0])
    return states


def _read_rights(state: Any, before: Any, parts: PositionText) -> None:
    """Rights now, and those before the turn in `undo=`."""
    for key, rights in (("free", state["free"]), ("undofree", before["free"])):
        letters = parts.words.get(key, "")
        if letters not in ("", "w", "b", "wb"):
            raise PositionError(f"position: {key}={letters}: must be w, b or wb")
        for letter in letters:
            rights[COLOUR_LETTERS.index(letter)] = 1
    for player in (WHITE, BLACK):
        if state["free"][player] and _can_begin(state, player):
            raise PositionError(
                f"position: free=: {COLOUR_NAMES[player]} can lay the first number on "
                f"{SQUARES[CORNERS[player]]}, so has not been skipped"
            )
    if "undo" in parts.words:
        _check_rights(state, before, parts)
    elif "undofree" in parts.words:
        raise PositionError("position: undofree= stands only with undo=")
    state["prior_free"] = before["free"]


def _can_begin(state: Any, player: int) -> bool:
    """Whether a player's first number is still to come and can be laid by rule 1."""
    corner = bit(int(CORNERS[player])) & ~taken(state)
    return not state["colours"][player] and bool(corner & fitting(state))


def _check_rights(state: Any, before: Any, parts: PositionText) -> None:
    """The number used up its player's right; then perhaps both were skipped and have one now."""
    mover = COLOUR_LETTERS.index(parts.to_move) ^ ("claim" in parts.words)
    now, then = state["free"], before["free"]
    kept = not now[mover] and now[1 - mover] == then[1 - mover]
    both_skipped = "claim" in parts.words and now.all() and not then[1 - mover]
    if not (kept or both_skipped):
        raise PositionError(
            "position: no turn leads from the rights in undofree= to those in free="
        )


def _check_end(state: Any) -> None:
    payoff = int(state["payoff"])
    counted = not fitting(state) and payoff == payoff_of_points(state)
    drawn = state["no_referee"] and not payoff and breaks_rule(state)
    if not (counted or drawn):
        raise PositionError(f"position: result={payoff} is not how this game ends")


def where(state: Any, cell: int) -> str:
    """Why a number may go to a free cell by rules 1 to 3, or not."""
    mover, square = int(state["to_move"]), SQUARES[cell]
    corner = int(CORNERS[mover])
    if state["free"][mover]:
        return f"{COLOUR_NAMES[mover]} was skipped and may lay on any empty cell (rule 3)"
    if not state["colours"][mover]:
        return f"{COLOUR_NAMES[mover]}'s first number goes to {SQUARES[corner]} (rule 1)"
    near = [
        SQUARES[other]
        for other in sorted(GRID.neighbours_of(cell, diagonal=True))
        if colour_on(state, other) == mover
    ]
    if not near:
        return f"no stone of {COLOUR_NAMES[mover]}'s lies around {square} (rule 2)"
    return f"it lies by the own stone on {near[0]}"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    rights = list_of([COLOUR_NAMES[p] for p in (WHITE, BLACK) if state["free"][p]])
    note = f"{rights} may lay anywhere" if rights else ""
    return words_of.scene(state, start, (words_of.points_note(state), note))


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words_of.check_state(state, places)
    assert state["wrong"] or not state["prior_free"].any()
    if state["over"] == TERMINATED:
        _check_end(state)
    elif state["phase"] == NUMBER:
        assert fitting(state)


GAME = Game(
    name="score_dominari",
    title="Score-Dominari",
    state=STATE,
    shape=(SIZE, SIZE),
    planes=PLANES,
    options=(REFEREE, REWARD),
    reset=draw_start,
    play=play,
    write_legal=write_legal,
    observe=observe,
    evaluate=evaluate,
    num_actions=ACTIONS.count,
    max_steps=lambda settings: 2 * CELLS if settings["referee"] else TURN_LIMIT * TURN_STEPS,
    payoff_bound=lambda settings: MOST_POINTS if settings["reward"] == "margin" else 1,
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
        {"referee": False},
        {
            "referee": False,
            "position": ".....a/....ee/....../....../....../1..... w claim=1 "
            "undo=.....a/.....e/....../....../....../1..... turns=194",
        },
        {"referee": False, "reward": "margin"},
    ),
    names_by_mover=True,
)
