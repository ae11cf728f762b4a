"""Playing the games of a league that are still missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from azumaya.baselines.arena.league.cards import AgentCard, card_of
from azumaya.baselines.arena.league.choosing import Chooser
from azumaya.baselines.arena.league.crew import PairJob, play_locally
from azumaya.baselines.arena.league.ratings import ANCHOR
from azumaya.baselines.arena.league.results import League, LeagueFile, PairResult
from azumaya.baselines.arena.league.schedule import Plan, missing
from azumaya.envs.adapters.batch.workers import available_cores

Crew = Callable[[Iterable[PairJob]], Iterator[PairResult]]
"""Plays pairs of games; results come in any order."""


def play_league(
    file: LeagueFile,
    plan: Plan,
    crew: Crew | None = None,
    progress: Callable[[PairResult], None] | None = None,
    jobs: Iterable[PairJob] | None = None,
) -> None:
    """Play the games that are missing in a file, and add each pair as it ends.

    Args:
        file: the file, with the agents that have joined.
        plan: what is to be played.
        crew: plays the games; by default processes on all cores of this machine.
        progress: called with each result.
        jobs: the pairs to be played; by default `jobs_of` the plan.

    Raises:
        LeagueError: games cannot be played.
    """
    crew = crew or local_crew()
    waiting = jobs_of(file.league, plan) if jobs is None else jobs
    began = time.monotonic()

    def in_time() -> Iterator[PairJob]:
        for job in waiting:
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


def jobs_of(league: League, plan: Plan) -> list[PairJob] | Chooser:
    """The pairs that are to be played: all that are missing, or those that tell most."""
    return list(missing(league, plan)) if plan.interval is None else Chooser(league, plan)


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
