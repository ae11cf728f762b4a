"""Sudoku Moyo: the record of the game, its options and its starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azumaya.envs.game import Game, Observation, Option, Options, Rules, Words, one_of
from azumaya.envs.games._shima import words
from azumaya.envs.games._shima.board import MAX_STEPS, SYMMETRIES
from azumaya.envs.games._shima.options import (
    EMPTY_BOARD,
    NEARLY_FULL,
    SHARED_OPTIONS,
    SHARED_VARIANTS,
)
from azumaya.envs.games._shima.starts import puzzle_starts
from azumaya.envs.games._shima.territory import moved_options
from azumaya.envs.games.sudoku_moyo import rules, text
from azumaya.envs.games.sudoku_moyo.board import PLANES, STATE
from azumaya.envs.games.sudoku_moyo.lesson import LESSON
from azumaya.envs.games.sudoku_moyo.rules import starter_can_move
from azumaya.envs.geometry.sudoku81 import CELLS
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings


def starts(settings: Settings) -> np.ndarray:
    """The starts of Sudoku Moyo, `(n,)` states."""
    points = settings["scoring"] == "points"
    return puzzle_starts(STATE, settings, starter_can_move, points=points)


SCORING = Option(
    "scoring",
    "win",
    '`"win"`, `"points"`',
    "`points`: the winner goes on placing stones while any fits; the reward is the number "
    "of stones placed after the opponent's last one.",
    one_of("scoring", "win", "points"),
)

VARIANTS: tuple[Settings, ...] = (
    *SHARED_VARIANTS,
    {"scoring": "points"},
    {"scoring": "points", "setup": "choose", "territory": "rows", "puzzle": EMPTY_BOARD},
    {"scoring": "points", "territory": "draft", "setup": "choose", "handicap": (0, 4)},
    {"scoring": "points", "setup": "choose", "handicap": (1, 1), "puzzle": NEARLY_FULL},
)

MOYO = Game(
    name="sudoku_moyo",
    title="Sudoku Moyo",
    rules=Rules.of(STATE, rules, reset=draw_start),
    observation=Observation(shape=(9, 9), planes=PLANES, houses_only=True),
    options=Options(
        known=(*SHARED_OPTIONS, SCORING),
        starts=starts,
        num_actions=words.num_actions,
        max_steps=lambda settings: MAX_STEPS,
        payoff_bound=lambda settings: CELLS if settings["scoring"] == "points" else 1,
        variants=VARIANTS,
    ),
    words=Words.of(
        text,
        words,
        how_to_play=text.HOW_TO_PLAY,
        idea=text.IDEA,
        lesson=LESSON,
        minutes=10,
        draws=False,
    ),
    symmetries=replace(SYMMETRIES, options=moved_options),
)
