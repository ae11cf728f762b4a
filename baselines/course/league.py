"""Notebook 8: ratings from the results of a league."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from azumaya.baselines.course.verdict import checked, numbers, require, returned

POINTS = 400 / np.log(10)
"""Elo points for each unit of the natural logarithm of strength."""
TOLERANCE = 1.0
"""How far a rating may be off, in Elo points."""
ROUNDS = 3000
Ratings = Callable[[np.ndarray], np.ndarray]


def bradley_terry(wins: np.ndarray) -> np.ndarray:
    """The course's answer: Elo ratings with the mean 0, `(n,)`, by Zermelo's iteration.

    Args:
        wins: how often the agent of the row has won against that of the column, `(n, n)`, draws
            counting as half a win for each.
    """
    *_, found = _iterations(wins, ROUNDS)
    return found


def _iterations(wins: np.ndarray, rounds: int) -> Iterator[np.ndarray]:
    """The ratings after each round of Zermelo's iteration."""
    games = wins + wins.T
    strengths = np.ones(len(wins))
    for _ in range(rounds):
        expected = (games / (strengths[:, None] + strengths)).sum(axis=1)
        strengths = wins.sum(axis=1) / expected
        strengths /= np.exp(np.log(strengths).mean())
        yield POINTS * np.log(strengths)


@checked(bradley_terry)
def check_bradley_terry(answer: Ratings) -> str:
    """Check `answer(wins)` on leagues whose ratings are known."""
    _compare(answer, np.array([[0.0, 30.0], [10.0, 0.0]]), "two agents, 30 to 10")
    strengths = np.array([0.3, 1.0, 2.0, 8.0])
    games = np.array([[0, 90, 10, 5], [90, 0, 20, 5], [10, 20, 0, 60], [5, 5, 60, 0]])
    shares = strengths[:, None] / (strengths[:, None] + strengths)
    _compare(answer, games * shares, "agents that have not met equally often")
    rng = np.random.default_rng(1)
    _compare(answer, rng.integers(1, 20, (5, 5)) * (1.0 - np.eye(5)), "a league of five")
    return "two agents, a league of five, and one with an uneven schedule."


def _compare(answer: Ratings, wins: np.ndarray, what: str) -> None:
    right = bradley_terry(wins)
    wanted = f"{len(right)} numbers, a rating for each agent"
    given = numbers(returned(answer, wins.copy()), right.shape, wanted)
    require(
        np.all(np.isfinite(given)),
        f"{what}: the ratings are {given}; there should be {len(right)} finite numbers.",
    )
    require(
        abs(given.mean()) < TOLERANCE,
        f"{what}: the mean of the ratings is {given.mean():.1f}; only differences matter, so "
        "subtract it.",
    )
    worst = int(np.argmax(np.abs(given - right)))
    require(
        abs(given[worst] - right[worst]) < TOLERANCE,
        f"{what}: agent {worst} has {given[worst]:.1f}, and should have {right[worst]:.1f}."
        f"{_hint(given, right, wins)}",
    )


def _hint(given: np.ndarray, right: np.ndarray, wins: np.ndarray) -> str:
    """What a wrong answer looks like, if it is a typical one."""
    if np.allclose(given * POINTS, right, atol=TOLERANCE):
        return " Logarithms of strength become Elo points when multiplied by 400 / ln(10)."
    if np.allclose(given * 400, right, atol=TOLERANCE):
        return " Decimal logarithms of strength become Elo points when multiplied by 400."
    rates = wins.sum(axis=1) / (wins + wins.T).sum(axis=1)
    alone = POINTS * np.log(rates / (1 - rates))
    if np.allclose(given, alone - alone.mean(), atol=TOLERANCE):
        return " A win rate alone does not say against whom it was won."
    if any(np.allclose(given, early, atol=1e-6) for early in _iterations(wins, ROUNDS // 10)):
        return " This is what comes out after a few rounds: it takes more of them."
    return ""
