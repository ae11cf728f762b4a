"""The options `start` and `draws`, and the start that they describe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states, plain_text
from azumaya.envs.games.sudoku_words import ALPHABET, read_digits
from azumaya.envs.games.tiles.board import (
    ALL_TILES,
    DEALT,
    EACH,
    ONE_EACH,
    RANDOM,
    STATE,
    TILE_COUNT,
)
from azumaya.envs.games.tiles.deal import fits, lay, put_tile, tile_at
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, FULL, HOUSES, SQUARES
from azumaya.envs.kernels.bits import U64, nibble
from azumaya.envs.symmetries import Settings

KINDS = {"random": RANDOM, "one_each": ONE_EACH}
"""The named starts, as `state.deal`."""
DIGITS = "123456789"


# ---- options ----


def check_start(value: Any) -> str:
    """The canonical form of the option `start`: `random`, `one_each` or 81 of `.` and 1-9.

    Raises:
        OptionError: the value has another form, or its board breaks the Sudoku rule.
    """
    if isinstance(value, str) and value in KINDS:
        return plain_text(value)
    if not isinstance(value, str) or len(value) != CELLS or set(value) - set(ALPHABET + "0"):
        raise OptionError(
            f"start={brief(value)}: must be 'random', 'one_each' or 81 characters, digits and '.'"
        )
    board = plain_text(value).replace("0", ".")
    clash = first_clash(read_digits(board), HOUSES)
    if clash is not None:
        raise OptionError(f"start: {clash.text(SQUARES)}")
    return board


def check_draws(value: Any) -> str:
    """The canonical form of the option `draws`: digits 1-9, at most nine of each.

    Raises:
        OptionError: the value has another form, or too many tiles of a number.
    """
    if not isinstance(value, str) or set(value) - set(DIGITS):
        raise OptionError(f"draws={brief(value)}: must be a text of digits from 1 to 9")
    _check_nine_each(Counter(map(int, value)), "")
    return plain_text(value)


def _check_nine_each(tiles: Mapping[int, int], where: str) -> None:
    for number, count in sorted(tiles.items()):
        if count > EACH:
            raise OptionError(
                f"draws: {count} tiles with the {number}{where}; there are nine of each number"
            )


# ---- starts ----


def starts(settings: Settings) -> np.ndarray:
    """The start from which `reset` deals, `(1,)` states.

    Raises:
        OptionError: `start` and `draws` together leave no possible start.
    """
    start, draws = settings["start"], settings["draws"] or ""
    states = empty_states(settings)
    if start in KINDS:
        states["deal"] = KINDS[start]
        _check_dealable(start, draws)
        laid = DEALT
    else:
        digits = read_digits(start)
        lay_all(states, digits)
        laid = sum(d > 0 for d in digits)
        _check_nine_each(Counter(d for d in [*digits, *map(int, draws)] if d), " with the start")
    states["height"] = TILE_COUNT - laid - 1
    if draws:
        show_tile(states, int(draws[0]))
        fix_draws(states, draws[1:])
    if start not in KINDS:
        _check_first(states)
    return states


def empty_states(settings: Settings) -> np.ndarray:
    """An empty board with all 81 tiles still to be drawn, `(1,)` states."""
    states = as_states(np.zeros(1, STATE))
    states["candidates"] = FULL
    states["empty"] = FULL
    states["left"] = ALL_TILES
    states["misplacement"] = settings["misplacement"]
    states["points"] = settings["reward"] == "points"
    return states


def lay_all(states: np.ndarray, digits: Sequence[int]) -> None:
    """Lay a tile on every cell whose digit is not 0; `states` is `(1,)`."""
    for cell, digit in enumerate(digits):
        if digit:
            lay(states[0], digit - 1, cell)
            states["left"] -= _one(digit)


def _one(number: int) -> np.uint64:
    return U64(1 << 4 * (number - 1))


def show_tile(states: np.ndarray, number: int) -> None:
    """Make a tile of a number the one drawn."""
    states["tile"] = number
    states["left"] -= _one(number)


def fix_draws(states: np.ndarray, draws: str) -> None:
    """Put the tiles that the user has chosen on top of the pile, the first one uppermost."""
    state = states[0]
    for k, digit in enumerate(draws, start=1):
        put_tile(state, int(state["height"]) - k, int(digit))
    states["fixed"] = len(draws)


def _check_dealable(start: str, draws: str) -> None:
    """Refuse draws that leave too few tiles for a start on which the first tile fits."""
    counts = Counter(map(int, draws))
    if start == "one_each":
        _check_nine_each({n: count + 1 for n, count in counts.items()}, " with the start")
    if len(draws) > TILE_COUNT - DEALT:
        raise OptionError(
            f"draws: {len(draws)} tiles, but after the start {TILE_COUNT - DEALT} are left"
        )
    # If eight of the nine tiles of a start have the same number, the ninth lies where the one free
    # row and column cross, and the number fits nowhere. With seven there is a start on which it
    # fits.
    others = TILE_COUNT - len(draws) - (EACH - counts[int(draws[0])]) if draws else TILE_COUNT
    if others < 2:
        raise OptionError(f"draws: they leave no start on which the first tile, {draws[0]}, fits")


def _check_first(states: np.ndarray) -> None:
    """Refuse a board on which the chosen first tile, or every tile that is left, does not fit."""
    state = states[0]
    tile = int(state["tile"])
    if tile and not fits(state, tile - 1):
        raise OptionError(f"start: the first tile, {tile}, fits nowhere")
    if not any(nibble(state["left"], n) + (n + 1 == tile) and fits(state, n) for n in range(9)):
        raise OptionError("start: none of the tiles that are left fits")


def revealed(state: Any, since: Any | None = None) -> Mapping[str, str]:
    """The option `draws` that repeats the tiles drawn since a state, or since the episode began.

    The first tile is left out: the state shows it.
    """
    began = state["began"] if since is None else since["height"]
    drawn = range(int(began) - 1, int(state["height"]) - 1, -1)
    return {"draws": "".join(str(int(tile_at(state, k))) for k in drawn)}
