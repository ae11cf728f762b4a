"""Words of Sudoku Moyo: position texts, sentences, scenes, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.games._shima import texts, words
from azumaya.envs.games._shima.board import HANDICAP, NEUTRAL, PLAY, POINTS
from azumaya.envs.games._shima.stones import neutral_room
from azumaya.envs.games.digits import digits_of
from azumaya.envs.games.sudoku_moyo.board import STATE
from azumaya.envs.games.sudoku_moyo.rules import can_move, target
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, read_whole

IDEA = "Fill your own regions by the Sudoku rule: the first who cannot place a number loses."
HOW_TO_PLAY = f"""\
{words.BOARD_TEXT}
Players take turns, and a turn is one number from 1 to 9 placed on an empty cell. Numbers are never
moved or removed.
1. Some numbers lie on the board at the start.
2. While any number can be placed in the neutral region, the player to move must place one there.
3. After that, light places numbers only in light regions, and dark only in dark regions.
4. No number may stand twice in a row, a column, a block or a region.
5. A player who is to move and cannot place a number loses. There is no draw.
A move is named by the number and the square: 5e4 places a 5 on e4."""


# ---- position texts ----


def write_text(state: Any, settings: Settings) -> str:
    """The position text; `points=` is the number of stones placed since the loser's last one."""
    extra = [f"points={int(state['streak'])}"] if state["stage"] == POINTS else []
    return texts.write_text(state, extra)


def read_text(
    text: str, settings: Settings, second: bool = False, of_match: tuple[str, ...] = ()
) -> np.ndarray:
    """The position of a text, `(1,)` states; raises `PositionError`.

    `second` tells whether it is the second game of a match, in which the roles are swapped;
    `of_match` are the keys of the match's fields, which errors name although they are not read.
    """
    keys = ("points", *of_match)
    states, parts = texts.read_text(text, STATE, settings, keys, second)
    states["points"] = settings["scoring"] == "points"
    if "points" in parts.fields:
        _read_points(states, parts)
    # A second game may be lost before its first step; then the last step was in the first game.
    _check_possible(states, winner_last=not (second or _has_steps_before_play(settings)))
    return states


def _read_points(states: np.ndarray, parts: PositionText) -> None:
    if not states["points"][0] or states["stage"][0] != PLAY:
        raise PositionError("position: points= needs the option scoring='points' and no stage=")
    states["stage"] = POINTS
    states["streak"] = read_whole(parts.fields["points"], "points", 0, CELLS)
    state = states[0]
    if can_move(state, 1 - int(state["to_move"])):
        raise PositionError(
            "position: points= is allowed only if the opponent cannot place a stone"
        )
    laid = sum(digit != 0 for digit in digits_of(state))
    if state["streak"] > laid:
        raise PositionError(
            f"position: points={int(state['streak'])}: must be at most {laid}, the number of "
            "stones on the board"
        )


def _has_steps_before_play(settings: Settings) -> bool:
    """Whether something is drafted, chosen or placed before play; the loser may do that last."""
    chosen = settings["territory"] == "draft" or settings["setup"] == "choose"
    return chosen or texts.has_handicap(settings)


def _check_possible(states: np.ndarray, winner_last: bool) -> None:
    state = states[0]
    if state["over"]:
        _check_result(state)
        if winner_last and np.sign(state["payoff"]) != 1 - 2 * state["to_move"]:
            raise PositionError(
                "position: the side to move of a finished game is the player who made the last "
                f"step; with result={int(state['payoff'])} that must be the winner, who placed a "
                "stone"
            )
    else:
        texts.check_to_move(state, can_move(state, int(state["to_move"])))


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


# ---- sentences and scenes ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    reason = words.explain_common(state, action, settings)
    if reason is not None:
        return reason
    name, stage = words.move_name(action, settings), int(state["stage"])
    number, cell = action // CELLS + 1, action % CELLS
    owner = words.owner_of(state, words.region_of(state, cell))
    wanted = NEUTRAL if stage == HANDICAP else int(target(state))
    if owner != wanted:
        return f"{name}: {_why_not_in(owner, wanted, stage)}"
    where = "the neutral region" if owner == NEUTRAL else "a region of your own"
    return f"{name} is legal: the {number} fits the row, column, block and region, in {where}"


def _why_not_in(owner: int | None, wanted: int, stage: int) -> str:
    if stage == HANDICAP:
        return "handicap stones go to the neutral region"
    if wanted == NEUTRAL:
        return "while a number fits the neutral region, it must be placed there (rule 2)"
    whose = "neutral" if owner == NEUTRAL else "the opponent's"
    return f"the region is {whose}, and stones go to regions of your own (rule 3)"


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The position as renderers see it."""
    return words.scene(state, start, (_note(state),))


def _note(state: Any) -> str:
    mover = words.side_name(state, int(state["to_move"]))
    if state["over"]:
        payoff = int(state["payoff"])
        if not payoff:
            return "over: no stone fitted, no points"
        winner = words.side_name(state, int(payoff < 0))
        if state["points"]:
            return f"over: {winner} wins {abs(payoff)} points"
        loser = words.side_name(state, int(payoff > 0))
        return f"over: {winner} wins, as {loser} cannot place a number"
    if state["stage"] < PLAY:
        return f"{mover}: {words.TASKS[int(state['stage'])]}"
    if state["stage"] == POINTS:
        return f"{mover} goes on placing stones for points: {int(state['streak'])} so far"
    phase = "opening: neutral region" if neutral_room(state) else "own regions"
    return f"{mover} to move ({phase})"


# ---- invariants ----


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    words.check_state(state)
    movable = [bool(can_move(state, player)) for player in (0, 1)]
    if state["over"]:
        assert not all(movable)
    elif state["stage"] >= PLAY:
        assert movable[int(state["to_move"])]
    assert (state["streak"] > 0) <= (state["stage"] == POINTS)
