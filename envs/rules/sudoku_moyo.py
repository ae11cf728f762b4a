"""Sudoku Moyo, by Günter Cornett: the rules.

1. A Sudoku puzzle is laid out; its stones belong to the regions they lie in.
2. While any number may still be laid in the neutral region, the player to move lays one there.
3. After that, a player lays a number in a region of the own colour.
4. No number stands twice in a row, a column, a block or a region.
5. A player who is to move and cannot lay a stone loses; there is no draw.

With `scoring="points"` the winner goes on laying stones while any fits, and wins as many points
as stones laid since the loser's last one.

Source: the rulebook of Sudoku Moyo (intellego holzspiele) and `shared/rules.md`, section 2.
Decisions: a starter who cannot move when play begins has lost at once; with points the winner
then gets what can still be laid, perhaps nothing.
Bound: every step but the ten before play lays a stone, so an episode has at most 91 steps.

Board, territories and actions: see `shima`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.bits import popcount, put_byte
from azumaya.envs.compile import kernel
from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, Game, Option, Plane, Scene, Settings, one_of
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.rows import any_bit, load, store
from azumaya.envs.rules import shima
from azumaya.envs.rules import shima_text as words_of
from azumaya.envs.rules.shima import (
    FIELDS,
    FIRST_NUMBER,
    HANDICAP,
    NEUTRAL,
    PLAY,
    ROW,
    SETUP_BYTES,
    lay,
    neutral_candidates,
    neutral_room,
    observe_cells,
    observe_setup,
    own,
    play_before,
    stones_of,
    write_before,
)
from azumaya.envs.rules.territory import (
    EMPTY_BOARD,
    NEARLY_FULL,
    OPTIONS,
    VARIANTS,
    puzzle_starts,
)
from azumaya.envs.text import PositionText, whole_number

POINTS = PLAY + 1
"""The stage in which the winner goes on laying stones."""

STATE = np.dtype(
    [
        *FIELDS,
        ("points", np.int32),  # option: is the game scored by points?
        ("streak", np.int32),  # stones the winner has laid since the loser's last, in POINTS
    ]
)

PLANES = (
    *shima.CELL_PLANES,
    *shima.number_planes("0 draft, 1 colour, 2 starter, 3 handicap, 4 play, 5 points", POINTS),
    Plane("points", "0 scored by win, else 1 + stones laid since the loser's last", "number", 82),
)


# ---- rule predicates ----


@kernel
def target(state):
    """The owner in whose regions the player to move lays: rules 2 and 3."""
    return NEUTRAL if neutral_room(state) else own(state, state.to_move)


@kernel
def can_move(state, player):
    """Whether a player could lay a stone if it were their turn: rules 2 to 4."""
    forbidden = stones_of(state, own(state, 1 - player))
    return any_bit(load(state.candidates, 0, ROW) & ~forbidden)


@kernel
def starter_can_move(state):
    """Whether the player to move could lay a stone."""
    return can_move(state, state.to_move)


# ---- kernels ----


@kernel
def write_legal(state, words):
    """Candidates AND territory, or the choices before play."""
    if state.over:
        return
    if state.stage < HANDICAP:
        write_before(state, words)
        return
    neutral = neutral_candidates(state)
    if any_bit(neutral):
        store(words, 0, neutral)
    else:
        side = stones_of(state, own(state, state.to_move))
        store(words, 0, load(state.candidates, 0, ROW) & side)


@kernel
def play(state, action):
    """Make a legal move."""
    mover = state.to_move
    if state.stage < PLAY:
        play_before(state, action)
        if state.stage == PLAY and not can_move(state, state.to_move):
            win(state, 1 - state.to_move, mover)
        return
    lay(state, action // CELLS, action % CELLS)
    if state.stage == POINTS:
        state.streak += 1
        finish_points(state, mover, mover)
    elif can_move(state, 1 - mover):
        state.to_move = 1 - mover
    else:
        state.streak = state.points
        win(state, mover, mover)


@kernel
def win(state, winner, mover):
    """Rule 5: the opponent of the winner is to move and cannot."""
    if state.points:
        state.stage = POINTS
        finish_points(state, winner, mover)
    else:
        finish(state, winner, 1, mover)


@kernel
def finish_points(state, winner, mover):
    """The winner must go on while a stone fits."""
    state.to_move = winner
    if not can_move(state, winner):
        finish(state, winner, state.streak, mover)


@kernel
def finish(state, winner, gain, mover):
    """The game is over; the side to move is whoever made the last step."""
    state.over = TERMINATED
    state.payoff = gain if winner == 0 else -gain
    state.to_move = mover


@kernel
def observe(state, player, words):
    """The planes of `PLANES`, packed."""
    observe_cells(state, player, words)
    observe_numbers(state, player, words, FIRST_NUMBER)


@kernel
def observe_numbers(state, player, words, at):
    """The planes of numbers, from byte `at` on."""
    observe_setup(state, player, words, at)
    put_byte(words, at + SETUP_BYTES, state.streak + 1 if state.points else 0)


@kernel
def evaluate(state, player):
    """Mobility: the own candidates less the opponent's."""
    mine, theirs = own(state, player), own(state, 1 - player)
    worth = 0
    for w in range(ROW):
        worth += popcount(state.candidates[w] & state.territory[mine, w])
        worth -= popcount(state.candidates[w] & state.territory[theirs, w])
    return worth


# ---- host: starts, texts, sentences ----


def starts(settings: Settings) -> np.ndarray:
    """The puzzles laid out."""
    return puzzle_starts(STATE, settings, starter_can_move, points=settings["scoring"] == "points")


def write_text(state: Any, settings: Settings) -> str:
    """The position text; `points=` counts the winner's stones since the loser's last one."""
    extra = [f"points={int(state['streak'])}"] if state["stage"] == POINTS else []
    return words_of.write_text(state, extra)


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`."""
    states, parts = words_of.read_text(text, STATE, settings, ("points",))
    states["points"] = settings["scoring"] == "points"
    if "points" in parts.words:
        _read_points(states, parts)
    _check_possible(states)
    return states


def _read_points(states: np.ndarray, parts: PositionText) -> None:
    if not states["points"][0] or states["stage"][0] != PLAY:
        raise PositionError("position: points= needs the option scoring='points' and no stage=")
    states["stage"] = POINTS
    states["streak"] = whole_number(parts.words["points"], "points", 0, CELLS)
    if can_move(states[0], 1 - int(states["to_move"][0])):
        raise PositionError("position: points= stands only when the opponent cannot lay a stone")


def _check_possible(states: np.ndarray) -> None:
    state = states[0]
    if state["over"]:
        _check_result(state)
    else:
        words_of.check_to_move(state, can_move(state, int(state["to_move"])))


def _check_result(state: Any) -> None:
    payoff = int(state["payoff"])
    if state["stage"] == POINTS:
        possible = abs(payoff) == int(state["streak"])
        stuck = not can_move(state, 0) and not can_move(state, 1)
    else:
        possible = abs(payoff) == 1 and not state["points"]
        stuck = state["stage"] == PLAY and possible and not can_move(state, int(payoff > 0))
    if not possible or not stuck:
        raise PositionError(f"position: result={payoff} is not how this game ends")


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    reason = words_of.explain_common(state, action, settings)
    if reason is not None:
        return reason
    name, stage = words_of.move_name(action, settings), int(state["stage"])
    number, cell = action // CELLS + 1, action % CELLS
    owner = words_of.owner_of(state, words_of.region_of(state, cell))
    wanted = NEUTRAL if stage == HANDICAP else int(target(state))
    if owner != wanted:
        return f"{name}: {_why_not_in(owner, wanted, stage)}"
    where = "the neutral region" if owner == NEUTRAL else "a region of your own"
    return f"{name} is legal: the {number} fits the row, column, block and region, in {where}"


def _why_not_in(owner: int | None, wanted: int, stage: int) -> str:
    if stage == HANDICAP:
        return "handicap stones go to the neutral region"
    if wanted == NEUTRAL:
        return "while a number fits the neutral region, it must be laid there (rule 2)"
    whose = "neutral" if owner == NEUTRAL else "the opponent's"
    return f"the region is {whose}, and stones go to regions of your own (rule 3)"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    return words_of.scene(state, start, (_note(state),))


def _note(state: Any) -> str:
    mover = words_of.side_name(state, int(state["to_move"]))
    if state["over"]:
        payoff = int(state["payoff"])
        if not payoff:
            return "over: no stone fitted, no points"
        winner = words_of.side_name(state, int(payoff < 0))
        return f"over: {winner} wins" + (f" {abs(payoff)} points" if state["points"] else "")
    if state["stage"] < PLAY:
        return f"{mover}: {words_of.TASKS[int(state['stage'])]}"
    if state["stage"] == POINTS:
        return f"{mover} lays on for points: {int(state['streak'])}"
    phase = "opening: neutral region" if neutral_room(state) else "own regions"
    return f"{mover} to move ({phase})"


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words_of.check_state(state)
    movable = [bool(can_move(state, player)) for player in (0, 1)]
    if state["over"]:
        assert not all(movable)
    elif state["stage"] >= PLAY:
        assert movable[int(state["to_move"])]
    assert (state["streak"] > 0) <= (state["stage"] == POINTS)


GAME = Game(
    name="sudoku_moyo",
    title="Sudoku Moyo",
    state=STATE,
    **words_of.SHARED,
    planes=PLANES,
    options=(
        *OPTIONS,
        Option(
            "scoring",
            "win",
            '`"win"`, `"points"`',
            "`points`: the winner goes on laying stones while any fits; the reward is the number "
            "of stones laid after the opponent's last one.",
            one_of("scoring", "win", "points"),
        ),
    ),
    payoff_bound=lambda settings: CELLS if settings["scoring"] == "points" else 1,
    play=play,
    write_legal=write_legal,
    observe=observe,
    evaluate=evaluate,
    starts=starts,
    write_text=write_text,
    read_text=read_text,
    explain=explain,
    scene=scene,
    check_state=check_state,
    symmetries=shima.SYMMETRIES,
    variants=(
        *VARIANTS,
        {"scoring": "points"},
        {"scoring": "points", "setup": "choose", "territory": "rows", "puzzle": EMPTY_BOARD},
        {"scoring": "points", "territory": "draft", "setup": "choose", "handicap": (0, 4)},
        {"scoring": "points", "setup": "choose", "handicap": (1, 1), "puzzle": NEARLY_FULL},
    ),
)
