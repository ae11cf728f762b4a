"""Position texts of Sudoku Moyo and Sudoku Horikomi: what both games share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from azumaya.envs.errors import PositionError
from azumaya.envs.game import TERMINATED
from azumaya.envs.games._shima.board import (
    ALL_STONES,
    COLOUR,
    DRAFT,
    DRAFT_ORDER,
    HANDICAP,
    NEUTRAL_BLOCK,
    PLAY,
    STARTER,
    STONES_ON,
)
from azumaya.envs.games._shima.starts import HOUSES_OR_REGION, MOST_HANDICAP, empty_states
from azumaya.envs.games._shima.stones import lay_puzzles, neutral_room
from azumaya.envs.games._shima.territory import FREE, territory_of
from azumaya.envs.games._shima.words import cells_in, owners_text
from azumaya.envs.games.digits import ALPHABET, ROW_LENGTHS, digits_of, read_digits, write_board
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES, NUMBERS, SQUARES
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, read_pair, read_whole, split_position

SIDES = "ld"
"""The side to move in position texts: light, dark."""
STAGE_NAMES = {
    "draft": DRAFT,
    "colour": COLOUR,
    "starter": STARTER,
    "handicap": HANDICAP,
}
SHARED_KEYS = ("light", "stage", "owners", "starter", "handicap", "result")
"""The keys of the fields that position texts of all games may have."""


# ---- writing ----


def write_text(state: Any, extra: Iterable[str] = ()) -> str:
    """The position text: board, side to move, then the fields that are not at their usual value.

    `extra` are fields of one game only; they come before `result=`.
    """
    parts = [write_board(digits_of(state)), SIDES[int(state["to_move"]) ^ int(state["light"])]]
    if state["light"]:
        parts.append("light=1")
    if state["drafts"]:
        parts.append(f"owners={owners_text(state)}")
    parts += _stage_fields(state)
    parts += extra
    if state["over"]:
        parts.append(f"result={int(state['payoff'])}")
    return " ".join(parts)


def _stage_fields(state: Any) -> list[str]:
    stage = int(state["stage"])
    fields = [f"stage={name}" for name, known in STAGE_NAMES.items() if known == stage]
    if stage <= HANDICAP:
        if state["handicap"]:
            fields.append(f"handicap={int(state['handicap_player'])},{int(state['handicap'])}")
        if state["starter"]:
            fields.append("starter=1")
    return fields


# ---- reading ----


def read_text(
    text: str,
    dtype: np.dtype[Any],
    settings: Settings,
    keys: tuple[str, ...] = (),
    second: bool = False,
) -> tuple[np.ndarray, PositionText]:
    """The position of a text, `(1,)` states, and the text's parts, for the game's own fields.

    Args:
        text: the position text.
        dtype: the game's states.
        settings: the options.
        keys: the keys of the game's own fields.
        second: whether this is the second game of a match, in which the roles are swapped.

    Raises:
        PositionError: the text is malformed or impossible.
    """
    parts = split_position(text, ROW_LENGTHS, ALPHABET, SIDES, (*SHARED_KEYS, *keys))
    digits = read_digits("".join(parts.rows))
    _check_board(digits, settings)
    states = empty_states(1, dtype, settings)
    lay_puzzles(states, np.array([digits], np.uint8))
    _read_owners(states, parts, settings)
    _read_stage(states, parts, settings)
    light = read_whole(parts.fields.get("light", "0"), "light", 0, 1)
    states["light"] = light
    if not second:
        _check_choices(states[0], settings)
    states["to_move"] = SIDES.index(parts.to_move) ^ light
    if "result" in parts.fields:
        states["over"] = TERMINATED
        states["payoff"] = read_whole(parts.fields["result"], "result", -CELLS, CELLS)
    return states, parts


def _check_board(digits: list[int], settings: Settings) -> None:
    clash = first_clash(digits, HOUSES + territory_of(settings).houses)
    if clash is not None:
        raise PositionError(f"position: {clash.text(SQUARES, HOUSES_OR_REGION)}")


def _read_owners(states: np.ndarray, parts: PositionText, settings: Settings) -> None:
    owners = parts.fields.get("owners")
    if settings["territory"] != "draft":
        if owners is not None:
            raise PositionError("position: owners= needs the option territory='draft'")
        return
    if owners is None:
        raise PositionError("position: owners= is needed with territory='draft'")
    known = set(owners) <= {"L", "D", FREE, "."} and len(owners) == NUMBERS
    if not known or owners.count(".") != 1:
        raise PositionError(
            f"position: owners={owners}: must be nine of L, D and ?, but . for one neutral block"
        )
    if FREE in owners and owners[NEUTRAL_BLOCK] != ".":
        raise PositionError(
            f"position: owners={owners}: while blocks are free (?), the neutral one must be the "
            "centre, the fifth"
        )
    light, dark = owners.count("L"), owners.count("D")
    order = DRAFT_ORDER[: light + dark].tolist() if light + dark <= 8 else []
    if (order.count(0), order.count(1)) != (light, dark):
        raise PositionError(f"position: owners={owners}: no draft gives {light} L and {dark} D")
    # After the draft the neutral block, too, may be any: symmetries move it.
    states["territory"] = ALL_STONES
    for region, letter in enumerate(owners):
        stones = np.bitwise_or.reduce(STONES_ON[list(cells_in(states[0], region))])
        for player, owner in enumerate("LD"):
            if letter not in (owner, FREE):
                states["territory"][0, player] &= ~stones


def _read_stage(states: np.ndarray, parts: PositionText, settings: Settings) -> None:
    fields = parts.fields
    name = fields.get("stage")
    if name is not None and name not in STAGE_NAMES:
        raise PositionError(f"position: stage={name}: must be one of {', '.join(STAGE_NAMES)}")
    stage = PLAY if name is None else STAGE_NAMES[name]
    states["stage"] = stage
    drafting = FREE in fields.get("owners", "")
    if drafting != (stage == DRAFT):
        raise PositionError("position: stage=draft and free regions (?) in owners= go together")
    needs_choice = stage in (COLOUR, STARTER)
    if needs_choice and settings["setup"] != "choose":
        raise PositionError(f"position: stage={name} needs the option setup='choose'")
    if stage == COLOUR and states["drafts"][0]:
        raise PositionError("position: stage=colour: after a draft no colour is chosen")
    if stage == PLAY and ("handicap" in fields or "starter" in fields):
        raise PositionError("position: handicap= and starter= are allowed only before play")
    player, stones = _read_handicap(fields.get("handicap", "0,0"))
    if stage == HANDICAP and not stones:
        raise PositionError("position: stage=handicap needs handicap=player,stones")
    if stones and not has_handicap(settings):
        raise PositionError(
            "position: handicap= needs the option handicap; without that it must be 0,0"
        )
    states["handicap"] = stones
    states["handicap_player"] = player
    states["starter"] = read_whole(fields.get("starter", "0"), "starter", 0, 1)


def has_handicap(settings: Settings) -> bool:
    """Whether a player places handicap stones before play."""
    return settings["handicap"] not in (None, (0, 0))


def chooses_colours(settings: Settings) -> bool:
    """Whether player_0 chooses a colour."""
    return settings["setup"] == "choose" and settings["territory"] != "draft"


def _check_choices(state: Any, settings: Settings) -> None:
    """Refuse a colour or a starter that nobody can have chosen yet."""
    stage = int(state["stage"])
    if state["light"] and (stage <= COLOUR or not chooses_colours(settings)):
        raise PositionError(
            "position: light=1 needs the option setup='choose' without a draft, and a colour that "
            "has been chosen"
        )
    if state["starter"] and (stage != HANDICAP or settings["setup"] != "choose"):
        raise PositionError(
            "position: starter=1 needs the option setup='choose' and stage=handicap"
        )


def _read_handicap(value: str) -> tuple[int, int]:
    player, stones = read_pair(value, "handicap", 1, MOST_HANDICAP)
    return (player, stones) if stones else (0, 0)


# ---- whose move it is ----


def mover_before_play(state: Any) -> int:
    """The player to move in a stage before play."""
    if state["stage"] == HANDICAP:
        return int(state["handicap_player"])
    if state["stage"] == DRAFT:
        return int(DRAFT_ORDER[sum(letter in "LD" for letter in owners_text(state))])
    return 0 if state["stage"] == COLOUR else 1


def check_to_move(state: Any, can_move: bool) -> None:
    """Refuse a running position in which the wrong side is to move, or cannot place a stone.

    `can_move` says whether the player to move can place a stone.

    Raises:
        PositionError: it is such a position.
    """
    stage = int(state["stage"])
    if stage >= PLAY:
        if not can_move:
            raise PositionError(
                "position: the player to move cannot place a stone, but no result= is given"
            )
        return
    expected = mover_before_play(state)
    if stage == HANDICAP and not neutral_room(state):
        raise PositionError("position: stage=handicap, but no stone fits the neutral region")
    if int(state["to_move"]) != expected:
        raise PositionError(f"position: in this stage player_{expected} is to move")
