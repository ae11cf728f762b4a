"""Words of the match: position texts, sentences, scenes, checks.

Most are those of Sudoku Moyo, for the game in progress.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED, as_states
from azumaya.envs.games._shima.board import HANDICAP, STARTER
from azumaya.envs.games._shima.starts import empty_states
from azumaya.envs.games._shima.stones import lay_puzzles
from azumaya.envs.games._shima.territory import territory_of
from azumaya.envs.games._shima.texts import chooses_colours
from azumaya.envs.games.digits import ALPHABET, digits_of, read_digits, write_digits
from azumaya.envs.games.sudoku_moyo import text as moyo
from azumaya.envs.games.sudoku_moyo.board import STATE as MOYO_STATE
from azumaya.envs.games.sudoku_moyo_match.board import STATE as MATCH_STATE
from azumaya.envs.games.sudoku_moyo_match.rules import sum_up
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES
from azumaya.envs.scene import Scene
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import pop_fields, read_whole

OWN_KEYS = ("puzzle", "game", "began", "first")
"""The keys of the fields that position texts of single games do not have."""

# ---- matches and their single games ----


def with_points(settings: Settings) -> Settings:
    """The settings of a match's single games, which are scored by points."""
    return {**settings, "scoring": "points"}


def as_matches(singles: np.ndarray, settings: Settings) -> np.ndarray:
    """Matches in their first game, `(n,)`, which take the stones of the single games as puzzles."""
    matches = np.zeros(len(singles), MATCH_STATE)
    for name in MOYO_STATE.names or ():
        matches[name] = singles[name]
    matches["givens"] = singles["stones"]
    if settings["handicap"] is not None:
        matches["lays_before"], matches["stones_before"] = settings["handicap"]
    return as_states(matches)


# ---- position texts ----


def write_text(state: Any, settings: Settings) -> str:
    """The text of the game in progress, then `puzzle=`, `game=`, `began=` and `first=`."""
    single = moyo.write_text(state, with_points(settings))
    fields = [f"puzzle={_puzzle_text(state)}", f"game={int(state['game']) + 1}"]
    if state["began"]:
        fields.append("began=1")
    if state["first"]:
        fields.append(f"first={int(state['first'])}")
    return " ".join([single, *fields])


def _puzzle_text(state: Any) -> str:
    return write_digits(digits_of(state, "givens"))


def read_text(text: str, settings: Settings) -> np.ndarray:
    """The match of a text, `(1,)` states; raises `PositionError`.

    Without `puzzle=` the stones on the board count as the puzzle.
    """
    single, fields = pop_fields(text, (*OWN_KEYS, "result"))
    game = read_whole(fields.get("game", "1"), "game", 1, 2)
    first = read_whole(fields.get("first", "0"), "first", -CELLS, CELLS)
    if game == 1 and (first or "result" in fields):
        raise PositionError("position: first= and result= are allowed only in the second game")
    if "result" in fields:
        total = read_whole(fields["result"], "result", -1, 1)
        single = _with_own_result(single, first, total, settings)
    singles = moyo.read_text(single, with_points(settings), game == 2, OWN_KEYS)
    states = as_matches(singles, settings)
    if "puzzle" in fields:
        states["givens"] = _givens(fields["puzzle"], states, settings)
    states["game"], states["first"] = game - 1, first
    states["began"] = read_whole(fields.get("began", "0"), "began", 0, 1)
    _check_roles(states[0], settings)
    sum_up(states[0])
    return states


def _check_roles(state: Any, settings: Settings) -> None:
    """Refuse roles that contradict the options, or that are not those of the first game swapped."""
    stage, second, began = (int(state[name]) for name in ("stage", "game", "began"))
    if second and stage < HANDICAP:
        raise PositionError("position: in the second game nothing is drafted or chosen again")
    if second and not state["light"] and not chooses_colours(settings):
        raise PositionError("position: in the second game player_1 is light: light=1 is needed")
    if began and (stage <= STARTER or settings["setup"] != "choose"):
        raise PositionError(
            "position: began=1 needs the option setup='choose' and a starter that has been chosen"
        )
    if stage == HANDICAP and state["starter"] != began ^ second:
        raise PositionError(
            "position: starter= and began= must agree: who began the first game starts in it, and "
            "the other player in the second"
        )
    if stage <= HANDICAP:
        _check_handicap(state)


def _check_handicap(state: Any) -> None:
    """Refuse handicap stones to come that contradict the option, before play.

    The text says how many are left in this game, the option how many each game begins with.
    """
    player, left = int(state["handicap_player"]), int(state["handicap"])
    lays, most = int(state["lays_before"]), int(state["stones_before"])
    least = most if state["stage"] < HANDICAP else min(most, 1)
    if not least <= left <= most or (left and player != lays):
        known = f"from {lays},{least} to {lays},{most}" if least < most else f"{lays},{most}"
        raise PositionError(
            f"position: handicap={player},{left} contradicts the option handicap; in this stage it "
            f"must be {known}"
        )


def _with_own_result(single: str, first: int, total: int, settings: Settings) -> str:
    """The text of a finished second game with the points of that game as its result."""
    _, fields = pop_fields(single, ("points",))
    streak = read_whole(fields.get("points", "0"), "points", 0, CELLS)
    for gain in (streak, -streak):
        if int(np.sign(first + gain)) == total:
            return f"{single} result={gain}"
    raise PositionError(f"position: result={total} does not follow from first= and points=")


def _givens(puzzle: str, states: np.ndarray, settings: Settings) -> np.ndarray:
    if len(puzzle) != CELLS or set(puzzle) - set(ALPHABET):
        raise PositionError(f"position: puzzle={puzzle}: must be 81 digits and dots")
    digits = read_digits(puzzle)
    if first_clash(digits, HOUSES + territory_of(settings).houses) is not None:
        raise PositionError("position: puzzle= has a number twice in a house or region")
    laid = empty_states(1, MOYO_STATE, settings)
    lay_puzzles(laid, np.array([digits], np.uint8))
    if (laid["stones"] & ~states["stones"]).any():
        raise PositionError("position: puzzle= has a stone that does not lie on the board")
    return np.asarray(laid["stones"])


# ---- sentences and scenes ----


def explain(state: Any, action: int, settings: Settings) -> str:
    """Why an action is legal, or which rule forbids it."""
    return moyo.explain(state, action, with_points(settings))


def scene(state: Any, start: Any, settings: Settings) -> Scene:
    """The game in progress, with the score of the first one."""
    single = moyo.scene(state, {"stones": state["givens"]}, with_points(settings))
    first = f"first game: {int(state['first']):+d} for player_0" if state["game"] else ""
    if state["over"]:
        payoff = int(state["payoff"])
        result = f"player_{int(payoff < 0)} wins the match" if payoff else "the match is drawn"
        return replace(single, notes=(result, first, ""))
    return replace(single, notes=(*single.notes, f"game {int(state['game']) + 1} of 2", first))


# ---- invariants ----


def check_state(state: Any) -> None:
    """Slow invariants: raises `AssertionError`."""
    if not state["over"]:
        moyo.check_state(state)
    assert state["points"] == 1
    assert not (state["givens"] & ~state["stones"]).any()
    assert state["game"] == 1 or (not state["first"] and not state["over"])
    assert (state["over"] == TERMINATED) or not state["payoff"]
