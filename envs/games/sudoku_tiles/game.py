"""Sudoku tiles: the record of the game, its options and its starts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import Game, Observation, Option, Options, Rules, Words, one_of, plain_text
from azumaya.envs.games.digits import ALPHABET, read_digits
from azumaya.envs.games.sudoku_tiles import rules, text
from azumaya.envs.games.sudoku_tiles.board import (
    DEALT,
    EACH,
    MOST_POINTS,
    ONE_EACH,
    PLANES,
    RANDOM,
    STATE,
    SYMMETRIES,
    TILE_COUNT,
)
from azumaya.envs.games.sudoku_tiles.rules import fits, tile_at
from azumaya.envs.games.sudoku_tiles.text import empty_states, fix_draws, lay_all, show_tile
from azumaya.envs.geometry.houses import first_clash
from azumaya.envs.geometry.sudoku81 import CELLS, HOUSES, SQUARES
from azumaya.envs.kernels.bits import nibble
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


# ---- the game ----

OPTIONS = (
    Option(
        "start",
        "random",
        '`"random"`, `"one_each"` or 81 characters (`.` or `0` = empty)',
        "The tiles on the board: nine at random, one in each row and column; the numbers 1 "
        "to 9 once each, one in each row, column and block; or any board that obeys "
        "the Sudoku rule and has a cell for the first tile.",
        check_start,
        start_only=True,
    ),
    Option(
        "draws",
        None,
        "digits 1-9 or None",
        "The tiles drawn first, in this order; the others are drawn by the seed. With a "
        "position text they follow its drawn tile, up to the first that is no longer left.",
        check_draws,
        start_only=True,
    ),
    Option(
        "misplacement",
        False,
        "`False`, `True`",
        "Every empty cell is an action; a tile placed against the Sudoku rule scores 0 and is "
        "put aside for good.",
        one_of("misplacement", False, True),
    ),
    Option(
        "reward",
        "win",
        '`"win"`, `"points"`',
        "`win`: +1, -1 or 0 at the end. `points`: whoever places a tile gets its points, the "
        "opponent their negative, at once; nothing more at the end.",
        one_of("reward", "win", "points"),
    ),
)

CROWDED = "..4678.126.2195348198342567859761423.2685379171392485696153728428741.6.534528617."
"""A board with so few empty cells that the tiles may run out."""

VARIANTS: tuple[Settings, ...] = (
    {},
    {"start": "one_each"},
    {"misplacement": True},
    {"reward": "points"},
    {"start": CROWDED},
    {"start": CROWDED, "misplacement": True},
    {"start": "one_each", "draws": "5938", "misplacement": True, "reward": "points"},
    {"start": "1" + "." * 80, "draws": "123456789", "reward": "points"},
)

TILES = Game(
    name="sudoku_tiles",
    title="Sudoku tiles",
    rules=Rules.of(STATE, rules, hidden=("pile", "fixed", "began")),
    observation=Observation(shape=(9, 9), planes=PLANES, houses_only=True),
    options=Options(
        known=OPTIONS,
        starts=starts,
        num_actions=lambda settings: CELLS,
        max_steps=lambda settings: TILE_COUNT,
        payoff_bound=lambda settings: MOST_POINTS if settings["reward"] == "points" else 1,
        variants=VARIANTS,
    ),
    words=Words.of(
        text,
        how_to_play=text.HOW_TO_PLAY,
        idea=text.IDEA,
        minutes=15,
        action_cells=lambda action, settings: (action,),
        revealed=revealed,
    ),
    symmetries=SYMMETRIES,
)
