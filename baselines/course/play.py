"""Notebook 2: intervals, and an agent that looks one move ahead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.baselines.arena.intervals import Z95, wilson
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.course.verdict import WrongAnswerError, checked, numbers, require, returned
from azumaya.envs import IllegalActionError
from azumaya.envs.adapters.duel.opponents import is_agent
from azumaya.envs.errors import brief

GAME = "score_dominari"
STARTS = 60
TOLERANCE = 1e-3


def interval(wins: int, games: int) -> tuple[float, float]:
    """The course's answer: Wilson's 95 % interval for the chance to win."""
    return wilson(wins / games, games)


@checked(interval)
def check_interval(answer: Callable[[int, int], tuple[float, float]]) -> str:
    """Check `answer(wins, games)`, which returns both ends of Wilson's 95 % interval."""
    for wins, games in [(5, 10), (0, 20), (20, 20), (13, 17), (730, 1000)]:
        given = returned(answer, wins, games)
        low, high = map(float, numbers(given, (2,), "two numbers, both ends of the interval"))
        right = interval(wins, games)
        if not math.dist((low, high), right) <= TOLERANCE:  # nor if it is not a number
            _refuse_interval(wins, games, (low, high), right)
    return "five intervals agree, those of 0 of 20 and of 20 of 20 among them."


def _refuse_interval(
    wins: int, games: int, given: tuple[float, float], right: tuple[float, float]
) -> None:
    share = wins / games
    half = Z95 * math.sqrt(share * (1 - share) / games)
    hint = ""
    if math.dist(given, (share - half, share + half)) < TOLERANCE:
        hint = " Yours is the normal interval, whose middle is the observed share."
    elif math.dist(given, right[::-1]) < TOLERANCE:
        hint = " The lower end comes first."
    require(
        False,
        f"for {wins} wins in {games} games yours is {given[0]:.3f} to {given[1]:.3f}, "
        f"and Wilson's is {right[0]:.3f} to {right[1]:.3f}.{hint}",
    )


@checked(GreedyAgent)
def check_agent(answer: Any) -> str:
    """Check that an agent beats the random one at Score-Dominari, from both seats.

    Args:
        answer: the agent, an object with `act(positions, keys)`.
    """
    require(
        is_agent(answer),
        f"the answer is {brief(answer)}; it should be an agent, an object with a method "
        "act(positions, keys).",
    )
    try:
        score = play_pairing(GAME, answer, RandomAgent(), starts=STARTS, seed=1, balanced=False)
    except IllegalActionError as error:
        raise WrongAnswerError(f"your agent cannot play: {error}") from error
    low, high = score.interval()
    played = (
        f"{100 * score.rate:.0f} % of {score.games} games ({100 * low:.0f} to {100 * high:.0f})"
    )
    require(
        high > 0.5,
        f"your agent is worse than random: {played}. Does it look from the right side? The player "
        "who moves chooses, and position.to_move may be another one after the move.",
    )
    require(low > 0.5, f"your agent is not clearly better than random: {played}.")
    return f"your agent wins {played}; random play would win 50 %."
