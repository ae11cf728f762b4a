"""Empirical games: agents as the strategies of a game whose payoffs are their results.

A rating gives each agent one number, and so cannot say that of three agents each beats the next.
The matrix of all against all can: its Nash equilibrium says which mixture of agents nobody beats,
and alpha-rank which agents last if ever stronger ones take over. The game is symmetric and
zero-sum: its payoffs are antisymmetric, `payoffs[i, j] == -payoffs[j, i]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from azumaya.baselines.search.arguments import check_number
from azumaya.envs import OptionError
from azumaya.envs.errors import brief
from azumaya.envs.extras import require
from azumaya.envs.whole import whole_number

ALPHA, POPULATION = 100.0, 50
"""Alpha-rank's intensity of selection and size of the population, as OpenSpiel has them."""
RESTARTS = 20
"""The most searches for the most even mixture, each from where the one before has ended."""
ROUNDING = 1e-9
"""How far payoffs may be from antisymmetric, as a fraction of the largest."""


def checked(payoffs: Any) -> np.ndarray:
    """Antisymmetric payoffs, divided by the largest.

    Raises:
        OptionError: these are none.
    """
    try:
        found = np.asarray(payoffs, np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"payoffs={brief(payoffs)}: must be a square matrix of numbers") from None
    if found.ndim != 2 or not len(found) or found.shape[0] != found.shape[1]:
        raise OptionError(f"payoffs of shape {found.shape}: must be a square matrix")
    largest = float(np.abs(found).max())
    if not np.isfinite(largest) or np.abs(found + found.T).max() > ROUNDING * largest:
        raise OptionError("payoffs: must be finite, and payoffs[i, j] the same as -payoffs[j, i]")
    return (found - found.T) / (2 * largest or 1.0)


def nash_mixture(payoffs: Any) -> np.ndarray:
    """The Nash equilibrium of largest entropy, by which Nash averaging evaluates agents.

    It is unique, gives copies of an agent equal parts, and takes no notice of agents that are
    added and beaten by it (Balduzzi and others, "Re-evaluating evaluation", 2018).

    Args:
        payoffs: antisymmetric, `(n, n)`; what row gains from column, in any unit.

    Returns:
        The part of each agent, `(n,)`; they add up to 1.

    Raises:
        OptionError: the payoffs are not antisymmetric.
        MissingExtraError: SciPy is not installed.
    """
    payoffs = checked(payoffs)
    mixture, essential = _strict_equilibrium(payoffs)
    inner = payoffs[np.ix_(essential, essential)]
    if np.linalg.matrix_rank(inner) < len(inner) - 1:  # there are others
        mixture[essential] = _most_even(payoffs[:, essential], essential)
    mixture[~essential] = 0
    found: np.ndarray = mixture / mixture.sum()
    return found


def _strict_equilibrium(payoffs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An equilibrium that plays all which any plays, `(n,)`, and which these are, `(n,)` bool.

    In it, every strategy is either played or loses (Goldman and Tucker); here by the most.
    """
    size = len(payoffs)
    ones = np.ones((size, 1))
    gains = np.hstack([payoffs, 0 * ones])
    margins = np.hstack([payoffs - np.eye(size), ones])
    found = require("scipy.optimize", "league").linprog(
        np.append(np.zeros(size), -1.0),
        A_ub=np.vstack([gains, margins]), b_ub=np.zeros(2 * size),
        A_eq=np.append(np.ones(size), 0.0)[None], b_eq=[1.0], bounds=(0, None),
    )  # fmt: skip
    mixture: np.ndarray = found.x[:-1]
    return mixture, mixture > -payoffs @ mixture


def _most_even(payoffs: np.ndarray, essential: np.ndarray) -> np.ndarray:
    """The equilibrium of largest entropy, by its dual problem.

    Args:
        payoffs: what every strategy gains from those that are played, `(n, k)`.
        essential: which those are, `(n,)` bool.
    """

    def mixture(prices: np.ndarray) -> tuple[np.ndarray, float]:
        logits = -prices @ payoffs
        parts = np.exp(logits - logits.max())
        return parts / parts.sum(), float(logits.max() + np.log(parts.sum()))

    def dual(prices: np.ndarray) -> tuple[float, np.ndarray]:
        parts, value = mixture(prices)
        return value, -payoffs @ parts

    bounds = [(None if played else 0, None) for played in essential]
    minimize = require("scipy.optimize", "league").minimize
    prices = np.zeros(len(payoffs))
    for _ in range(RESTARTS):  # two equal values in a row end the search early, even by chance
        found = minimize(
            dual, prices, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": 10_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-10},
        )  # fmt: skip
        prices = found.x
        if not found.nit:
            break
    return mixture(prices)[0]


def alpha_rank(payoffs: Any, alpha: float = ALPHA, population: int = POPULATION) -> np.ndarray:
    """How long a population that evolves plays like each agent: alpha-rank's distribution.

    One by one, members try to play like another agent, and the more it gains the likelier all take
    it over (Omidshafiei and others, "Alpha-rank", 2019). With so strong a selection, those who are
    left are the agents to which no chain of wins leads that does not lead back.

    Args:
        payoffs: antisymmetric, `(n, n)`; what row gains from column, from -1 to 1.
        alpha: the intensity of selection, at least 0.
        population: the number of members, at least 2.

    Returns:
        The share of time of each agent, `(n,)`; they add up to 1.

    Raises:
        OptionError: the payoffs are not antisymmetric, or another argument is out of range.
    """
    checked(payoffs)
    alpha, population = check_number("alpha", alpha), whole_number(population, "population", 2)
    fitness = alpha * population / (population - 1) * np.asarray(payoffs, np.float64).T
    slope = np.maximum(np.abs(fitness), 1e-12)  # where it is 0, the chance is 1 / population
    chances = np.expm1(-slope) / np.expm1(-population * slope)
    chances *= np.exp((population - 1) * np.minimum(fitness, 0))  # from row to column
    flow = chances.T - np.diag(chances.sum(1))
    flow[0] = 1  # the shares add up to 1; the rest says that as many come as go
    found = np.linalg.solve(flow, np.eye(len(flow))[0])
    return np.maximum(found, 0) / np.maximum(found, 0).sum()


def cycles(beats: np.ndarray) -> list[tuple[int, ...]]:
    """The shortest cycle through each strategy that is in one, in which each beats the next.

    Args:
        beats: whether row beats column, `(n, n)` bool.

    Returns:
        Cycles, each once, from its first strategy on, the shorter ones first.
    """
    found = {cycle for start in range(len(beats)) for cycle in _shortest(beats, start)}
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def _shortest(beats: np.ndarray, start: int) -> Iterator[tuple[int, ...]]:
    """The shortest cycle through a strategy, if there is one."""
    paths: list[tuple[int, ...]] = [(start,)]
    seen = {start}
    for path in paths:
        if beats[path[-1], start]:
            first = path.index(min(path))
            yield path[first:] + path[:first]
            return
        for after in np.flatnonzero(beats[path[-1]]).tolist():
            if after not in seen:
                seen.add(after)
                paths.append((*path, after))
