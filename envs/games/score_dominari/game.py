"""Score-Dominari: the record of the game, its options and its starts."""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Game, Observation, Options, Rules
from azumaya.envs.games._dominari import turn, words
from azumaya.envs.games._dominari.options import REFEREE, REWARD, max_steps, payoff_bound, words_of
from azumaya.envs.games.score_dominari import rules, text
from azumaya.envs.games.score_dominari.board import BOARD, SYMMETRIES
from azumaya.envs.games.score_dominari.rules import places
from azumaya.envs.geometry.dominari36 import SIZE
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings


def starts(settings: Settings) -> np.ndarray:
    """The empty board with white to move, `(1,)` states."""
    return words.empty_start(BOARD, places, settings)


SCORE = Game(
    name="score_dominari",
    title="Score-Dominari",
    rules=Rules.of(BOARD.state, rules, reset=draw_start, evaluate=turn.lead),
    observation=Observation(shape=(SIZE, SIZE), planes=BOARD.planes),
    options=Options(
        known=(REFEREE, REWARD),
        starts=starts,
        num_actions=BOARD.num_actions,
        max_steps=max_steps,
        payoff_bound=payoff_bound,
        variants=(
            {},
            {"reward": "margin"},
            {"referee": False},
            {
                "referee": False,
                "position": ".....a/....ee/....../....../....../1..... w claim=1 "
                "undo=.....a/.....e/....../....../....../1..... turns=194",
            },
            {"referee": False, "reward": "margin"},
        ),
    ),
    words=words_of(BOARD, text),
    symmetries=SYMMETRIES,
)
