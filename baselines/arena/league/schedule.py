"""The schedule of a league: which games are still to be played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.crew import PairJob
from azumaya.baselines.arena.league.results import League, PairKey
from azumaya.envs import GAMES

PAIRS = 20
"""The pairs of games that every two agents play of each game."""
MOST = 200
"""The same where pairs are chosen: as many as a book has starts."""
LIMIT = 10.0
"""Seconds that an agent has for a move."""


@dataclass(frozen=True)
class Plan:
    """What a league is to play.

    Attributes:
        games: the names of the games.
        pairs: the pairs of games between every two agents, for each game; the most if they are
            chosen.
        limit: the seconds an agent has for a move.
        minutes: how long games are begun; None for no limit.
        only: if not empty, the ids of agents; only their games are played.
        interval: Elo points: games are chosen and played until no interval of the ratings over all
            games (with `only`, of these agents) is wider than this on either side; None to play all
            pairs.
    """

    games: tuple[str, ...] = tuple(GAMES)
    pairs: int = PAIRS
    limit: float = LIMIT
    minutes: float | None = None
    only: frozenset[str] = frozenset()
    interval: float | None = None


def missing(league: League, plan: Plan) -> Iterator[PairJob]:
    """The pairs that are still to be played: first all pairs of start 0, then those of start 1.

    So when a league is stopped, every two agents have played about as many games of each kind.
    """
    cards = sorted(league.cards.values(), key=lambda card: card.id)
    for number in range(plan.pairs):
        for game in plan.games:
            for first, second in _meetings([c for c in cards if game in c.games], plan.only):
                key = PairKey(game, number, first.id, second.id)
                if key not in league.pairs:
                    yield job_of(league, plan, key)


def job_of(league: League, plan: Plan, key: PairKey) -> PairJob:
    """The job of a pair of games."""
    first, second = league.cards[key.first], league.cards[key.second]
    names, kinds = (first.name, second.name), (first.kind, second.kind)
    settings = league.settings
    return PairJob(key, names, kinds, settings.seed, settings.balanced, plan.limit)


def _meetings(
    cards: Sequence[AgentCard], only: frozenset[str]
) -> Iterator[tuple[AgentCard, AgentCard]]:
    for i, first in enumerate(cards):
        for second in cards[i + 1 :]:
            if not only or {first.id, second.id} & only:
                yield first, second
