"""Sudoku Horikomi: the record of the game, its options and its starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azumaya.envs.game import Game, Observation, Options, Rules, Words
from azumaya.envs.games._shima import words
from azumaya.envs.games._shima.board import MAX_STEPS
from azumaya.envs.games._shima.options import SHARED_OPTIONS, SHARED_VARIANTS
from azumaya.envs.games._shima.starts import puzzle_starts
from azumaya.envs.games._shima.territory import moved_options
from azumaya.envs.games.sudoku_horikomi import rules, text
from azumaya.envs.games.sudoku_horikomi.board import PLANES, STATE, SYMMETRIES
from azumaya.envs.games.sudoku_horikomi.rules import FULL_STOCK, open_play
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings


def starts(settings: Settings) -> np.ndarray:
    """The starts of Sudoku Horikomi, `(n,)` states."""
    return puzzle_starts(STATE, settings, open_play, stock=FULL_STOCK)


HORIKOMI = Game(
    name="sudoku_horikomi",
    title="Sudoku Horikomi",
    rules=Rules.of(STATE, rules, reset=draw_start),
    observation=Observation(shape=(9, 9), planes=PLANES, houses_only=True),
    options=Options(
        known=SHARED_OPTIONS,
        starts=starts,
        num_actions=words.num_actions,
        max_steps=lambda settings: MAX_STEPS,
        variants=SHARED_VARIANTS,
    ),
    words=Words.of(text, words, how_to_play=text.HOW_TO_PLAY, idea=text.IDEA, minutes=15),
    symmetries=replace(SYMMETRIES, options=moved_options),
)
