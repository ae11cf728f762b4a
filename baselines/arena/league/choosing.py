"""Choosing the pairs of games that narrow the intervals of ratings most for their time.

Two agents whose result is as good as known tell little, and so does a game that takes minutes.
After a first round, pairs are chosen by what one more of each kind is expected to take off the
variance of the ratings over all games, for each second that it takes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from azumaya.baselines.arena.intervals import Z95
from azumaya.baselines.arena.league.crew import PairJob
from azumaya.baselines.arena.league.ratings import (
    ALL,
    ANCHOR,
    OUTCOMES,
    POINTS,
    SHARES,
    connected,
    fit,
    levelled,
    rate,
    wins_of,
)
from azumaya.baselines.arena.league.results import League, PairKey, PairResult
from azumaya.baselines.arena.league.schedule import Plan, job_of, missing

FIRST_ROUND = 2
"""The pairs that all agents play against each other before any are chosen."""
BATCH = 50
"""The pairs that are chosen at once, from the same ratings."""
OVERHEAD = 0.05
"""Seconds that a pair takes besides the thinking of its agents; this also keeps files small."""
HOPED = 1.25
"""How much wider than wanted intervals are expected to be when they are first looked at."""

Meeting = tuple[str, str, str]
"""A game and the ids of two agents, sorted."""


@dataclass
class Odds:
    """What is known of the meetings of agents.

    Attributes:
        agents: the ids of those who are rated over all games.
        meetings: theirs.
        counts: pairs of each meeting that have been played or begun, `(meetings,)`.
        variance: that of the share a pair gives the first agent, `(meetings,)`.
        seconds: what a pair takes, `(meetings,)`.
        effect: squared effect of each share on each agent's rating in Elo points,
            `(meetings, agents)`; 0 for the anchor.
    """

    agents: Sequence[str]
    meetings: Sequence[Meeting]
    counts: np.ndarray
    variance: np.ndarray
    seconds: np.ndarray
    effect: np.ndarray

    def variances(self) -> np.ndarray:
        """The expected variance of each agent's rating, `(agents,)`."""
        found: np.ndarray = (self.variance / self.counts) @ self.effect
        return found

    def gain(self, meeting: int, weights: np.ndarray) -> float:
        """What one more pair takes off the weighted variances for each second."""
        n = self.counts[meeting]
        less = self.variance[meeting] / (n * (n + 1))
        return float(self.effect[meeting] @ weights * less / self.seconds[meeting])


class Chooser:
    """The pairs of a league that are to be played until its ratings are precise enough.

    Args:
        league: the league; results that are added to it in the meantime are taken into account.
        plan: what may be played, and how narrow the intervals are to be.
        absent: the ids of agents that sit out; those that are added in the meantime are taken into
            account. The intervals are those of ratings without them: what their few games leave
            unknown could not be found out.

    Attributes:
        reached: half the width that the widest interval is expected to have now, in Elo points;
            infinite in the first round.
        unrated: whether only the first round was played because nobody whose games are to be
            played has a rating over all games.
    """

    def __init__(self, league: League, plan: Plan, absent: Container[str] = ()) -> None:
        assert plan.interval is not None
        self._league, self._plan, self._interval = league, plan, plan.interval
        self._absent = absent
        self._look_at = HOPED * plan.interval  # intervals expected to be wider are not looked at
        self._begun: set[PairKey] = set()
        self._next: dict[Meeting, int] = {}  # the numbers below have been begun or played
        self.reached, self.unrated = math.inf, False

    def __iter__(self) -> Iterator[PairJob]:
        first = min(FIRST_ROUND, self._plan.pairs)
        for job in missing(self._league, replace(self._plan, pairs=first), self._absent):
            self._begun.add(job.key)
            yield job
        while batch := self._batch():
            yield from batch

    def left(self) -> float:
        """How many times as many pairs are expected to be needed as have been played."""
        return max(1.0, (self.reached / self._interval) ** 2)

    def _batch(self) -> list[PairJob]:
        """The next pairs to play; none if the intervals are as narrow as they should be."""
        results = tuple(self._league.pairs.values())
        agents, open_to = self._rated(), self._plan.pairs
        odds = odds_of(results, agents, self._plan.games, self._begun)
        watched = np.array([self._counts(who) for who in odds.agents] if odds else [], bool)
        if odds is None or not watched.any():
            self.unrated = math.isinf(self.reached) and not self._can_be_rated()
            return []
        self.reached = Z95 * math.sqrt(odds.variances()[watched].max())
        if self.reached <= self._look_at and self._narrow(results, odds.agents, watched):
            return []
        may = [
            c
            for c, (_, *two) in enumerate(odds.meetings)
            if odds.counts[c] < open_to and any(self._counts(who) for who in two)
        ]
        chosen = _best(odds, may, watched, open_to)
        return [self._job(odds.meetings[c]) for c in chosen]

    def _can_be_rated(self) -> bool:
        """Whether an agent whose games are to be played plays all games, perhaps not at present."""
        cards, games = self._league.cards.values(), set(self._plan.games)
        return any(self._counts(card.id) and games <= set(card.games) for card in cards)

    def _counts(self, agent: str) -> bool:
        """Whether the games of an agent are to be played."""
        return not self._plan.only or agent in self._plan.only

    def _rated(self) -> list[str]:
        """Those who play every game, and so are rated over all; not those that sit out."""
        games, cards = set(self._plan.games), self._league.cards.values()
        return [c.id for c in cards if games <= set(c.games) and c.id not in self._absent]

    def _narrow(
        self, results: Sequence[PairResult], agents: Sequence[str], watched: np.ndarray
    ) -> bool:
        """Whether the intervals of the ratings are narrow enough; if not, look again later."""
        known, games = set(agents), set(self._plan.games)
        among = [r for r in results if r.key.game in games and {r.key.first, r.key.second} <= known]
        found = rate(among, agents, only_all=True)[ALL]
        wanted = [who for who, counts in zip(agents, watched, strict=True) if counts]
        if not found.keys() >= {*wanted}:  # their first games are still being played
            return False
        self.reached = max((found[who].high - found[who].low) / 2 for who in wanted)
        if self.reached <= self._interval:
            return True
        self._look_at *= min(0.99, self._interval / self.reached)
        return False

    def _job(self, meeting: Meeting) -> PairJob:
        """The next pair of a meeting."""
        game, one, other = meeting
        numbers = range(self._next.get(meeting, 0), self._plan.pairs)
        keys = (PairKey(game, number, one, other) for number in numbers)
        key = next(k for k in keys if k not in self._league.pairs and k not in self._begun)
        self._next[meeting] = key.number + 1
        self._begun.add(key)
        return job_of(self._league, self._plan, key)


def _best(odds: Odds, may: Sequence[int], watched: np.ndarray, most: int) -> list[int]:
    """The meetings of the next pairs, those first that tell most; their counts are raised."""
    weights = np.where(watched, odds.variances(), 0)  # the widest interval counts most
    heap = [(-odds.gain(c, weights), c) for c in may]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < BATCH:
        _, c = heapq.heappop(heap)
        chosen.append(c)
        odds.counts[c] += 1
        if odds.counts[c] < most:
            heapq.heappush(heap, (-odds.gain(c, weights), c))
    return chosen


def odds_of(
    results: Sequence[PairResult], agents: Sequence[str], games: Sequence[str], begun: set[PairKey]
) -> Odds | None:
    """What results tell of the meetings of agents; None if there are none to be rated.

    Args:
        results: all results of the league.
        agents: the ids of agents who play all these games.
        games: the names of the games.
        begun: pairs that are being played, or have been.
    """
    if ANCHOR not in agents or len(agents) < 2:
        return None
    meetings = [
        (game, one, other) for game in games for one, other in combinations(sorted(agents), 2)
    ]
    number = {meeting: c for c, meeting in enumerate(meetings)}
    cells = np.zeros((len(meetings), OUTCOMES))
    seconds = np.zeros(len(meetings))
    for result in results:
        c = number.get((result.key.game, result.key.first, result.key.second))
        if c is not None:
            cells[c, 2 + sum(result.results)] += 1
            seconds[c] += sum(result.milliseconds) / 1000
    counts = cells.sum(1)
    running = np.zeros(len(meetings))
    for key in begun.difference(result.key for result in results):
        c = number.get((key.game, key.first, key.second))
        if c is not None:
            running[c] += 1
    likely = (cells + 1 / OUTCOMES) / (counts[:, None] + 1)  # one more pair, with any outcome
    mean = likely @ SHARES
    effect = _effect(cells, meetings, agents)
    return Odds(
        agents,
        meetings,
        np.maximum(counts + running, 1),
        likely @ SHARES**2 - mean**2,
        OVERHEAD + seconds / np.maximum(counts, 1),
        effect,
    )


def _effect(cells: np.ndarray, meetings: Sequence[Meeting], agents: Sequence[str]) -> np.ndarray:
    """Squared effect of each meeting's share on the ratings, from the Fisher information."""
    size, anchor = len(agents), agents.index(ANCHOR)
    two = [(agents.index(one), agents.index(other)) for _, one, other in meetings]
    games: dict[str, dict[tuple[int, int], np.ndarray]] = {}
    for cell, (game, *_), who in zip(cells, meetings, two, strict=True):
        if cell.any():
            games.setdefault(game, {})[who] = cell
    strengths = np.zeros(size)
    if len(connected([who for found in games.values() for who in found], agents)) == size:
        strengths = fit(
            levelled(np.array([wins_of(found, size) for found in games.values()])), anchor
        )
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    ends = np.zeros((len(meetings), size))
    for row, (one, other) in zip(ends, two, strict=True):
        row[one], row[other] = 1, -1
    weights = np.array([chance[who] * (1 - chance[who]) for who in two])
    information = ends.T @ (weights[:, None] * ends)
    free = [a for a in range(size) if a != anchor]
    effect = np.zeros((len(meetings), size))
    inverse = np.linalg.inv(information[np.ix_(free, free)])
    effect[:, free] = (POINTS * ends[:, free] @ inverse) ** 2
    return effect
