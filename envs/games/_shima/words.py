"""Words that Sudoku Moyo and Sudoku Horikomi share: move names, sentences, scenes, checks."""

from __future__ import annotations

from typing import Any

from azumaya.envs.games._shima.board import (
    COLOUR,
    DARK,
    DRAFT,
    HANDICAP,
    LIGHT,
    NEUTRAL,
    NUMBER_ACTIONS,
    STARTER,
    STONES_ON,
)
from azumaya.envs.games._shima.stones import region_at, word_of
from azumaya.envs.games._shima.territory import FREE, territory_of
from azumaya.envs.games.digits import (
    candidates_of,
    check_board,
    dead_cells,
    digits_of,
    why_not_there,
)
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES, NUMBERS, SQUARES
from azumaya.envs.scene import Scene, Stone
from azumaya.envs.symmetries import Settings

Trays = tuple[tuple[str, tuple[Stone, ...]], ...]
"""Stones shown beside the board, under a heading each."""

BOARD_TEXT = """\
The board is a Sudoku board of 9x9 cells: columns a to i from left to right, rows 1 to 9 from
bottom to top. It is divided into nine regions of nine cells: four light, four dark and one
neutral. Unless told otherwise the regions are the 3x3 blocks, and the neutral one is the centre."""
"""The beginning of every `how_to_play`."""
OWNER_NAMES = ("light", "dark", "neutral")


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


def move_form(settings: Settings) -> str:
    """What names of moves look like."""
    choices = _choice_names(settings)
    also = f" or one of {', '.join(choices)}" if choices else ""
    return f"a digit and a square, such as 5e4{also}"


def action_cells(action: int, settings: Settings) -> tuple[int, ...]:
    """The cell on which a number is placed, or the cells of the region taken."""
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


# ---- sentences and displays ----


TASKS = {
    DRAFT: "draft a region (r1 to r9)",
    COLOUR: "choose a colour (light or dark)",
    STARTER: "choose who starts (start0 or start1)",
    HANDICAP: "place a handicap stone in the neutral region",
}


def explain_before(state: Any, action: int, settings: Settings) -> str | None:
    """The sentence for a step before play, or None where a number is placed."""
    name, stage = move_name(action, settings), int(state["stage"])
    number = action < NUMBER_ACTIONS
    if stage >= HANDICAP:
        return None if number else f"{name}: that step is over; a number is to be placed"
    fits = {
        DRAFT: name.startswith("r"),
        COLOUR: name in ("light", "dark"),
        STARTER: name.startswith("start"),
    }
    if number or not fits[stage]:
        return f"{name}: first {TASKS[stage]}"
    owner = owner_of(state, int(name[1:]) - 1) if stage == DRAFT else None
    if owner == NEUTRAL:
        return f"{name}: the neutral region cannot be drafted"
    if owner is not None:
        return f"{name}: that region has an owner already"
    return f"{name} is legal: the step before play is to {TASKS[stage]}"


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


def side(state: Any, player: int) -> str:
    """The colour that a player has, or will have unless they choose."""
    return OWNER_NAMES[player ^ int(state["light"])]


def side_name(state: Any, player: int) -> str:
    """A player with colour, like `player_0 (light)`."""
    return f"player_{player} ({side(state, player)})"


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
