"""Revers-Dominari: the record of the game, its options and its starts."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import Game, Observation, Option, Options, Rules, plain_text
from azumaya.envs.games._dominari import texts, turn, words
from azumaya.envs.games._dominari.board import WHITE
from azumaya.envs.games._dominari.options import REFEREE, REWARD, max_steps, payoff_bound, words_of
from azumaya.envs.games.revers_dominari import rules, text
from azumaya.envs.games.revers_dominari.board import BOARD, SYMMETRIES
from azumaya.envs.games.revers_dominari.rules import CENTRE, CENTRE_COLOURS, places
from azumaya.envs.geometry.dominari36 import CELLS, SIZE
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings


def check_centre(value: Any) -> str:
    """The option `centre`: its canonical value, or `OptionError`."""
    known = isinstance(value, str) and len(value) == len(CENTRE) and set(value) <= set("123456")
    if not known or len(set(value)) < len(CENTRE):
        raise OptionError(
            f"centre={brief(value)}: must be a string of four different digits from 1 to 6, for "
            "c4, d4, c3 and d3"
        )
    return plain_text(value)


def starts(settings: Settings) -> np.ndarray:
    """Every way to fill the centre, or the one asked for, with white to move: `(n,)` states."""
    centre = settings["centre"]
    centres = list(permutations("123456", len(CENTRE))) if centre is None else [tuple(centre)]
    states = words.empty_states(BOARD, settings, len(centres))
    for state, numbers in zip(states, centres, strict=True):
        marks = [texts.EMPTY] * CELLS
        for cell, colour, number in zip(CENTRE, CENTRE_COLOURS, numbers, strict=True):
            marks[cell] = texts.DIGITS[colour][int(number) - 1]
        texts.lay_marks(state, marks)
        state["targets"] = places(state, WHITE)
    return states


CENTRE_OPTION = Option(
    "centre",
    None,
    "four different digits, or None",
    "The numbers on c4, d4, c3 and d3 at the start; None: drawn by the seed.",
    check_centre,
    start_only=True,
)


def _max_steps_from_centre(settings: Settings) -> int:
    """`max_steps` of Revers-Dominari, where the centre is filled at the start."""
    return max_steps(settings) - (2 * len(CENTRE) if settings["referee"] else 0)


REVERS = Game(
    name="revers_dominari",
    title="Revers-Dominari",
    rules=Rules.of(BOARD.state, rules, reset=draw_start, evaluate=turn.lead),
    observation=Observation(shape=(SIZE, SIZE), planes=BOARD.planes),
    options=Options(
        known=(REFEREE, REWARD, CENTRE_OPTION),
        starts=starts,
        num_actions=BOARD.num_actions,
        max_steps=_max_steps_from_centre,
        payoff_bound=payoff_bound,
        variants=(
            {},
            {"reward": "margin"},
            {"centre": "1234"},
            {"referee": False},
            {
                "referee": False,
                "position": "....../..fa../.5bc../2cdf../.e..../...... w claim=1 "
                "undo=....../..fa../.5bc../23df../....../...... turns=194",
            },
            {"referee": False, "reward": "margin", "centre": "6135"},
        ),
    ),
    words=words_of(BOARD, text),
    symmetries=SYMMETRIES,
)
