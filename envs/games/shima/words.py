"""Words that Sudoku Moyo and Sudoku Horikomi share: move names, texts, sentences, scenes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from azumaya.envs.errors import MoveNameError, PositionError, brief
from azumaya.envs.game import TERMINATED
from azumaya.envs.games.shima.board import (
    ALL_STONES,
    COLOUR,
    DARK,
    DRAFT,
    DRAFT_ORDER,
    HANDICAP,
    LIGHT,
    NEUTRAL,
    NUMBER_ACTIONS,
    PLAY,
    STARTER,
    STONES_ON,
)
from azumaya.envs.games.shima.starts import MOST_HANDICAP, empty_states
from azumaya.envs.games.shima.stones import lay_puzzles, neutral_room, region_at, word_of
from azumaya.envs.games.shima.territory import FREE, territory_of
from azumaya.envs.games.sudoku_words import (
    ALPHABET,
    ROW_LENGTHS,
    candidates_of,
    check_board,
    dead_cells,
    digits_of,
    read_board,
    why_not_there,
    write_board,
)
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELL, CELLS, HOUSES, NUMBERS, SQUARES
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings
from azumaya.envs.text import PositionText, read_whole, split_position

Trays = tuple[tuple[str, tuple[Stone, ...]], ...]
"""Stones shown beside the board, under a heading each."""

SIDES = "ld"
"""The side to move in position texts: light, dark."""
OWNER_NAMES = ("light", "dark", "neutral")
STAGE_NAMES = {
    "draft": DRAFT,
    "colour": COLOUR,
    "starter": STARTER,
    "handicap": HANDICAP,
}
SHARED_KEYS = ("light", "stage", "owners", "starter", "handicap", "result")
"""The keys of the fields that position texts of all games may have."""


# ---- actions and move names ----


def num_actions(settings: Settings) -> int:
    """The 729 numbers on cells, and the choices before play that the options need."""
    return NUMBER_ACTIONS + len(_choice_names(settings))


def _choice_names(settings: Settings) -> tuple[str, ...]:
    drafts, chooses = settings["territory"] == "draft", settings["setup"] == "choose"
    regions = tuple(f"r{r}" for r in range(1, NUMBERS + 1)) if drafts else ()
    colours = ("light", "dark") if chooses and not drafts else ()
    return regions + colours + (("start0", "start1") if chooses else ())


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `5e4`."""
    if action < NUMBER_ACTIONS:
        return f"{action // CELLS + 1}{SQUARES[action % CELLS]}"
    return _choice_names(settings)[action - NUMBER_ACTIONS]


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a name; raises `MoveNameError`."""
    choices = _choice_names(settings)
    if name in choices:
        return NUMBER_ACTIONS + choices.index(name)
    if len(name) == 3 and name[0] in "123456789" and name[1:] in CELL:
        return (int(name[0]) - 1) * CELLS + CELL[name[1:]]
    also = f" or one of {', '.join(choices)}" if choices else ""
    raise MoveNameError(f"name={brief(name)}: must be a digit and a square like 5e4{also}")


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cell on which a number is laid, or the cells of the region taken."""
    if action < NUMBER_ACTIONS:
        return (action % CELLS,)
    region = action - NUMBER_ACTIONS
    if settings["territory"] == "draft" and region < NUMBERS:
        return territory_of(settings).houses[region]
    return ()


# ---- reading a state ----


def region_of(state: Any, cell: int) -> int:
    """The region of a cell, from 0."""
    return int(region_at(state, cell))


def cells_in(state: Any, region: int) -> tuple[int, ...]:
    """The cells of a region (from 0)."""
    return tuple(cell for cell in range(CELLS) if region_of(state, cell) == region)


def owner_of(state: Any, region: int) -> int | None:
    """The owner of a region (from 0), or None while it may be drafted."""
    return owner_at(state, next(c for c in range(CELLS) if region_of(state, c) == region))


def owner_at(state: Any, cell: int) -> int | None:
    """The owner of a cell, or None while its region may be drafted."""
    there = STONES_ON[cell]
    light, dark = ((row & there).any() for row in state["territory"])
    if light and dark:
        return None
    return LIGHT if light else DARK if dark else NEUTRAL


def owners_text(state: Any) -> str:
    """The owners of the nine regions in the order of their numbers, `?` for a free one."""
    owners = (owner_of(state, r) for r in range(NUMBERS))
    return "".join(FREE if owner is None else "LD."[owner] for owner in owners)


# ---- position texts ----


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


def read_text(
    text: str, dtype: np.dtype[Any], settings: Settings, keys: tuple[str, ...] = ()
) -> tuple[np.ndarray, PositionText]:
    """The position of a text, `(1,)` states, and the text's parts, for the game's own fields.

    Args:
        text: the position text.
        dtype: the game's states.
        settings: the options.
        keys: the keys of the game's own fields.

    Raises:
        PositionError: the text is malformed or impossible.
    """
    parts = split_position(text, ROW_LENGTHS, ALPHABET, SIDES, (*SHARED_KEYS, *keys))
    digits = read_board(parts)
    _check_board(digits, settings)
    states = empty_states(1, dtype, settings)
    lay_puzzles(states, np.array([digits], np.uint8))
    _read_owners(states, parts, settings)
    _read_stage(states, parts, settings)
    light = read_whole(parts.fields.get("light", "0"), "light", 0, 1)
    states["light"] = light
    states["to_move"] = SIDES.index(parts.to_move) ^ light
    if "result" in parts.fields:
        states["over"] = TERMINATED
        states["payoff"] = read_whole(parts.fields["result"], "result", -CELLS, CELLS)
    return states, parts


def _check_board(digits: list[int], settings: Settings) -> None:
    clash = first_clash(digits, HOUSES + territory_of(settings).houses)
    if clash is not None:
        raise PositionError(
            f"position: the number {clash.number} lies twice in one row, column, block or "
            f"region, on {SQUARES[clash.first]} and {SQUARES[clash.second]}"
        )


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
    light, dark = owners.count("L"), owners.count("D")
    order = DRAFT_ORDER[: light + dark].tolist() if light + dark <= 8 else []
    if (order.count(0), order.count(1)) != (light, dark):
        raise PositionError(f"position: owners={owners}: no draft gives {light} L and {dark} D")
    states["territory"] = ALL_STONES  # the neutral block, too, may be any: symmetries move it
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
    states["handicap"] = stones
    states["handicap_player"] = player
    states["starter"] = read_whole(fields.get("starter", "0"), "starter", 0, 1)


def _read_handicap(value: str) -> tuple[int, int]:
    player, _, count = value.partition(",")
    who = read_whole(player, "handicap", 0, 1)
    stones = read_whole(count, "handicap", 0, MOST_HANDICAP)
    return (who, stones) if stones else (0, 0)


# ---- sentences and displays ----


TASKS = {
    DRAFT: "draft a region (r1 to r9)",
    COLOUR: "choose a colour (light or dark)",
    STARTER: "choose who starts (start0 or start1)",
    HANDICAP: "lay a handicap stone in the neutral region",
}


def explain_before(state: Any, action: int, settings: Settings) -> str | None:
    """The sentence for a step before play, or None where a number is laid."""
    name, stage = move_name(action, settings), int(state["stage"])
    number = action < NUMBER_ACTIONS
    if stage >= HANDICAP:
        return None if number else f"{name}: that step is over; a number is to be laid"
    fits = {
        DRAFT: name.startswith("r"),
        COLOUR: name in ("light", "dark"),
        STARTER: name.startswith("start"),
    }
    if number or not fits[stage]:
        return f"{name}: first {TASKS[stage]}"
    if stage == DRAFT and owner_of(state, int(name[1:]) - 1) is not None:
        return f"{name}: that region has an owner already"
    return f"{name} is legal: the step before play is to {TASKS[stage]}"


def mover_before_play(state: Any) -> int:
    """The player to move in a stage before play."""
    if state["stage"] == HANDICAP:
        return int(state["handicap_player"])
    if state["stage"] == DRAFT:
        return int(DRAFT_ORDER[sum(letter in "LD" for letter in owners_text(state))])
    return 0 if state["stage"] == COLOUR else 1


def explain_common(state: Any, action: int, settings: Settings) -> str | None:
    """The sentence for the end, for steps before play or for rule 4; None if none applies."""
    name = move_name(action, settings)
    if state["over"]:
        return f"{name}: the game is over"
    reason = explain_before(state, action, settings)
    if reason is not None:
        return reason
    there = _why_not_there(state, action // CELLS + 1, action % CELLS)
    return there and f"{name}: {there}, and no number may stand twice (rule 4)"


def _why_not_there(state: Any, number: int, cell: int) -> str | None:
    """Why rule 4 forbids a number (from 1) on a cell, or None if it does not."""
    digits = digits_of(state)
    reason = why_not_there(digits, number, cell)
    if reason is not None:
        return reason
    for other in cells_in(state, region_of(state, cell)):
        if digits[other] == number:
            return f"the region of {SQUARES[cell]} has a {number} on {SQUARES[other]}"
    return None


def check_to_move(state: Any, can_move: bool) -> None:
    """Refuse a running position in which the wrong side is to move, or cannot lay a stone.

    `can_move` says whether the player to move can lay a stone.

    Raises:
        PositionError: it is such a position.
    """
    stage = int(state["stage"])
    if stage >= PLAY:
        if not can_move:
            raise PositionError(
                "position: the player to move cannot lay a stone, but no result= is given"
            )
        return
    expected = mover_before_play(state)
    if stage == HANDICAP and not neutral_room(state):
        raise PositionError("position: stage=handicap, but no stone fits the neutral region")
    if int(state["to_move"]) != expected:
        raise PositionError(f"position: in this stage player_{expected} is to move")


def scene(state: Any, start: Any, notes: tuple[str, ...], trays: Trays = ()) -> Scene:
    """The position as renderers see it, with a game's own notes and trays."""
    regions = tuple(region_of(state, cell) for cell in range(CELLS))
    owner_by_region = [owner_at(state, regions.index(region)) for region in range(NUMBERS)]
    owners = [owner_by_region[region] for region in regions]
    digits, givens = digits_of(state), digits_of(start)
    names = ["free" if owner is None else OWNER_NAMES[owner] for owner in owners]
    return Scene(
        board="sudoku81",
        grounds=tuple(names),
        stones=tuple(
            Stone(names[cell], str(digits[cell]), given=givens[cell] != 0) if digits[cell] else None
            for cell in range(CELLS)
        ),
        dead=dead_cells(state),
        candidates=candidates_of(state),
        notes=notes,
        trays=trays,
        regions=tuple(region + 1 for region in regions),
    )


def side_name(state: Any, player: int) -> str:
    """A player with colour, like `player_0 (light)`."""
    return f"player_{player} ({OWNER_NAMES[player ^ int(state['light'])]})"


# ---- invariants ----


def check_state(state: Any) -> None:
    """Rule 4 holds, candidates follow from the stones, and territories are whole.

    Raises:
        AssertionError: one of these is broken.
    """
    check_board(state, HOUSES + tuple(cells_in(state, region) for region in range(NUMBERS)))
    light, dark = state["territory"]
    assert state["stage"] == DRAFT or not (light & dark).any()
    cells = sum(int(word).bit_count() for word in (light | dark).flat)
    assert cells == 8 * NUMBERS * NUMBERS
    for row in state["territory"]:  # the same cells for each number
        for w in range(2):
            assert len({int(word_of(row, n, w)) for n in range(NUMBERS)}) == 1
