"""Words of Sudoku Moyo and Sudoku Horikomi: actions, move names, position texts, displays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from azumaya.envs.errors import MoveNameError, PositionError
from azumaya.envs.game import TERMINATED
from azumaya.envs.games.shima import board as shima
from azumaya.envs.games.shima.territory import FREE, MOST_HANDICAP, empty_states, territory_of
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
from azumaya.envs.text import PositionText, split_position, whole_number

Trays = tuple[tuple[str, tuple[Stone, ...]], ...]

SIDES = "ld"
OWNER_NAMES = ("light", "dark", "neutral")
STAGE_NAMES = {
    "draft": shima.DRAFT,
    "colour": shima.COLOUR,
    "starter": shima.STARTER,
    "handicap": shima.HANDICAP,
}
WORDS_BEFORE_PLAY = ("light", "stage", "owners", "starter", "handicap", "result")
"""The words of a position text that both games know."""


# ---- actions and move names ----


def num_actions(settings: Settings) -> int:
    """729 numbers on cells, then what the options need."""
    return shima.NUMBER_ACTIONS + len(_setup_names(settings))


def _setup_names(settings: Settings) -> tuple[str, ...]:
    drafts, chooses = settings["territory"] == "draft", settings["setup"] == "choose"
    regions = tuple(f"r{r}" for r in range(1, NUMBERS + 1)) if drafts else ()
    colours = ("light", "dark") if chooses and not drafts else ()
    return regions + colours + (("start0", "start1") if chooses else ())


def move_name(action: int, settings: Settings, mover: int = 0) -> str:
    """The name of an action, like `5e4`."""
    if action < shima.NUMBER_ACTIONS:
        return f"{action // CELLS + 1}{SQUARES[action % CELLS]}"
    return _setup_names(settings)[action - shima.NUMBER_ACTIONS]


def parse_move(name: str, settings: Settings, mover: int = 0) -> int:
    """The action of a name; raises `MoveNameError`."""
    setup = _setup_names(settings)
    if name in setup:
        return shima.NUMBER_ACTIONS + setup.index(name)
    if len(name) == 3 and name[0] in "123456789" and name[1:] in CELL:
        return (int(name[0]) - 1) * CELLS + CELL[name[1:]]
    also = f" or one of {', '.join(setup)}" if setup else ""
    raise MoveNameError(f"{name!r} names no move: a digit and a square like 5e4{also} is needed")


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cell a number goes to, or the region taken."""
    if action < shima.NUMBER_ACTIONS:
        return (action % CELLS,)
    region = action - shima.NUMBER_ACTIONS
    if settings["territory"] == "draft" and region < NUMBERS:
        return territory_of(settings).houses[region]
    return ()


# ---- reading a state ----


def region_of(state: Any, cell: int) -> int:
    """The region of a cell, from 0."""
    return int(shima.region_at(state, cell))


def cells_in(state: Any, region: int) -> tuple[int, ...]:
    """The cells of a region (from 0)."""
    return tuple(cell for cell in range(CELLS) if region_of(state, cell) == region)


def owner_of(state: Any, region: int) -> int | None:
    """The owner of a region, or None while it may be drafted."""
    there = shima.STONES_ON[cells_in(state, region)[0]]
    light, dark = ((row & there).any() for row in state["territory"])
    if light and dark:
        return None
    return shima.LIGHT if light else shima.DARK if dark else shima.NEUTRAL


def owners_text(state: Any) -> str:
    """The owners of the nine regions in the order of their numbers, `?` where free."""
    owners = (owner_of(state, r) for r in range(NUMBERS))
    return "".join(FREE if owner is None else "LD."[owner] for owner in owners)


# ---- position texts ----


def write_text(state: Any, extra: Iterable[str] = ()) -> str:
    """A position text: board, side to move, then the words that are not at their usual value."""
    words = [write_board(digits_of(state)), SIDES[int(state["to_move"]) ^ int(state["light"])]]
    if state["light"]:
        words.append("light=1")
    if state["drafts"]:
        words.append(f"owners={owners_text(state)}")
    words += _stage_words(state)
    words += extra
    if state["over"]:
        words.append(f"result={int(state['payoff'])}")
    return " ".join(words)


def _stage_words(state: Any) -> list[str]:
    stage = int(state["stage"])
    words = [f"stage={name}" for name, known in STAGE_NAMES.items() if known == stage]
    if stage <= shima.HANDICAP:
        if state["handicap"]:
            words.append(f"handicap={int(state['handicap_player'])},{int(state['handicap'])}")
        if state["starter"]:
            words.append("starter=1")
    return words


def read_text(
    text: str, dtype: np.dtype[Any], settings: Settings, keys: tuple[str, ...] = ()
) -> tuple[np.ndarray, PositionText]:
    """The position of a text, `(1,)` states, and the text's parts for the game's own words.

    Raises:
        PositionError: the text is malformed or impossible.
    """
    parts = split_position(text, ROW_LENGTHS, ALPHABET, SIDES, (*WORDS_BEFORE_PLAY, *keys))
    digits = read_board(parts)
    _check_board(digits, settings)
    states = empty_states(1, dtype, settings)
    shima.lay_puzzles(states, np.array([digits], np.uint8))
    _read_owners(states, parts, settings)
    _read_stage(states, parts, settings)
    light = whole_number(parts.fields.get("light", "0"), "light", 0, 1)
    states["light"] = light
    states["to_move"] = SIDES.index(parts.to_move) ^ light
    if "result" in parts.fields:
        states["over"] = TERMINATED
        states["payoff"] = whole_number(parts.fields["result"], "result", -CELLS, CELLS)
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
    if not known or owners[4] != "." or owners.count(".") != 1:
        raise PositionError(
            f"position: owners={owners}: nine of L, D and ? are needed, with . in the middle"
        )
    light, dark = owners.count("L"), owners.count("D")
    order = shima.DRAFT_ORDER[: light + dark].tolist() if light + dark <= 8 else []
    if (order.count(0), order.count(1)) != (light, dark):
        raise PositionError(f"position: owners={owners}: no draft gives {light} L and {dark} D")
    for region, letter in enumerate(owners):
        if letter in "LD":
            stones = np.bitwise_or.reduce(shima.STONES_ON[list(cells_in(states[0], region))])
            states["territory"][0, "DL".index(letter)] &= ~stones


def _read_stage(states: np.ndarray, parts: PositionText, settings: Settings) -> None:
    words = parts.fields
    name = words.get("stage")
    if name is not None and name not in STAGE_NAMES:
        raise PositionError(f"position: stage={name}: must be one of {', '.join(STAGE_NAMES)}")
    stage = shima.PLAY if name is None else STAGE_NAMES[name]
    states["stage"] = stage
    drafting = FREE in words.get("owners", "")
    if drafting != (stage == shima.DRAFT):
        raise PositionError("position: stage=draft and free regions (?) in owners= go together")
    needs_choice = stage in (shima.COLOUR, shima.STARTER)
    if needs_choice and settings["setup"] != "choose":
        raise PositionError(f"position: stage={name} needs the option setup='choose'")
    if stage == shima.COLOUR and states["drafts"][0]:
        raise PositionError("position: stage=colour: after a draft no colour is chosen")
    if stage == shima.PLAY and ("handicap" in words or "starter" in words):
        raise PositionError("position: handicap= and starter= stand only before play")
    player, stones = _read_handicap(words.get("handicap", "0,0"))
    if stage == shima.HANDICAP and not stones:
        raise PositionError("position: stage=handicap needs handicap=player,stones")
    states["handicap"] = stones
    states["handicap_player"] = player
    states["starter"] = whole_number(words.get("starter", "0"), "starter", 0, 1)


def _read_handicap(word: str) -> tuple[int, int]:
    player, _, count = word.partition(",")
    who = whole_number(player, "handicap", 0, 1)
    stones = whole_number(count, "handicap", 0, MOST_HANDICAP)
    return (who, stones) if stones else (0, 0)


# ---- sentences and displays ----


TASKS = {
    shima.DRAFT: "draft a region (r1 to r9)",
    shima.COLOUR: "choose a colour (light or dark)",
    shima.STARTER: "choose who starts (start0 or start1)",
    shima.HANDICAP: "lay a handicap stone in the neutral region",
}


def explain_before(state: Any, action: int, settings: Settings) -> str | None:
    """The sentence for a step before play, or None where a number is laid."""
    name, stage = move_name(action, settings), int(state["stage"])
    number = action < shima.NUMBER_ACTIONS
    if stage >= shima.HANDICAP:
        return None if number else f"{name}: that step is over; a number is to be laid"
    fits = {
        shima.DRAFT: name.startswith("r"),
        shima.COLOUR: name in ("light", "dark"),
        shima.STARTER: name.startswith("start"),
    }
    if number or not fits[stage]:
        return f"{name}: first {TASKS[stage]}"
    if stage == shima.DRAFT and owner_of(state, int(name[1:]) - 1) is not None:
        return f"{name}: that region has an owner already"
    return f"{name} is legal: the step before play is to {TASKS[stage]}"


def mover_before_play(state: Any) -> int:
    """Who acts in the stages before play."""
    if state["stage"] == shima.HANDICAP:
        return int(state["handicap_player"])
    if state["stage"] == shima.DRAFT:
        return int(shima.DRAFT_ORDER[sum(letter in "LD" for letter in owners_text(state))])
    return 0 if state["stage"] == shima.COLOUR else 1


def explain_common(state: Any, action: int, settings: Settings) -> str | None:
    """The sentence for what both games say first: steps before play, and rule 4; else None."""
    name = move_name(action, settings)
    if state["over"]:
        return f"{name}: the game is over"
    reason = explain_before(state, action, settings)
    if reason is not None:
        return reason
    there = _why_not_there(state, action // CELLS + 1, action % CELLS)
    return there and f"{name}: {there}, and no number may stand twice (rule 4)"


def _why_not_there(state: Any, number: int, cell: int) -> str | None:
    """What keeps a number (from 1) off a cell by rule 4, or None."""
    digits = digits_of(state)
    reason = why_not_there(digits, number, cell)
    if reason is not None:
        return reason
    for other in cells_in(state, region_of(state, cell)):
        if digits[other] == number:
            return f"the region of {SQUARES[cell]} has a {number} on {SQUARES[other]}"
    return None


def check_to_move(state: Any, can_move: bool) -> None:
    """Refuse a running position whose side to move is impossible or could not lay a stone."""
    stage = int(state["stage"])
    if stage >= shima.PLAY:
        if not can_move:
            raise PositionError(
                "position: the player to move cannot lay a stone, but no result= is given"
            )
        return
    expected = mover_before_play(state)
    if stage == shima.HANDICAP and not shima.neutral_room(state):
        raise PositionError("position: stage=handicap, but no stone fits the neutral region")
    if int(state["to_move"]) != expected:
        raise PositionError(f"position: in this stage player_{expected} is to move")


def scene(state: Any, start: Any, notes: tuple[str, ...], trays: Trays = ()) -> Scene:
    """The position as renderers see it."""
    regions = tuple(region_of(state, cell) for cell in range(CELLS))
    owner_by_region = [owner_of(state, region) for region in range(NUMBERS)]
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
    """`player_0 (light)` and the like."""
    return f"player_{player} ({OWNER_NAMES[player ^ int(state['light'])]})"


# ---- invariants ----


def check_state(state: Any) -> None:
    """The board obeys rule 4 and the candidates are what the stones leave."""
    check_board(state, HOUSES + tuple(cells_in(state, region) for region in range(NUMBERS)))
    light, dark = state["territory"]
    assert state["stage"] == shima.DRAFT or not (light & dark).any()
    assert np.bitwise_count(light | dark).sum() == 8 * NUMBERS * NUMBERS
    for row in state["territory"]:  # it repeats one board for each number
        for w in range(2):
            assert len({int(shima.word_of(row, n, w)) for n in range(NUMBERS)}) == 1
