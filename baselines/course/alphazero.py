"""Notebook 7: the formula that chooses moves in the tree, and what the network learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.course.verdict import checked, numbers, require, returned
from azumaya.envs.errors import brief

Puct = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
Targets = Callable[[np.ndarray, np.ndarray, Sequence[float], float], tuple[np.ndarray, np.ndarray]]


def puct(priors: np.ndarray, visits: np.ndarray, totals: np.ndarray, c: float) -> np.ndarray:
    """The course's answer: a score for each move, `(k,)`.

    Args:
        priors: the network's probabilities, `(k,)`.
        visits: how often each move was tried, `(k,)`.
        totals: the sums of the results, for the player to move, `(k,)`.
        c: the weight of the priors.
    """
    means = np.divide(totals, visits, out=np.zeros(len(priors)), where=visits > 0)
    return means + c * priors * np.sqrt(1 + visits.sum()) / (1 + visits)


@checked(puct)
def check_puct(answer: Puct) -> str:
    """Check `answer(priors, visits, totals, c)` on small nodes."""
    cases = [
        ("nothing was tried yet", [0.2, 0.7, 0.1], [0, 0, 0], [0, 0, 0], 1.5),
        ("one move was never tried", [0.2, 0.3, 0.5], [3, 1, 0], [-1.5, 0.5, 0], 1.0),
        ("all were tried", [0.6, 0.4], [10, 2], [4.0, -1.0], 2.0),
    ]
    for what, *case in cases:
        priors, visits, totals = (np.array(part, float) for part in case[:3])
        c = float(case[3])  # type: ignore[arg-type]
        right = puct(priors, visits, totals, c)
        given = returned(answer, priors.copy(), visits.copy(), totals.copy(), c)
        given = numbers(given, right.shape, f"{len(right)} numbers, a score for each move")
        require(
            np.all(np.isfinite(given)),
            f"where {what}: the scores are {_shown(given)}. "
            f"{_untried_hint(given, priors, visits, totals, c)}",
        )
        require(
            np.allclose(given, right),
            f"where {what} (priors {_shown(priors)}, visits {_shown(visits)}, totals "
            f"{_shown(totals)}, c={c}): yours are {_shown(given)}, and they should be "
            f"{_shown(right)}.",
        )
    return "means, priors and moves that were never tried."


def _untried_hint(
    given: np.ndarray, priors: np.ndarray, visits: np.ndarray, totals: np.ndarray, c: float
) -> str:
    with np.errstate(all="ignore"):
        means = totals / visits
    mistaken = means + c * priors * np.sqrt(1 + visits.sum()) / (1 + visits)
    if np.allclose(given, mistaken, equal_nan=True):
        return "The mean of a move that was never tried counts as 0."
    return "Where a move was never tried, its visits are 0: nothing may be divided by them."


def training_targets(
    visits: np.ndarray, movers: np.ndarray, returns: Sequence[float], temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """The course's answer: what the policy and the value learn from one game.

    Args:
        visits: how often the search tried each action, `(T, A)`.
        movers: the player to move in each position, `(T,)`.
        returns: the results of player_0 and player_1.
        temperature: 1 for shares of visits; the smaller, the sharper.

    Returns:
        The policy targets, `(T, A)`, and the value targets for the player to move, `(T,)`.
    """
    powers = (visits / visits.max(axis=1, keepdims=True)) ** (1 / temperature)
    return powers / powers.sum(axis=1, keepdims=True), np.asarray(returns, float)[movers]


@checked(training_targets)
def check_training_targets(answer: Targets) -> str:
    """Check `answer(visits, movers, returns, temperature)` on games made up for the purpose."""
    rng = np.random.default_rng(1)
    movers = np.array([0, 1, 1, 0, 0, 1])
    for temperature, scale in [(1.0, 10), (0.5, 10), (0.01, 5000)]:
        visits = rng.integers(0, scale, size=(len(movers), 8)).astype(float)
        visits[:, 0] = scale
        for returns in [(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)]:
            given = returned(answer, visits.copy(), movers.copy(), returns, temperature)
            _compare(given, training_targets(visits, movers, returns, temperature), returns)
    return "policy and value targets are right, at three temperatures."


def _compare(
    given: Any,
    right: tuple[np.ndarray, np.ndarray],
    returns: Sequence[float],
) -> None:
    require(
        isinstance(given, tuple | list) and len(given) == 2,
        f"the answer is {brief(given)}; it should be two arrays, policy and value targets.",
    )
    policy, value = (
        numbers(part, like.shape, f"an array of the shape {like.shape}", f"the {name} target")
        for part, like, name in zip(given, right, ("policy", "value"), strict=True)
    )
    alternating = np.resize([returns[0], returns[1]], len(value))
    hint = ", and players do not alternate" if np.allclose(value, alternating) else ""
    require(
        np.allclose(value, right[1]),
        f"with returns {returns} your values are {_shown(value)}, and they should be "
        f"{_shown(right[1])}: what the player to move gained{hint}.",
    )
    require(
        np.all(np.isfinite(policy)),
        "policy targets are infinite or no numbers. Large counts to a large power overflow: divide "
        "a row by its largest count first.",
    )
    require(
        np.allclose(policy.sum(axis=1), 1),
        f"the policy target of a row adds up to {policy.sum(axis=1)[0]:.3f}; it should be 1.",
    )
    require(
        np.allclose(policy, right[0]),
        "the policy targets are not in proportion to visits ** (1 / temperature).",
    )


def _shown(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in np.asarray(values, float)) + "]"
