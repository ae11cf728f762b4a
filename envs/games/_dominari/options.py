"""What the records of Vierer-, Revers- and Score-Dominari share: options, bounds, words."""

from __future__ import annotations

from types import ModuleType

from azumaya.envs.game import Option, Words, one_of
from azumaya.envs.games._dominari import turn
from azumaya.envs.games._dominari.board import TURN_LIMIT, TURN_STEPS, Board
from azumaya.envs.games._dominari.words import (
    NO_REFEREE_TEXT,
    cell_finder,
    explainer,
    form_of_moves,
    move_namer,
    side,
)
from azumaya.envs.geometry.dominari36 import CELLS
from azumaya.envs.symmetries import Settings

REFEREE = Option(
    "referee",
    True,
    "`True`, `False`",
    "`False`: numbers may be placed against the Sudoku rule, and the opponent may claim such a "
    "turn.",
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


def words_of(board: Board, own: ModuleType) -> Words:
    """A game's words: those that the games share, and those of its own module."""
    return Words.of(
        own,
        how_to_play=own.HOW_TO_PLAY,
        idea=own.IDEA,
        minutes=own.MINUTES,
        side=side,
        move_name=move_namer(board),
        move_form=form_of_moves(board),
        action_cells=cell_finder(board),
        explain=explainer(board, own.where),
    )


def max_steps(settings: Settings) -> int:
    """Every cell takes a stone and each number is followed by at most one `end`."""
    return 2 * CELLS if settings["referee"] else TURN_LIMIT * TURN_STEPS


def payoff_bound(settings: Settings) -> int:
    return turn.MOST_POINTS if settings["reward"] == "margin" else 1
