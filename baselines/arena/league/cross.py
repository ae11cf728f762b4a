"""Cross-play: what each agent of a league has won against each, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.arena.empirical_games import alpha_rank, cycles, nash_mixture
from azumaya.baselines.arena.intervals import of_pairs
from azumaya.baselines.arena.league.ratings import (
    ALL,
    INTERVAL,
    RESAMPLES,
    Counts,
    Rating,
    count_pairs,
    rate,
    resampled,
    wins_of,
)
from azumaya.baselines.arena.league.results import League
from azumaya.baselines.arena.league.standing import labels
from azumaya.envs import OptionError, find_game
from azumaya.envs.errors import brief
from azumaya.envs.whole import whole_number


@dataclass(frozen=True)
class Estimates:
    """Shares with 95 % intervals, arrays of one shape.

    Attributes:
        values, lows, highs: the shares, from 0 to 1, and the ends of their intervals; NaN where
            nothing is known.
    """

    values: np.ndarray
    lows: np.ndarray
    highs: np.ndarray


@dataclass(frozen=True)
class CrossPlay:
    """The results of all agents against all.

    Attributes:
        game: the name of the game, or `all games`.
        agents: what the agents are called, `n` of them, the one with the highest rating first.
        ratings: their Bradley-Terry ratings; None for those without.
        pairs: the pairs of games that row and column have played, `(n, n)`.
        won: the share of the games that row has won against column, a draw counting as half,
            `(n, n)`; over all games the mean of the games. The interval is for independent pairs.
        nash: the part of each agent in the Nash mixture, `(n,)`; None if not all have met.
        nash_average: what each would win against the Nash mixture, `(n,)`, or None.
        alpha: the share of each agent by alpha-rank, `(n,)`, or None.
        cycles: numbers of agents of which each wins more than half against the next, and the last
            against the first, by intervals that do not contain a half.
    """

    game: str
    agents: tuple[str, ...]
    ratings: tuple[Rating | None, ...]
    pairs: np.ndarray
    won: Estimates
    nash: Estimates | None
    nash_average: Estimates | None
    alpha: Estimates | None
    cycles: tuple[tuple[int, ...], ...]

    def strangers(self) -> tuple[str, str] | None:
        """Two agents that have not met in every game, None if all have."""
        apart = np.argwhere(np.triu(np.isnan(self.won.values), 1))
        return (self.agents[apart[0, 0]], self.agents[apart[0, 1]]) if len(apart) else None

    def as_object(self) -> dict[str, Any]:
        """The object that `azumaya league cross-play --json` prints."""
        agents = [
            {
                "agent": name,
                "rating": None if rating is None else rating.elo,
                **{
                    key: None if found is None else _at(found, place)
                    for key, found in self._measures().items()
                },
            }
            for place, (name, rating) in enumerate(zip(self.agents, self.ratings, strict=True))
        ]
        return {
            "game": self.game,
            "agents": agents,
            "pairs": self.pairs.tolist(),
            "won": _plain(self.won.values),
            "low": _plain(self.won.lows),
            "high": _plain(self.won.highs),
            "cycles": [[self.agents[place] for place in cycle] for cycle in self.cycles],
        }

    def _measures(self) -> dict[str, Estimates | None]:
        return {"nash": self.nash, "nash_average": self.nash_average, "alpha_rank": self.alpha}


def _at(found: Estimates, place: int) -> dict[str, float]:
    names = {"value": found.values, "low": found.lows, "high": found.highs}
    return {name: round(float(values[place]), 6) for name, values in names.items()}


def _plain(shares: np.ndarray) -> list[list[float | None]]:
    """A matrix for JSON, which has no NaN."""
    return [[None if np.isnan(x) else round(x, 6) for x in row] for row in shares.tolist()]


def cross_play(
    league: League, game: str = "", agents: Sequence[str] = (), resamples: int = RESAMPLES
) -> CrossPlay:
    """What agents of a league have won against each other.

    Intervals of Nash parts, Nash averages and alpha-rank are from the bootstrap of the ratings.

    Args:
        league: the league.
        game: the name of a game; empty for all in which any pair was played, each with the same
            weight.
        agents: names or ids of agents; all that play these games if there are none.
        resamples: how many samples of the bootstrap are drawn.

    Raises:
        OptionError: the game was not played, an agent is unknown or does not play it, there are
            fewer than two, or `resamples` is below 1.
        MissingExtraError: choix is not installed.
    """
    resamples = whole_number(resamples, "resamples", 1)
    played = league.in_order()
    wanted = find_game(game).name if game else ""
    games = sorted({pair.key.game for pair in played if wanted in ("", pair.key.game)})
    if not games:
        of_what = f"game={brief(game)}: no pair of it" if game else "the league: no pair of games"
        raise OptionError(f"{of_what} was played")
    pairs = [pair for pair in played if pair.key.game in games]
    ratings = rate(pairs, list(league.cards), only_all=True)[ALL]
    ids = sorted(_chosen(league, games, agents))
    ids.sort(key=lambda each: -ratings[each].elo if each in ratings else np.inf)
    known = set(ids)
    met = count_pairs((pair for pair in pairs if {pair.key.first, pair.key.second} <= known), ids)
    counts = [met.get(each, {}) for each in games]
    won, names = _won(counts, len(ids)), labels(league)
    nash = average = alpha = None
    if _complete(won.values):
        nash, average, alpha = _measured(counts, won.values, resamples)
    return CrossPlay(
        games[0] if len(games) == 1 else ALL, tuple(names[each] for each in ids),
        tuple(ratings.get(each) for each in ids), _pairs(counts, len(ids)), won, nash, average,
        alpha, tuple(cycles(won.lows > 0.5)),
    )  # fmt: skip


def _chosen(league: League, games: Iterable[str], agents: Sequence[str]) -> set[str]:
    """The ids of the agents that are shown."""
    wanted, cards = set(games), league.cards
    if isinstance(agents, str) or not all(isinstance(name, str) for name in agents):
        raise OptionError(f"agents={brief(agents)}: must be a list of names or ids of agents")
    if not agents:
        found = {each for each, card in cards.items() if wanted <= set(card.games)}
    else:
        by_label = {label: each for each, label in labels(league).items()}
        found = {by_label.get(name, name) for name in agents}
        for each in sorted(found):
            if each not in cards:
                raise OptionError(f"agent {brief(each)}: is not in the league, by this name or id")
            if missing := sorted(wanted - set(cards[each].games)):
                raise OptionError(f"agent {brief(each)}: does not play {missing[0]}")
    if len(found) < 2:
        raise OptionError("cross-play needs two agents that play the same games")
    return found


def _pairs(counts: Sequence[Counts], size: int) -> np.ndarray:
    """How many pairs row and column have played."""
    found = np.zeros((size, size), np.int64)
    for met in counts:
        for who, cell in met.items():
            found[who] += cell.sum()
    return found + found.T


def _won(counts: Sequence[Counts], size: int) -> Estimates:
    """The shares won; the mean over games, whose intervals are independent."""
    found = np.full((3, len(counts), size, size), np.nan)
    for own, met in zip(found.swapaxes(0, 1), counts, strict=True):
        wins = wins_of(met, size)
        for (i, j), cell in met.items():
            low, high = of_pairs(cell.tolist())
            share = wins[i, j] / (wins[i, j] + wins[j, i])
            own[:, i, j] = share, low, high
            own[:, j, i] = 1 - share, 1 - high, 1 - low
    values, lows, highs = found
    mean = values.mean(0)
    down, up = (np.sqrt((ends**2).sum(0)) / len(counts) for ends in (values - lows, highs - values))
    return Estimates(mean, mean - down, mean + up)


def _complete(shares: np.ndarray) -> bool:
    return bool((np.isnan(shares) <= np.eye(len(shares), dtype=bool)).all())


def _measured(counts: Sequence[Counts], shares: np.ndarray, resamples: int) -> list[Estimates]:
    """The Nash mixture, the averages and alpha-rank, with intervals over resampled pairs."""
    drawn = resampled(counts, len(shares), resamples)
    drawn += np.eye(len(shares))  # nobody meets itself
    drawn /= drawn + drawn.swapaxes(1, 2)
    values = _measure(np.where(np.eye(len(shares), dtype=bool), 0.5, shares))
    lows, highs = np.percentile([_measure(sample) for sample in drawn], INTERVAL, axis=0)
    return [
        Estimates(value, np.minimum(low, value), np.maximum(high, value))
        for value, low, high in zip(values, lows, highs, strict=True)
    ]


def _measure(shares: np.ndarray) -> np.ndarray:
    """The Nash mixture, what each wins against it, and alpha-rank, `(3, n)`."""
    payoffs = shares - shares.T
    mixture = nash_mixture(payoffs)
    return np.array([mixture, (1 + payoffs @ mixture) / 2, alpha_rank(payoffs)])
