"""Ratings: a Bradley-Terry fit on an Elo scale, with intervals from resampled pairs of games.

The rating of an agent is its strength on a scale on which 400 points more mean ten times the odds
of winning; the anchor has 0. A draw counts as half a win for each side. Any two agents that have
met also count one drawn game against each other, so that ratings are finite where one has won every
game. Each meeting of two agents in a game has the same weight, however often they have met, so
ratings do not depend on which games were played more often than others.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.arena.league.crew import LeagueError
from azumaya.baselines.arena.league.results import PairResult
from azumaya.envs.extras import require

ANCHOR = "random"
"""The id of the agent whose rating is 0."""
POINTS = 400 / math.log(10)
"""Elo points for each unit of the logarithm of strength."""
RESAMPLES = 400
INTERVAL = (2.5, 97.5)
"""The percentiles of resampled figures between which a 95 % interval lies."""
OUTCOMES = 5
"""A pair of games gives the first agent 0, 1, 2, 3 or 4 half points."""
SHARES = np.arange(OUTCOMES) / (OUTCOMES - 1)
"""What share of a pair these are."""
VIRTUAL = 0.5
"""What each of two agents that have met wins in the drawn game that is added."""
ONE_SIDED = np.array([VIRTUAL / 2, 0.0, 0.0, 0.0, VIRTUAL / 2])
"""The same as half a pair, whose two games have the same winner, for resampled pairs."""
DOUBT = 2.0
"""Pairs by whose number the weight of those that were played is reduced in resamples.

A sample of `n` pairs varies less than what it was drawn from, by a factor of `1 - 1 / n`.
"""
LEAST_SHARE = 1e-5
"""The least share in resamples: two agents that meet only each other are 2,000 points apart."""

DRAWN = 1e-7, 1e-5, 1e-3
"""How strongly strengths are drawn together where there is no other fit, see `fit`."""

ALL = "all games"
"""The key of the ratings over all games."""


@dataclass(frozen=True)
class Rating:
    """A rating and its 95 % interval.

    Attributes:
        elo: the rating; the anchor has 0.
        low: the lower end of the interval.
        high: the upper end.
        games: the games it rests on.
        score: the share of them won, a draw counting as half.
    """

    elo: float
    low: float
    high: float
    games: int
    score: float


Counts = dict[tuple[int, int], np.ndarray]
"""By indices of two agents, how many pairs gave the first 0, 1, 2, 3 and 4 half points."""


def rate(
    pairs: Iterable[PairResult],
    agents: Sequence[str],
    resamples: int = RESAMPLES,
    only_all: bool = False,
) -> dict[str, dict[str, Rating]]:
    """Ratings for each game and over all games, by agent.

    Over all games each game has the same weight, and only agents are rated that have met others in
    every game. Agents whose games do not connect them with the anchor have no rating.

    Args:
        pairs: the results, in an order that does not depend on when they were played.
        agents: the ids of the agents.
        resamples: the number of resamples for the intervals.
        only_all: leave out the intervals of single games, which takes most of the time.

    Raises:
        MissingExtraError: choix is not installed.
    """
    agents = sorted(agents)  # resamples are drawn in this order, whoever joined first
    return rate_counts(count_pairs(pairs, agents), agents, resamples, only_all)


def rate_counts(
    counts: Mapping[str, Counts],
    agents: Sequence[str],
    resamples: int = RESAMPLES,
    only_all: bool = False,
) -> dict[str, dict[str, Rating]]:
    """`rate` for results that have been counted, by game.

    Args:
        counts: by game, how the pairs of any two agents ended.
        agents: the ids of the agents, in the order of their indices.
        resamples, only_all: as for `rate`.
    """
    games = sorted(counts)
    found = {
        game: _rate({game: counts[game]}, agents, 1 if only_all else resamples) for game in games
    }
    everywhere = [
        a for a, name in enumerate(agents) if games and all(name in found[game] for game in games)
    ]
    shared = {
        game: {who: n for who, n in counts[game].items() if {*who} <= {*everywhere}}
        for game in games
    }
    return {**found, ALL: _rate(shared, agents, resamples)}


def count_pairs(pairs: Iterable[PairResult], agents: Sequence[str]) -> dict[str, Counts]:
    """How the pairs of each game ended; `agents` are all who played them."""
    places = {name: place for place, name in enumerate(agents)}
    counts: dict[str, Counts] = {}
    for pair in pairs:
        who = places[pair.key.first], places[pair.key.second]
        cell = counts.setdefault(pair.key.game, {}).setdefault(who, np.zeros(OUTCOMES, np.int64))
        cell[2 + sum(pair.results)] += 1
    return {game: dict(sorted(cells.items())) for game, cells in counts.items()}


def _rate(games: Mapping[str, Counts], agents: Sequence[str], resamples: int) -> dict[str, Rating]:
    """Ratings over some games, each with the same weight."""
    meetings = [who for cells in games.values() for who in cells]
    rated = connected(meetings, agents)
    if not rated:
        return {}
    place = {a: i for i, a in enumerate(rated)}
    cells = [
        {(place[i], place[j]): n for (i, j), n in met.items() if i in place}
        for met in games.values()
    ]
    anchor, size = rated.index(agents.index(ANCHOR)), len(rated)
    wins = np.array([wins_of(met, size) for met in cells])
    strengths = fit(levelled(wins), anchor)
    samples = np.array(
        [fit(drawn, anchor, strengths) for drawn in resampled(cells, size, resamples)]
    )
    lows, highs = np.percentile(POINTS * samples, INTERVAL, axis=0)
    total = wins.sum(0)
    played, won = (total + total.T).sum(1), total.sum(1)
    return {
        agents[a]: Rating(
            round(POINTS * float(strengths[i]), 1),
            round(min(float(lows[i]), POINTS * float(strengths[i])), 1),
            round(max(float(highs[i]), POINTS * float(strengths[i])), 1),
            round(float(played[i])),
            round(float(won[i] / played[i]), 4),
        )
        for i, a in enumerate(rated)
    }


def connected(meetings: Iterable[tuple[int, int]], agents: Sequence[str]) -> list[int]:
    """The agents whom games connect with the anchor, and the anchor; none if it has not played."""
    meetings = list(meetings)
    if ANCHOR not in agents or not any(agents.index(ANCHOR) in who for who in meetings):
        return []
    found, before = {agents.index(ANCHOR)}, 0
    while len(found) > before:
        before = len(found)
        found |= {a for who in meetings if found & {*who} for a in who}
    return sorted(found)


def wins_of(counts: Mapping[tuple[int, int], np.ndarray], size: int) -> np.ndarray:
    """How many games each agent has won against each, draws as halves, `(size, size)`."""
    wins = np.zeros((size, size))
    for (i, j), cell in counts.items():
        halves = float(cell @ np.arange(OUTCOMES))
        wins[i, j], wins[j, i] = halves / 2, 2 * cell.sum() - halves / 2
    return wins


def levelled(wins: np.ndarray) -> np.ndarray:
    """What agents have won against each other, with every meeting and every game of equal weight.

    The drawn game is added before meetings are scaled, so what it weighs does not depend on how
    many games other agents have played. Each game in which two agents have met has its part of it,
    as in resamples, so what it weighs does not depend on how often they met in another game either.

    Args:
        wins: how many games each agent has won against each, `(games, agents, agents)`.

    Returns:
        `(agents, agents)`; the sum is the number of games.
    """
    played = wins + wins.swapaxes(1, 2)
    met = played > 0
    added = VIRTUAL / np.maximum(met.sum(0), 1)
    found: np.ndarray = (_weights(met) * (wins + added) / (played + 2 * added)).sum(0)
    return found


def _weights(met: np.ndarray) -> np.ndarray:
    """The weight of each meeting: 1 for each game, shared by those who have met in it.

    Args:
        met: whether two agents have met in a game, `(games, agents, agents)`.
    """
    meetings = met.sum((1, 2), keepdims=True) / 2
    weights: np.ndarray = met / np.maximum(meetings, 1)
    return weights


def resampled(games: Sequence[Counts], size: int, resamples: int) -> np.ndarray:
    """What agents may win against each other, as `levelled`, `(resamples, size, size)`.

    The outcomes of each meeting have the chances that a Bayesian bootstrap gives them: a draw from
    the Dirichlet distribution of the pairs that were played and the drawn game that is added. So
    the interval of an agent that won every game is wide, above all towards strength. The mean share
    is the one that is rated. Intervals at 95 % contain the true rating in 87 to 100 % of leagues of
    two agents, and in 84 to 100 % of simulated ones of five; the guide to the league has details.
    """
    random, shape = np.random.default_rng(0), (len(games), size, size)
    cells = np.zeros((*shape, OUTCOMES))
    for all_of_game, counts in zip(cells, games, strict=True):
        for (i, j), cell in counts.items():
            all_of_game[i, j] = cell
    met: np.ndarray = cells.sum(-1) > 0
    weights, often = _weights(met | met.swapaxes(1, 2)), met.sum(0)
    found = np.zeros((resamples, size, size))
    for g, i, j in np.argwhere(met):
        pairs = cells[g, i, j].sum()
        likely = (cells[g, i, j] + ONE_SIDED / often[i, j]) * pairs / (pairs + DOUBT)
        outcomes = random.gamma(likely, size=(resamples, OUTCOMES))
        shares = outcomes @ SHARES / outcomes.sum(1)
        found[:, i, j] += weights[g, i, j] * shares
        found[:, j, i] += weights[g, i, j] * (1 - shares)
    weight = weights.sum(0)
    return np.clip(found, LEAST_SHARE * weight, (1 - LEAST_SHARE) * weight)


def fit(wins: np.ndarray, anchor: int, begin: np.ndarray | None = None) -> np.ndarray:
    """The logarithms of the strengths that fit wins, `(agents,)`.

    Args:
        wins: what each agent has won against each, `(agents, agents)`.
        anchor: the agent whose strength is 1.
        begin: the strengths from which the fit begins; None for equal ones.

    Raises:
        LeagueError: there is no fit, however strongly strengths are drawn together.
        MissingExtraError: choix is not installed.
    """
    choix: Any = require("choix", "league")
    # In a long chain of agents with all games won the fit converges, if at all, from equal
    # strengths, or drawn towards them a little.
    for alpha, first in ((0.0, begin), (0.0, None), *((alpha, None) for alpha in DRAWN)):
        with contextlib.suppress(RuntimeError), np.errstate(invalid="ignore"):
            strengths: np.ndarray = choix.ilsr_pairwise_dense(
                wins, alpha * wins.max(), initial_params=first, max_iter=1000, tol=1e-7
            )
            return strengths - strengths[anchor]
    raise LeagueError(f"ratings: the results of {len(wins)} agents have no fit; play more pairs")
