"""The match of two games of Sudoku Moyo: its record and its starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from azumaya.envs.games._shima.board import MAX_STEPS
from azumaya.envs.games._shima.options import NEARLY_FULL
from azumaya.envs.games._shima.territory import moved_options
from azumaya.envs.games.sudoku_moyo.game import MOYO
from azumaya.envs.games.sudoku_moyo_match import rules, text
from azumaya.envs.games.sudoku_moyo_match.board import PLANES, STATE, SYMMETRIES
from azumaya.envs.games.sudoku_moyo_match.text import as_matches, with_points
from azumaya.envs.symmetries import Settings


def starts(settings: Settings) -> np.ndarray:
    """The starts of the match, `(n,)` states: those of its first game."""
    return as_matches(MOYO.options.starts(with_points(settings)), settings)


MATCH = replace(
    MOYO,
    name="sudoku_moyo_match",
    title="Sudoku Moyo, a match of two games",
    rules=replace(
        MOYO.rules,
        state=STATE,
        play=rules.play,
        observe=rules.observe,
    ),
    observation=replace(MOYO.observation, planes=PLANES),
    options=replace(
        MOYO.options,
        starts=starts,
        max_steps=lambda settings: 2 * MAX_STEPS,
        payoff_bound=lambda settings: 1,
        variants=(
            {},
            {"puzzle": NEARLY_FULL},
            {"puzzle": NEARLY_FULL, "setup": "choose", "handicap": (1, 1)},
            {"territory": "draft", "setup": "choose", "handicap": (0, 4)},
        ),
    ),
    words=replace(
        MOYO.words,
        write_text=text.write_text,
        read_text=text.read_text,
        explain=text.explain,
        scene=text.scene,
        check_state=text.check_state,
    ),
    symmetries=replace(SYMMETRIES, options=moved_options),
)
