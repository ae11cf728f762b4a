"""Notebook 5: lambda-returns of self-play."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from azumaya.baselines.course.verdict import checked, numbers, require, returned

STEPS, GAMES = 12, 5
Returns = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def lambda_returns(
    rewards: np.ndarray, values: np.ndarray, movers: np.ndarray, ended: np.ndarray, lam: float
) -> np.ndarray:
    """The course's answer: the lambda-return of every step, `(T, n)`.

    Args:
        rewards: of the players who moved, `(T, n)`.
        values: of each position for the player to move there, `(T + 1, n)`.
        movers: the players to move, `(T + 1, n)`.
        ended: whether a step ended its game, `(T, n)`.
        lam: the parameter lambda, 0 to 1.
    """
    return _returns(rewards, values, movers, ended, lam)


def _returns(
    rewards: np.ndarray,
    values: np.ndarray,
    movers: np.ndarray,
    ended: np.ndarray,
    lam: float,
    flips: bool = True,
    stops: bool = True,
) -> np.ndarray:
    """The returns, right or with a typical mistake: no change of sign, or no stop at the end."""
    found = np.zeros(rewards.shape)
    following = values[-1]
    for t in reversed(range(len(rewards))):
        sign = np.where(movers[t + 1] == movers[t], 1.0, -1.0) if flips else 1.0
        target = (1 - lam) * values[t + 1] + lam * following
        found[t] = rewards[t] + np.where(ended[t] & stops, 0.0, sign * target)
        following = found[t]
    return found


@checked(lambda_returns)
def check_lambda_returns(answer: Returns) -> str:
    """Check `answer(rewards, values, movers, ended, lam)` on games made up for the purpose."""
    rng = np.random.default_rng(1)
    ended = rng.random((STEPS, GAMES)) < 0.2
    rewards = rng.choice([-1.0, 0.0, 1.0], size=ended.shape)  # before the end of a game, too
    values = rng.uniform(-1, 1, (STEPS + 1, GAMES))
    movers = rng.integers(0, 2, (STEPS + 1, GAMES))
    for lam in (0.0, 1.0, 0.7):
        batch = rewards, values, movers, ended
        given = returned(answer, *(part.copy() for part in batch), lam)
        wanted = f"an array of the shape {rewards.shape}, one number for each reward"
        _compare(numbers(given, rewards.shape, wanted), (*batch, lam))
    return "lambda = 0, 0.7 and 1 agree; the sign follows the mover, and returns stop at the end."


def _compare(
    given: np.ndarray, batch: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]
) -> None:
    right, lam = _returns(*batch), batch[-1]
    if np.allclose(given, right):
        return
    hint = ""
    if np.allclose(given, _returns(*batch, flips=False)):
        hint = " The sign must change where the next position has another mover."
    elif np.allclose(given, _returns(*batch, stops=False)):
        hint = " Nothing follows after the end of a game: what comes next is another game."
    elif np.allclose(given, _returns(batch[0] * batch[3], *batch[1:])):  # rewards at ends only
        hint = " Every step adds its reward, also where the game goes on."
    t, game = np.argwhere(~np.isclose(given, right))[-1]
    require(
        False,
        f"with lambda={lam}, at step {t} of {STEPS} in game {game}: yours is "
        f"{given[t, game]:.3f}, and it should be {right[t, game]:.3f}.{hint}",
    )
