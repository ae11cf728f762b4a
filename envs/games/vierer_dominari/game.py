"""Vierer-Dominari: the record of the game, its options and its starts."""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Game, Observation, Options, Rules
from azumaya.envs.games._dominari import words
from azumaya.envs.games._dominari.options import REFEREE, max_steps, words_of
from azumaya.envs.games.vierer_dominari import rules, text
from azumaya.envs.games.vierer_dominari.board import BOARD, SYMMETRIES
from azumaya.envs.games.vierer_dominari.rules import places
from azumaya.envs.geometry.dominari36 import SIZE
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings


def starts(settings: Settings) -> np.ndarray:
    """The empty board with white to move, `(1,)` states."""
    return words.empty_start(BOARD, places, settings)


VIERER = Game(
    name="vierer_dominari",
    title="Vierer-Dominari",
    rules=Rules.of(BOARD.state, rules, reset=draw_start),
    observation=Observation(shape=(SIZE, SIZE), planes=BOARD.planes),
    options=Options(
        known=(REFEREE,),
        starts=starts,
        num_actions=BOARD.num_actions,
        max_steps=max_steps,
        variants=(
            {},
            {"referee": False},
            {
                "referee": False,
                "position": "....../....../....../...ee./....d./....13 w claim=1 "
                "undo=....../....../....../....e./....d./....13 turns=194",
            },
        ),
    ),
    words=words_of(BOARD, text),
    symmetries=SYMMETRIES,
)
