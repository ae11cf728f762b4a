"""Ratings: a Bradley-Terry fit on an Elo scale, with bootstrap intervals over pairs of games.

The rating of an agent is its strength on a scale on which 400 points more mean ten times the odds
of winning; the anchor has 0. A draw counts as half a win for each side. Every two agents that have
met also count one drawn game against each other, so that ratings are finite where one has won every
game. Each meeting of two agents in a game has the same weight, however often they have met, so
ratings do not depend on which games were played more often than others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.arena.league.results import PairResult
from azumaya.envs.extras import require

ANCHOR = "random"
"""The id of the agent whose rating is 0."""
POINTS = 400 / math.log(10)
"""Elo points for each unit of the logarithm of strength."""
RESAMPLES = 400
INTERVAL = (2.5, 97.5)
"""The percentiles of the resampled ratings between which an interval lies."""
OUTCOMES = 5
"""A pair of games gives the first agent 0, 1, 2, 3 or 4 half points."""
VIRTUAL = 0.5
"""What each of two agents that have met wins in the drawn game that is added."""

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
    counts = _count(pairs, agents)
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


def _count(pairs: Iterable[PairResult], agents: Sequence[str]) -> dict[str, Counts]:
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
    games = {
        game: {(place[i], place[j]): n for (i, j), n in cells.items() if i in place}
        for game, cells in games.items()
    }
    anchor, size = rated.index(agents.index(ANCHOR)), len(rated)
    wins = {game: wins_of(cells, size) for game, cells in games.items()}
    strengths = fit([levelled(w) for w in wins.values()], anchor)
    drawn = [levelled(w) for w in _resampled(games, size, resamples)]
    samples = np.array([fit([w[r] for w in drawn], anchor, strengths) for r in range(resamples)])
    samples += strengths - np.median(samples, axis=0)  # the pair that is added shifts them
    lows, highs = np.percentile(POINTS * samples, INTERVAL, axis=0)
    total = np.sum(list(wins.values()), axis=0)
    played, won = (total + total.T).sum(1), total.sum(1)
    return {
        agents[a]: Rating(
            round(POINTS * float(strengths[i]), 1),
            round(float(lows[i]), 1),
            round(float(highs[i]), 1),
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
    """Wins with every meeting scaled to the same number of games, the total unchanged.

    Args:
        wins: how many games each agent has won against each, `(..., agents, agents)`.
    """
    games = wins + wins.swapaxes(-1, -2)
    met = games > 0
    mean = games.sum((-1, -2), keepdims=True) / np.maximum(met.sum((-1, -2), keepdims=True), 1)
    return np.divide(wins * mean, games, out=np.zeros_like(wins), where=met)


def chances(cell: np.ndarray) -> np.ndarray:
    """How likely each outcome of a pair is, from how often each has been seen, `(OUTCOMES,)`.

    One more pair is counted, with any outcome, so that the interval of an agent that won every game
    has a width.
    """
    likely: np.ndarray = (cell + 1 / OUTCOMES) / (cell.sum() + 1)
    return likely


def _resampled(games: Mapping[str, Counts], size: int, resamples: int) -> list[np.ndarray]:
    """Wins in resampled pairs, an array `(resamples, size, size)` for each game.

    The pair that `chances` adds pulls the ratings of the samples together.
    """
    random, drawn = np.random.default_rng(0), []
    for cells in games.values():
        wins = np.zeros((resamples, size, size))
        for (i, j), cell in cells.items():
            count = cell.sum()
            drawn_pairs = random.multinomial(count, chances(cell), size=resamples)
            halves = drawn_pairs @ np.arange(OUTCOMES)
            wins[:, i, j], wins[:, j, i] = halves / 2, 2 * count - halves / 2
        drawn.append(wins)
    return drawn


def fit(wins: Sequence[np.ndarray], anchor: int, begin: np.ndarray | None = None) -> np.ndarray:
    """The logarithms of the strengths that fit the wins, with games of equal weight.

    Args:
        wins: for each game how many games each agent has won against each, `(agents, agents)`.
        anchor: the agent whose strength is 1.
        begin: the strengths from which the fit begins; None for equal ones.

    Raises:
        MissingExtraError: choix is not installed.
    """
    choix: Any = require("choix", "league")
    total = sum(float(w.sum()) for w in wins)
    weighted = sum(w * (total / len(wins) / w.sum()) for w in wins if w.any())
    met = (weighted + weighted.T) > 0
    strengths: np.ndarray = choix.ilsr_pairwise_dense(
        weighted + VIRTUAL * met, initial_params=begin, max_iter=1000, tol=1e-7
    )
    return strengths - strengths[anchor]
