"""The records of Vierer-, Revers- and Score-Dominari: rules, options and words put together."""

from __future__ import annotations

from typing import Any

from azumaya.envs.game import Game, Hints, Observation, Option, Options, Rules, Words, one_of
from azumaya.envs.games.dominari import (
    revers,
    revers_words,
    score,
    score_words,
    turn,
    vierer,
    vierer_words,
)
from azumaya.envs.games.dominari.board import (
    REVERS_BOARD,
    REVERS_SYMMETRIES,
    SCORE_BOARD,
    SCORE_SYMMETRIES,
    TURN_LIMIT,
    TURN_STEPS,
    VIERER_BOARD,
    VIERER_SYMMETRIES,
    Board,
)
from azumaya.envs.games.dominari.words import (
    NO_REFEREE_TEXT,
    cell_finder,
    explainer,
    move_namer,
    move_parser,
)
from azumaya.envs.geometry.dominari36 import CELLS, SIZE
from azumaya.envs.kernels.rng import draw_start
from azumaya.envs.symmetries import Settings

REFEREE = Option(
    "referee",
    True,
    "`True`, `False`",
    "`False`: numbers may be laid against the Sudoku rule, and the opponent may claim such a turn.",
    one_of("referee", True, False),
    rules=NO_REFEREE_TEXT,
)
REWARD = Option(
    "reward",
    "win",
    '`"win"`, `"margin"`',
    "`margin`: the winner gets the difference of the points, the loser its negative.",
    one_of("reward", "win", "margin"),
)
CENTRE = Option(
    "centre",
    None,
    "four different digits, or None",
    "The numbers on c4, d4, c3 and d3 at the start; None: drawn by the seed.",
    revers_words.check_centre,
    start_only=True,
)


def _rules(board: Board, kernels: Any, evaluate: Any) -> Rules:
    return Rules(
        state=board.state,
        reset=draw_start,
        play=kernels.play,
        write_legal=kernels.write_legal,
        observe=kernels.observe,
        evaluate=evaluate,
    )


def _words(board: Board, own: Any) -> Words:
    """A game's words: those that the games share, and those of its own module."""
    return Words(
        move_name=move_namer(board),
        parse_move=move_parser(board),
        action_cells=cell_finder(board),
        write_text=own.write_text,
        read_text=own.read_text,
        explain=explainer(board, own.where),
        scene=own.scene,
        check_state=own.check_state,
        how_to_play=own.HOW_TO_PLAY,
    )


def _max_steps(settings: Settings) -> int:
    """Every cell takes a stone and each number is followed by at most one `end`."""
    return 2 * CELLS if settings["referee"] else TURN_LIMIT * TURN_STEPS


def _payoff_bound(settings: Settings) -> int:
    return turn.MOST_POINTS if settings["reward"] == "margin" else 1


def _max_steps_from_centre(settings: Settings) -> int:
    """`_max_steps` of Revers-Dominari, where the centre is filled at the start."""
    return _max_steps(settings) - (2 * len(revers.CENTRE) if settings["referee"] else 0)


VIERER = Game(
    name="vierer_dominari",
    title="Vierer-Dominari",
    rules=_rules(VIERER_BOARD, vierer, vierer.evaluate),
    observation=Observation(shape=(SIZE, SIZE), planes=VIERER_BOARD.planes),
    options=Options(
        known=(REFEREE,),
        starts=vierer_words.starts,
        num_actions=VIERER_BOARD.num_actions,
        max_steps=_max_steps,
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
    words=_words(VIERER_BOARD, vierer_words),
    symmetries=VIERER_SYMMETRIES,
    hints=Hints(bounds=vierer.bounds, rank=vierer.evaluate),
)

REVERS = Game(
    name="revers_dominari",
    title="Revers-Dominari",
    rules=_rules(REVERS_BOARD, revers, turn.lead),
    observation=Observation(shape=(SIZE, SIZE), planes=REVERS_BOARD.planes),
    options=Options(
        known=(REFEREE, REWARD, CENTRE),
        starts=revers_words.starts,
        num_actions=REVERS_BOARD.num_actions,
        max_steps=_max_steps_from_centre,
        payoff_bound=_payoff_bound,
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
    words=_words(REVERS_BOARD, revers_words),
    symmetries=REVERS_SYMMETRIES,
    hints=Hints(reach=revers.reach, takes=revers.takes),
)

SCORE = Game(
    name="score_dominari",
    title="Score-Dominari",
    rules=_rules(SCORE_BOARD, score, turn.lead),
    observation=Observation(shape=(SIZE, SIZE), planes=SCORE_BOARD.planes),
    options=Options(
        known=(REFEREE, REWARD),
        starts=score_words.starts,
        num_actions=SCORE_BOARD.num_actions,
        max_steps=_max_steps,
        payoff_bound=_payoff_bound,
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
    words=_words(SCORE_BOARD, score_words),
    symmetries=SCORE_SYMMETRIES,
    hints=Hints(bounds=score.bounds, reach=score.reach),
)
