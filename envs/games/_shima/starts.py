"""Start positions from options: the puzzles laid out, in the first stage that the options need."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states
from azumaya.envs.games._shima.before_play import begin_handicap
from azumaya.envs.games._shima.board import ALL_STONES, COLOUR, DRAFT, HANDICAP, PLAY
from azumaya.envs.games._shima.stones import lay_puzzles
from azumaya.envs.games._shima.territory import territory_of
from azumaya.envs.geometry.houses import first_clash, have_clashes
from azumaya.envs.geometry.sudoku81 import HOUSES, SQUARES
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.puzzles.choice import PuzzleSet
from azumaya.envs.symmetries import Settings
from azumaya.envs.whole import as_whole

HOUSES_OR_REGION = "row, column, block or region"
"""What contains each number once at most, by rule 4."""
MOST_HANDICAP = 9
"""The neutral region has nine cells, so no more handicap stones can ever be placed."""


def check_handicap(value: Any) -> tuple[int, int] | None:
    """The canonical form of the option `handicap`: (player, stones), at most nine stones.

    No stones become (0, 0) for either player, because a position text does not say who would place
    them.

    Raises:
        OptionError: the value is neither None nor a pair of a player and a number of stones.
    """
    if value is None:
        return None
    in_order = isinstance(value, tuple | list) or (
        isinstance(value, np.ndarray) and value.ndim == 1
    )
    player, stones = map(as_whole, value) if in_order and len(value) == 2 else (None, None)
    if player not in (0, 1) or stones is None or stones < 0:
        raise OptionError(
            f"handicap={brief(value)}: must be None or (player, stones) with player 0 or 1 and at "
            "least 0 stones"
        )
    return (player, min(stones, MOST_HANDICAP)) if stones else (0, 0)


def empty_states(count: int, dtype: np.dtype[Any], settings: Settings) -> np.ndarray:
    """Boards without stones, in the first stage that the settings need, `(count,)` states."""
    territory = territory_of(settings)
    states = np.zeros(count, dtype)
    states["candidates"] = ALL_STONES
    states["regions"] = territory.region_bits
    states["territory"] = territory.owner_stones
    states["chooses"] = settings["setup"] == "choose"
    if settings["handicap"] is not None:
        states["handicap_player"], states["handicap"] = settings["handicap"]
    if settings["territory"] == "draft":
        states["drafts"] = 1
        states["territory"] = np.bitwise_or.reduce(territory.owner_stones)  # free: in both
        states["stage"] = DRAFT
    else:
        states["stage"] = COLOUR if settings["setup"] == "choose" else HANDICAP
    return as_states(states)


def puzzle_starts(
    dtype: np.dtype[Any], settings: Settings, open_play: Any, **fields: int | np.uint64
) -> np.ndarray:
    """A state for each puzzle that the settings select, `(n,)` states.

    Puzzles of the shipped bank are left out if they break rule 4 (possible where regions are not
    houses) or leave the starter without a move.

    Args:
        dtype: the game's states.
        settings: the options.
        open_play: the game's kernel `open_play(state)`, called where play begins at once: it
            prepares the state and returns whether the player to move can place a stone.
        **fields: values for further fields of every state.

    Raises:
        OptionError: a puzzle of the user breaks rule 4 or leaves the starter without a move, or
            no puzzle of the bank is left.
    """
    puzzles: PuzzleSet = settings["puzzle"]
    digits = puzzles.digits
    houses = HOUSES + territory_of(settings).houses
    unknown = [house for house in houses if not (puzzles.bank and house in HOUSES)]
    broken = have_clashes(digits, unknown)
    if broken.any():
        if not puzzles.bank:
            raise OptionError(_where_broken(digits, int(broken.argmax()), houses))
        digits = digits[~broken]
    states = empty_states(len(digits), dtype, settings)
    for name, value in fields.items():
        states[name] = value
    lay_puzzles(states, digits)
    stuck = _begin_play_at_once(states, open_play)
    if stuck.any() and not puzzles.bank:
        raise OptionError(
            f"puzzle {int(stuck.argmax()) + 1}: the player who starts cannot place a stone"
        )
    if stuck.all():
        raise OptionError(f"territory: none of the {len(puzzles.digits)} puzzles fits it")
    return states[~stuck]


def _begin_play_at_once(states: np.ndarray, open_play: Any) -> np.ndarray:
    """Begin play in states whose settings have no stage before it.

    Returns where the starter cannot place a stone, `(n,)` bool.
    """
    stuck = np.zeros(len(states), bool)
    if states["stage"].size and states["stage"][0] == HANDICAP:
        _begin_all_kernel(open_play)(states, stuck)
    return stuck


@functools.cache
def _begin_all_kernel(open_play: Any) -> Any:
    """The kernel `begin_all(states, stuck)`, `(n,)` each: begin the handicap, or open play."""

    @kernel
    def begin_all(states, stuck):
        for i in range(states.shape[0]):
            begin_handicap(states[i])
            if states[i].stage == PLAY:
                stuck[i] = not open_play(states[i])

    return begin_all


def _where_broken(digits: np.ndarray, index: int, houses: Sequence[Sequence[int]]) -> str:
    clash = first_clash(digits[index].tolist(), houses)
    assert clash is not None
    return f"puzzle {index + 1}: {clash.text(SQUARES, HOUSES_OR_REGION)}"
