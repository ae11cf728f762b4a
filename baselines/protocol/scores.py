"""What is said over several games and seeds: interquartile means, intervals, profiles.

Few runs of a learner differ so much that a mean of them says little. The interquartile mean leaves
out the lowest and the highest quarter of all runs; its interval comes from resampling the runs of
each game (a stratified bootstrap); a profile shows the share of runs that reach at least so much.
(R. Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice", NeurIPS
2021, names and recommends all three.)

Of the n runs of a game n - 1 are drawn: so their mean varies as that of n runs does, and not less,
which matters where n is five. (J. N. K. Rao and C. F. J. Wu, "Resampling inference with complex
survey data", Journal of the American Statistical Association 83, 1988.)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from azumaya.baselines.arena.league.ratings import INTERVAL, OUTCOMES, Rating, rate_counts
from azumaya.baselines.protocol.cells import FIELD, Cell

RESAMPLES = 2_000
SEEDS = 3
"""The fewest seeds of each game with which intervals are shown: they contain the true figure in 60
to 89 of 100 simulated tables with two seeds, in 81 to 94 with three, in 89 to 94 with five."""
MEASURES: Mapping[str, Callable[[Cell], float | None]] = {
    "games won": lambda cell: cell.mean_rate,
    "exam": lambda cell: cell.exam,
}
"""What is aggregated, both from 0 to 1: the mean rate against those that count, and the exam."""

Contenders = Mapping[str, Sequence[Cell]]
"""By what contenders are called, their cells."""
Scores = Mapping[str, Sequence[float]]
"""By game, the figures of all seeds."""


@dataclass(frozen=True)
class Aggregate:
    """A figure over several games and seeds.

    Attributes:
        value: the interquartile mean.
        low, high: the ends of its 95 % interval.
        games: how many went into it.
        seeds: the fewest and the most of a game.
        sure: whether the interval says anything, see `are_enough`.
    """

    value: float
    low: float
    high: float
    games: int
    seeds: tuple[int, int]
    sure: bool


def by_contender(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """The cells of each contender, in the order in which contenders appear first."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.job.label, []).append(cell)
    return found


def complete(contenders: Contenders) -> dict[str, Sequence[Cell]]:
    """The contenders that have played every game that any of them has played."""
    played = {name: {cell.job.game for cell in own} for name, own in contenders.items()}
    games = set().union(*played.values())
    return {name: own for name, own in contenders.items() if played[name] == games}


def scores_of(cells: Iterable[Cell], measure: str) -> dict[str, list[float]]:
    """The figures of one contender by game, games without such a figure left out."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        value = MEASURES[measure](cell)
        if value is not None:
            found.setdefault(cell.job.game, []).append(value)
    return found


def interquartile_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The mean along the last axis without the lowest and the highest quarter.

    A run across the edge of a quarter counts in part, so the mean of runs that are all repeated is
    the same. (`scipy.stats.trim_mean` leaves out whole runs only, rounded down.)

    Args:
        values: the figures, `(..., n)`.
        weights: how often each counts, whole numbers, `(n,)`.
    """
    order, weights = np.argsort(values, axis=-1), 4 * weights
    whole = weights.sum()
    cut = whole // 4
    ends = np.cumsum(weights[order], axis=-1)
    starts = ends - weights[order]
    inner = np.clip(ends, cut, whole - cut) - np.clip(starts, cut, whole - cut)
    total: np.ndarray = (np.take_along_axis(values, order, -1) * inner).sum(-1)
    return total / (whole - 2 * cut)


def weights_of(counts: Sequence[int]) -> np.ndarray:
    """How often each run counts, so that all games count alike, `(n,)`.

    With as many runs of each game that is once. Otherwise games with many would count for more.

    Args:
        counts: the number of runs of each game.
    """
    most = math.lcm(*counts)
    return np.concatenate([np.full(count, most // count) for count in counts])


def _by_game(scores: Scores) -> list[np.ndarray]:
    """The runs of each game, sorted: what follows does not depend on the order of cells."""
    return [np.sort(runs) for _, runs in sorted(scores.items())]


def runs_of(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """The runs of all games, game by game, and their weights; both `(n,)`."""
    runs = _by_game(scores)
    return np.concatenate(runs), weights_of([*map(len, runs)])


def resampled(scores: Scores, resamples: int = RESAMPLES) -> tuple[np.ndarray, np.ndarray]:
    """Runs of each game drawn again, one less than there are; the same at every call.

    Returns:
        The runs, `(resamples, m)`, and their weights, `(m,)`.
    """
    rng, drawn = np.random.default_rng(0), list[np.ndarray]()
    for runs in _by_game(scores):
        size = (resamples, max(1, len(runs) - 1))
        drawn.append(runs[rng.integers(len(runs), size=size)])
    return np.concatenate(drawn, axis=-1), weights_of([each.shape[1] for each in drawn])


def are_enough(scores: Scores) -> bool:
    """Whether there are `SEEDS` of each game."""
    return min(map(len, scores.values())) >= SEEDS


def aggregate(scores: Scores) -> Aggregate | None:
    """The interquartile mean over all games and seeds; None without a run."""
    if not scores:
        return None
    value = float(interquartile_mean(*runs_of(scores)))
    low, high = np.percentile(interquartile_mean(*resampled(scores)), INTERVAL)
    ends, seeds = (min(float(low), value), max(float(high), value)), [*map(len, scores.values())]
    return Aggregate(value, *ends, len(scores), (min(seeds), max(seeds)), are_enough(scores))


def profile(scores: Scores, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The share of runs that reach at least each of some figures, and its interval.

    Args:
        scores: the figures; all games count alike.
        at: the figures to reach, `(k,)`.

    Returns:
        The shares, `(k,)`, and the ends of their 95 % intervals, `(2, k)`.
    """
    runs, weights = runs_of(scores)
    drawn, others = resampled(scores)
    reached = np.stack([(drawn >= figure) @ others for figure in at], axis=1) / others.sum()
    shares = weights @ (runs[:, None] >= at) / weights.sum()
    return shares, np.percentile(reached, INTERVAL, axis=0)


def ratings(contenders: Contenders) -> dict[str, dict[str, Rating]]:
    """Ratings as in a league, for each game and over all: of all contenders and opponents.

    The seeds of a contender are one agent here, so intervals say how sure its games make its
    rating, not how much seeds differ. The random agent has 0.
    """
    counts: dict[str, dict[tuple[str, str], np.ndarray]] = {}
    there = {cell.job for cells in contenders.values() for cell in cells}
    for name, cell in ((name, cell) for name, cells in contenders.items() for cell in cells):
        met, job = counts.setdefault(cell.job.game, {}), cell.job
        for opponent, pairs in cell.pairs.items():
            mirrored = replace(job, contender=opponent) in there and job.contender in FIELD
            if mirrored and job.contender > opponent:
                continue  # the opponent's own cell has these games
            who = min(name, opponent), max(name, opponent)
            own = pairs if name < opponent else pairs[::-1]
            met[who] = met.get(who, np.zeros(OUTCOMES, np.int64)) + np.array(own)
    names = sorted({name for met in counts.values() for who in met for name in who})
    place = {name: i for i, name in enumerate(names)}
    numbered = {
        game: dict(sorted({(place[a], place[b]): n for (a, b), n in met.items()}.items()))
        for game, met in sorted(counts.items())
    }
    return rate_counts(numbered, names)


def subsets(
    results: Mapping[str, Mapping[str, float]], size: int = 3
) -> Iterator[tuple[float, tuple[str, ...]]]:
    """How well some games stand for all, best first.

    For each set of games of this size: the error with which the mean figure there predicts that
    over all games, by a line that was fitted to the other agents; as the root of the mean square
    over all agents.

    Args:
        results: by agent and game, a figure; only agents with figures in all games count.
        size: the number of games in a set.

    Yields:
        The error, and the games.
    """
    games = sorted({game for agent in results.values() for game in agent})
    whole = [agent for agent in results.values() if set(agent) == set(games)]
    table = np.array([[agent[game] for game in games] for agent in whole])
    sets = itertools.combinations(range(len(games)), size)
    found = [(_error(table[:, some].mean(1), table.mean(1)), some) for some in map(list, sets)]
    for error, some in sorted(found):
        yield error, tuple(games[place] for place in some)


def _error(few: np.ndarray, all_games: np.ndarray) -> float:
    """The error of predicting one by the other, each agent by a line through the others."""
    missed = []
    for left_out in range(len(few)):
        others = np.arange(len(few)) != left_out
        slope, height = np.polyfit(few[others], all_games[others], 1)
        missed.append(all_games[left_out] - (slope * few[left_out] + height))
    return float(np.sqrt(np.mean(np.square(missed))))
