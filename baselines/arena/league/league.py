"""The schedule of a league: which games are still to be played, and playing them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from azumaya.baselines.arena.league.cards import AgentCard, card_of
from azumaya.baselines.arena.league.crew import PairJob, play_locally
from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.arena.league.results import (
    League,
    LeagueFile,
    PairKey,
    PairResult,
)
from azumaya.envs import GAMES
from azumaya.envs.adapters.batch.workers import available_cores

PAIRS = 20
"""The pairs of games that every two agents play of each game."""
LIMIT = 10.0
"""Seconds that an agent has for a move."""

Crew = Callable[[Iterable[PairJob]], Iterator[PairResult]]
"""Plays pairs of games; results come in any order."""


@dataclass(frozen=True)
class Plan:
    """What a league is to play.

    Attributes:
        games: the names of the games.
        pairs: the pairs of games between every two agents, for each game.
        limit: the seconds an agent has for a move.
        minutes: how long games are begun; None for no limit.
        only: if not empty, the ids of agents; only their games are played.
    """

    games: tuple[str, ...] = tuple(GAMES)
    pairs: int = PAIRS
    limit: float = LIMIT
    minutes: float | None = None
    only: frozenset[str] = frozenset()


def missing(league: League, plan: Plan) -> Iterator[PairJob]:
    """The pairs that are still to be played: first all pairs of start 0, then those of start 1.

    So when a league is stopped, every two agents have played about as many games of each kind.
    """
    cards = sorted(league.cards.values(), key=lambda card: card.id)
    settings = league.settings
    for number in range(plan.pairs):
        for game in plan.games:
            for first, second in _meetings([c for c in cards if game in c.games], plan.only):
                key = PairKey(game, number, first.id, second.id)
                if key not in league.pairs:
                    names, kinds = (first.name, second.name), (first.kind, second.kind)
                    yield PairJob(key, names, kinds, settings.seed, settings.balanced, plan.limit)


def _meetings(
    cards: Sequence[AgentCard], only: frozenset[str]
) -> Iterator[tuple[AgentCard, AgentCard]]:
    for i, first in enumerate(cards):
        for second in cards[i + 1 :]:
            if not only or {first.id, second.id} & only:
                yield first, second


def play_league(
    file: LeagueFile,
    plan: Plan,
    crew: Crew | None = None,
    progress: Callable[[PairResult], None] | None = None,
) -> None:
    """Play the games that are missing in a file, and add each pair as it ends.

    Args:
        file: the file, with the agents that have joined.
        plan: what is to be played.
        crew: plays the games; by default processes on all cores of this machine.
        progress: called with each result.

    Raises:
        LeagueError: games cannot be played.
    """
    crew = crew or local_crew()
    began = time.monotonic()
    jobs = list(missing(file.league, plan))

    def in_time() -> Iterator[PairJob]:
        for job in jobs:
            if plan.minutes is not None and time.monotonic() - began > 60 * plan.minutes:
                return
            yield job

    results = crew(in_time())
    try:
        for result in results:
            file.add_pair(result)
            if progress is not None:
                progress(result)
    finally:
        close = getattr(results, "close", None)
        if close is not None:
            close()


def local_crew(processes: int | None = None) -> Crew:
    """Processes on this machine, by default one for each core."""
    count = available_cores() if processes is None else processes
    return lambda jobs: play_locally(jobs, count)


def join(file: LeagueFile, names: Iterable[str], games: Sequence[str]) -> list[AgentCard]:
    """Let agents join a league, and the anchor if it has not; returns the cards of those named.

    Raises:
        OptionError: a name is unknown, or an agent plays none of the games.
    """
    cards = [card_of(name, games) for name in names]
    admit(file, cards, games)
    return cards


def admit(file: LeagueFile, cards: Sequence[AgentCard], games: Sequence[str]) -> None:
    """Add cards to a league, and that of the anchor if it is not there."""
    known = {card.id for card in cards} | file.league.cards.keys()
    for card in cards if ANCHOR in known else [card_of(ANCHOR, games), *cards]:
        file.add_card(card)
