"""The rematch rule of Sudoku Moyo: the same puzzle twice, with the roles swapped.

1. The first game is played as in `sudoku_moyo`, scored by points.
2. The second begins from the same puzzle; the other player has light and the other one starts.
   Regions, colours and starter chosen in the first game are swapped, not chosen again; a
   handicap stays with its player. A starter without a move loses the second game at once.
3. Nothing is gained before the end of the second game; then the sum of both decides: +1, -1 or 0.

Source: `shared/rules.md`, section 2 (Match). Bound: twice that of one game.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from azumaya.envs.bits import U64, clear, get, put_byte, word_count
from azumaya.envs.compile import kernel
from azumaya.envs.errors import PositionError
from azumaya.envs.game import RUNNING, TERMINATED, Plane, Scene, Settings, as_states
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES, NUMBERS
from azumaya.envs.rows import load, store
from azumaya.envs.rules import shima, sudoku_moyo, sudoku_text
from azumaya.envs.rules.shima import (
    ALL_STONES,
    NUMBER_ACTIONS,
    PLAY,
    ROW,
    STARTER,
    begin_handicap,
    first_start,
    lay,
    lay_puzzles,
    observe_cells,
    put_stones,
)
from azumaya.envs.rules.sudoku_moyo import can_move, win
from azumaya.envs.rules.territory import breaks_a_house, empty_states, territory_of
from azumaya.envs.text import pop_words, whole_number

# The match's own fields come first: were they appended, numba would take the record for a
# subtype of the single game's, and warn that this is experimental.
STATE = np.dtype(
    [
        ("givens", U64, (ROW,)),  # the puzzle, as in `stones`
        ("game", np.int64),  # 0 in the first game, 1 in the second
        ("began", np.int64),  # who started the first game, once that is known
        ("first", np.int64),  # player_0's points in the first game
        ("stones_before", np.int64),  # the handicap: how many stones, by whom
        ("lays_before", np.int64),
        *sudoku_moyo.STATE.descr,
    ]
)

SINGLE = sudoku_moyo.GAME
CELL_PLANES = SINGLE.cell_planes
SINGLE_NUMBERS = len(SINGLE.planes) - CELL_PLANES
PLANES = (
    *SINGLE.planes[:CELL_PLANES],
    *(Plane(f"given {n}", f"a {n} of the puzzle lies here") for n in range(1, NUMBERS + 1)),
    *SINGLE.planes[CELL_PLANES:],
    Plane("second", "1 in the second game", "number"),
    Plane("began", "1 if the observer started the first game, once that is known", "number"),
    Plane("ahead", "points of the first game, if the observer won it", "number", CELLS),
    Plane("behind", "points of the first game, if the opponent won it", "number", CELLS),
    Plane("handicap to come", "handicap stones of a game, plus 10 if the observer's", "number", 19),
)
SYMMETRIES = replace(
    SINGLE.symmetries,
    fields={**SINGLE.symmetries.fields, "givens": "stones"},
    planes={**SINGLE.symmetries.planes, "given": "number"},
)
FIRST_NUMBER = 8 * word_count((CELL_PLANES + NUMBERS) * CELLS)


# ---- kernels ----


@kernel
def play(state, action):
    """Make a legal move; after the first game the second one is set up."""
    mover = state.to_move
    if state.stage == STARTER:
        state.began = action - first_start(state)
    sudoku_moyo.play(state, action)
    if state.over and state.game == 0:
        begin_second(state, mover)
    settle(state)


@kernel
def begin_second(state, mover):
    """Rule 2: the same puzzle, with the roles swapped."""
    state.first = state.payoff
    state.game = 1
    state.over = RUNNING
    state.payoff = 0
    state.streak = 0
    restart(state)
    state.light = 1 - state.light
    state.starter = 1 - state.began
    state.handicap = state.stones_before
    state.handicap_player = state.lays_before
    begin_handicap(state)
    if state.stage == PLAY and not can_move(state, state.to_move):
        win(state, 1 - state.to_move, mover)


@kernel
def restart(state):
    """Take the stones off the board and lay the puzzle again."""
    store(state.candidates, 0, load(ALL_STONES, 0, ROW))
    clear(state.stones)
    for action in range(NUMBER_ACTIONS):
        if get(state.givens, action):
            lay(state, action // CELLS, action % CELLS)


@kernel
def settle(state):
    """Rule 3: when the second game is over, the sum of both decides."""
    if state.over:
        total = state.first + state.payoff
        state.payoff = np.int64(total > 0) - np.int64(total < 0)


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_cells(state, player, words)
    put_stones(words, CELL_PLANES, load(state.givens, 0, ROW))
    sudoku_moyo.observe_numbers(state, player, words, FIRST_NUMBER)
    ahead = state.first if player == 0 else -state.first
    lays = 10 if state.lays_before == player and state.stones_before else 0
    known = state.stage > STARTER or not state.chooses
    at = FIRST_NUMBER + SINGLE_NUMBERS
    put_byte(words, at, state.game)
    put_byte(words, at + 1, np.int64(known and state.began == player))
    put_byte(words, at + 2, max(ahead, 0))
    put_byte(words, at + 3, max(-ahead, 0))
    put_byte(words, at + 4, state.stones_before + lays)


# ---- host: starts, texts, sentences ----


def _with_points(settings: Settings) -> dict[str, Any]:
    return {**settings, "scoring": "points"}


def _as_match(states: np.ndarray, settings: Settings) -> np.ndarray:
    """Matches whose first game is in these states, `(n,)`, with what lies there as the puzzle."""
    matches = np.zeros(len(states), STATE)
    for name in sudoku_moyo.STATE.names or ():
        matches[name] = states[name]
    matches["givens"] = states["stones"]
    if settings["handicap"] is not None:
        matches["lays_before"], matches["stones_before"] = settings["handicap"]
    return as_states(matches)


def starts(settings: Settings) -> np.ndarray:
    """The puzzles laid out for the first game."""
    return _as_match(sudoku_moyo.starts(_with_points(settings)), settings)


def write_text(state: Any, settings: Settings) -> str:
    """The text of the game in progress, then `puzzle=`, `game=`, `began=` and `first=`."""
    single = sudoku_moyo.write_text(state, _with_points(settings))
    words = [f"puzzle={_puzzle_text(state)}", f"game={int(state['game']) + 1}"]
    if state["began"]:
        words.append("began=1")
    if state["first"]:
        words.append(f"first={int(state['first'])}")
    return " ".join([single, *words])


def _puzzle_text(state: Any) -> str:
    digits = sudoku_text.digits_of(state, "givens")
    return "".join(str(d) if d else "." for d in digits)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The match of a text, `(1,)` states; raises `PositionError`."""
    single, words = pop_words(text, ("puzzle", "game", "began", "first", "result"))
    game = whole_number(words.get("game", "1"), "game", 1, 2)
    first = whole_number(words.get("first", "0"), "first", -CELLS, CELLS)
    if game == 1 and (first or "result" in words):
        raise PositionError("position: first= and result= stand only in the second game")
    if "result" in words:
        total = whole_number(words["result"], "result", -1, 1)
        single = _with_own_result(single, first, total, settings)
    states = _as_match(sudoku_moyo.read_text(single, _with_points(settings)), settings)
    if "puzzle" in words:
        states["givens"] = _givens(words["puzzle"], states, settings)
    states["game"], states["first"] = game - 1, first
    states["began"] = whole_number(words.get("began", "0"), "began", 0, 1)
    settle(states[0])
    return states


def _with_own_result(single: str, first: int, total: int, settings: Settings) -> str:
    """The text of a finished second game with the points of that game as its result."""
    _, words = pop_words(single, ("points",))
    streak = whole_number(words.get("points", "0"), "points", 0, CELLS)
    for gain in (streak, -streak):
        if int(np.sign(first + gain)) == total:
            return f"{single} result={gain}"
    raise PositionError(f"position: result={total} does not follow from first= and points=")


def _givens(puzzle: str, states: np.ndarray, settings: Settings) -> np.ndarray:
    if len(puzzle) != CELLS or set(puzzle) - set(".123456789"):
        raise PositionError("position: puzzle= needs 81 digits and dots")
    digits = np.array([[0 if c == "." else int(c) for c in puzzle]], np.uint8)
    if breaks_a_house(digits, HOUSES + territory_of(settings).houses).any():
        raise PositionError("position: puzzle= has a number twice in a house or region")
    laid = empty_states(1, sudoku_moyo.STATE, settings)
    lay_puzzles(laid, digits)
    if (laid["stones"] & ~states["stones"]).any():
        raise PositionError("position: puzzle= has a stone that does not lie on the board")
    return np.asarray(laid["stones"])


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    return sudoku_moyo.explain(state, action, _with_points(settings))


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The game in progress, with the score of the first one."""
    single = sudoku_moyo.scene(state, {"stones": state["givens"]}, _with_points(settings))
    if state["over"]:
        payoff = int(state["payoff"])
        result = f"player_{int(payoff < 0)} wins the match" if payoff else "the match is drawn"
        notes: tuple[str, ...] = (result,)
    else:
        notes = (*single.notes, f"game {int(state['game']) + 1} of 2")
    if state["game"]:
        notes += (f"first game: {int(state['first']):+d} for player_0",)
    return replace(single, notes=notes)


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    if not state["over"]:
        sudoku_moyo.check_state(state)
    assert state["points"] == 1
    assert not (state["givens"] & ~state["stones"]).any()
    assert state["game"] == 1 or (not state["first"] and not state["over"])
    assert (state["over"] == TERMINATED) or not state["payoff"]


GAME = replace(
    SINGLE,
    name="sudoku_moyo_match",
    title="Sudoku Moyo, a match of two games",
    state=STATE,
    planes=PLANES,
    play=play,
    observe=observe,
    payoff_bound=lambda settings: 1,
    max_steps=lambda settings: 2 * shima.MAX_STEPS,
    starts=starts,
    write_text=write_text,
    read_text=read_text,
    explain=explain,
    scene=scene,
    check_state=check_state,
    symmetries=SYMMETRIES,
)
