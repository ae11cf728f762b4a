"""Abalone: the record of the game, its options and its starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, PositionError, brief, did_you_mean
from azumaya.envs.game import Game, Observation, Option, Options, Rules, Words, one_of, plain_text
from azumaya.envs.games.abalone import rules, text
from azumaya.envs.games.abalone.board import (
    ACTIONS,
    BLACK,
    MOST_PLIES,
    PLANES,
    STATE,
    SYMMETRIES,
    WHITE,
)
from azumaya.envs.games.abalone.text import new_state, read_text
from azumaya.envs.geometry.hex61 import CELL, SIZE, board
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings
from azumaya.envs.whole import whole_number

# ---- options and starts ----

_LAYOUTS = {
    "standard": (
        "a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 b6 c3 c4 c5",
        "i5 i6 i7 i8 i9 h4 h5 h6 h7 h8 h9 g5 g6 g7",
    ),
    "belgian_daisy": (
        "a1 a2 b1 b2 b3 c2 c3 g7 g8 h7 h8 h9 i8 i9",
        "a4 a5 b4 b5 b6 c5 c6 g4 g5 h4 h5 h6 i5 i6",
    ),
    "german_daisy": (
        "b1 b2 c1 c2 c3 d2 d3 f7 f8 g7 g8 g9 h8 h9",
        "b5 b6 c5 c6 c7 d6 d7 f3 f4 g3 g4 g5 h4 h5",
    ),
    "swiss_daisy": (
        "b1 b2 c1 c3 c6 d2 d3 f7 f8 g4 g7 g9 h8 h9",
        "b5 b6 c2 c5 c7 d6 d7 f3 f4 g3 g5 g8 h4 h5",
    ),
    "dutch_daisy": (
        "a1 a2 b1 b3 b5 c2 c3 g7 g8 h5 h7 h9 i8 i9",
        "a4 a5 b2 b4 b6 c5 c6 g4 g5 h4 h6 h8 i5 i6",
    ),
    "snakes": (
        "a1 a2 a3 a4 a5 b1 c1 d1 e2 f3 f4 f5 f6 f7",
        "d3 d4 d5 d6 d7 e8 f9 g9 h9 i5 i6 i7 i8 i9",
    ),
    "alien_attack": (
        "a1 a3 a5 b2 b5 c2 c4 c6 d4 d5 g5 g7 h6 h7",
        "b3 b4 c3 c5 f5 f6 g4 g6 g8 h5 h8 i5 i7 i9",
    ),
    "domination": (
        "b6 c6 c7 d6 d7 d8 e4 e6 f2 f3 f4 g3 g4 h4",
        "b1 c1 c2 d1 d2 d3 d4 f6 f7 f8 f9 g8 g9 h9",
    ),
}

LAYOUTS = {
    name: tuple(tuple(CELL[square] for square in squares.split()) for squares in both)
    for name, both in _LAYOUTS.items()
}
"""By name, the cells of the black and of the white marbles."""


def check_layout(value: Any) -> str:
    """The option `layout`: a name, or a position text, which is read only for the start."""
    if isinstance(value, str) and (value in LAYOUTS or "/" in value):
        return plain_text(value)
    known = ", ".join(repr(name) for name in LAYOUTS)
    hint = did_you_mean(value, LAYOUTS)
    raise OptionError(f"layout={brief(value)}: must be one of {known}, or a position text{hint}")


def check_plies(value: Any) -> int:
    """The option `max_plies`: its canonical value, or `OptionError`."""
    return whole_number(value, "max_plies", 0, MOST_PLIES)


def starts(settings: Settings) -> np.ndarray:
    """The layout, `(1,)` states; raises `PositionError` for a text from which no game can start."""
    layout = settings["layout"]
    if layout not in LAYOUTS:
        return _start_from(layout, settings)
    states = new_state(settings)
    for player in (BLACK, WHITE):
        states["marbles"][0, player] = board(LAYOUTS[layout][player])
    return states


def _start_from(text: str, settings: Settings) -> np.ndarray:
    try:
        states = read_text(text, settings)
    except PositionError as error:
        raise PositionError(str(error).replace("position", "layout", 1)) from None
    if states["over"][0]:
        raise PositionError("layout: the game is over in it, so no episode can start there")
    return states


LAYOUT = Option(
    "layout",
    "standard",
    ", ".join(f'`"{name}"`' for name in LAYOUTS) + ", or a position text",
    "How the marbles lie at the start.",
    check_layout,
    start_only=True,
)
PLY_LIMIT = Option(
    "max_plies",
    400,
    f"0 to {MOST_PLIES}",
    "After this many steps the game is truncated, a draw unless `tiebreak` decides it; 0: never.",
    check_plies,
)
TIEBREAK = Option(
    "tiebreak",
    None,
    '`None`, `"marbles"`',
    "`marbles`: at `max_plies` whoever has pushed out more marbles wins; equal numbers draw.",
    one_of("tiebreak", "marbles"),
)

CLOSE_COMBAT = (
    "wwwww/bbbbbb/w.....b/..bww..b/.wwbbbw../b..wwb../b.....w/wwwwww/bbbbb b out=5,5 ply=7"
)
"""A start in which one marble more decides, for the variants."""
CORNERED = "...../....../......./......../........./......../b....../.b..../wb... b out=0,0"
"""A start in which white, whose marble is in the corner, may soon have no move."""

ABALONE = Game(
    name="abalone",
    title="Abalone",
    rules=Rules.of(STATE, rules, reset=draw_start),
    observation=Observation(shape=(SIZE, SIZE), planes=PLANES),
    options=Options(
        known=(LAYOUT, PLY_LIMIT, TIEBREAK),
        starts=starts,
        num_actions=lambda settings: ACTIONS,
        max_steps=lambda settings: int(settings["max_plies"]) or rules.NO_BOUND,
        variants=(
            {},
            {"layout": "belgian_daisy", "max_plies": 60, "tiebreak": "marbles"},
            {"layout": "german_daisy", "max_plies": 9},
            {"layout": "swiss_daisy", "max_plies": 40, "tiebreak": "marbles"},
            {"layout": "dutch_daisy", "max_plies": 200},
            {"layout": CLOSE_COMBAT, "max_plies": 0},
            {"layout": CORNERED, "max_plies": 30},
        ),
    ),
    words=Words.of(text, how_to_play=text.HOW_TO_PLAY, idea=text.IDEA, minutes=20),
    symmetries=SYMMETRIES,
)
