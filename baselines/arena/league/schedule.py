"""The schedule of a league: which games are still to be played."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.arena.league.cards import AgentCard, game_names
from azumaya.baselines.arena.league.crew import PairJob
from azumaya.baselines.arena.league.results import League, PairKey
from azumaya.baselines.arena.report import counted
from azumaya.baselines.arena.rounds import start_set
from azumaya.baselines.search.arguments import check_number
from azumaya.envs import GAMES, OptionError
from azumaya.envs.errors import brief
from azumaya.envs.whole import whole_number

PAIRS = 20
"""The pairs of games that any two agents play of each game."""
MOST = 200
"""The same where pairs are chosen: as many as a book has starts."""
LIMIT = 10.0
"""Seconds that an agent has for a move."""


@dataclass(frozen=True)
class Plan:
    """What a league is to play.

    Attributes:
        games: the names of the games.
        pairs: the pairs of games between any two agents, for each game; the most if they are
            chosen.
        limit: the seconds an agent has for a move.
        minutes: how long games are begun; None for no limit.
        only: if not empty, the ids of agents; only their games are played.
        interval: Elo points: games are chosen and played until half the width of every interval of
            the ratings over all games (with `only`, of these agents) is at most this; None to play
            all pairs.

    Raises:
        OptionError: one of these has another type, or a value that nothing can be played with.
    """

    games: tuple[str, ...] = tuple(GAMES)
    pairs: int = PAIRS
    limit: float = LIMIT
    minutes: float | None = None
    only: frozenset[str] = frozenset()
    interval: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "games", game_names(self.games))
        object.__setattr__(self, "pairs", whole_number(self.pairs, "pairs", 1))
        object.__setattr__(self, "limit", check_number("limit", self.limit, above=True))
        if self.minutes is not None:
            check_number("minutes", self.minutes)
        if self.interval is not None:
            check_number("interval", self.interval, above=True)
        several = isinstance(self.only, Iterable) and not isinstance(self.only, str)
        ids = list(self.only) if several else [None]
        if not all(isinstance(each, str) for each in ids):
            raise OptionError(f"only={brief(self.only)}: must be a set of ids of agents")
        object.__setattr__(self, "only", frozenset(ids))


def missing(league: League, plan: Plan, absent: Container[str] = ()) -> Iterator[PairJob]:
    """The pairs that are still to be played: first all pairs of start 0, then those of start 1.

    So when a league is stopped, any two agents have played about as many games of each kind.

    Args:
        league: the league.
        plan: what is to be played.
        absent: the ids of agents that sit out.
    """
    cards = sorted(
        (card for card in league.cards.values() if card.id not in absent), key=lambda card: card.id
    )
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


def remarks(league: League, plan: Plan) -> Iterator[str]:
    """What is worth knowing of a plan before games are played: lines about some of its games."""
    for game in plan.games:
        if sum(game in card.games for card in league.cards.values()) < 2:
            yield f"{game}: no two agents play it; name agents that do to let them join"
            continue
        starts = start_set(game, None, league.settings.seed, league.settings.balanced)
        different = starts.different(plan.pairs)
        if different < plan.pairs:
            yield (
                f"{game}: up to {counted(plan.pairs, 'pair')} of games from "
                f"{counted(different, 'different start')}: two agents that leave nothing to chance "
                "repeat their games, and the intervals take repeats for new games"
            )
