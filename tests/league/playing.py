"""Leagues played in the process of the tests, and what is compared of results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.league.cards import card_of
from azumaya.baselines.arena.league.crew import Outcome, PairJob, play_pair
from azumaya.baselines.arena.league.games import Table
from azumaya.baselines.arena.league.league import join, play_league
from azumaya.baselines.arena.league.results import LeagueFile, PairKey, read_league
from azumaya.baselines.arena.league.schedule import Plan

GAME = "vierer_dominari"


def play_here(jobs: Iterable[PairJob]) -> Iterator[Outcome]:
    """A crew without processes: an agent that ends its process would end the tests."""
    table = Table()
    for job in jobs:
        yield play_pair(job, table.play)


def league_here(path: Path, names: Iterable[str], pairs: int = 1, game: str = GAME) -> None:
    """Play a league in this process."""
    file = LeagueFile(path)
    try:
        join(file, names, [game])
        play_league(file, Plan((game,), pairs), play_here)
    finally:
        file.close()


def outcomes(path: Path) -> dict[PairKey, tuple[object, ...]]:
    """What must be the same in every league with the same agents: all but times."""
    found = read_league(path).in_order()
    return {p.key: (p.results, p.plies, p.moves, p.faults) for p in found}


FIRST_LEGAL = """
import sys
from azumaya.envs import Position
for line in sys.stdin:
    game, options, text = line.split(" ", 2)
    print(Position.from_text(game, text.strip()).legal_moves()[0], flush=True)
"""


def program(code: str) -> str:
    """The name of an agent that runs Python code."""
    return f"program:{shlex.join([sys.executable, '-c', code])}"


def job_of(names: list[str]) -> dict[str, Any]:
    """A game between agents with these names, as they are now."""
    cards = [card_of(name, [GAME]) if ":" in name else None for name in names]
    return {
        "game": GAME, "number": 0, "seed": 0, "balanced": False, "agents": names,
        "ids": [name if card is None else card.id for name, card in zip(names, cards, strict=True)],
        "kinds": ["python" if card is None else card.kind for card in cards], "seat": 0,
    }  # fmt: skip
