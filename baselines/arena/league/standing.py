"""The standing of a league: each agent's card with its time per move and ratings, as plain data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.league.ratings import ALL, Rating, rate
from azumaya.baselines.arena.league.results import League, PairResult
from azumaya.baselines.system.files import shown
from azumaya.envs import OptionError

EXAM_FIELDS = (
    "agent", "game", "part", "version", "positions", "kept_wins", "kept_draws", "regret",
)  # fmt: skip
"""What is taken from the objects that `azumaya exam --json` prints."""


@dataclass(frozen=True)
class Standing:
    """One agent of a league.

    Attributes:
        card: what is known of it.
        label: its name; with its digest if another agent has the same name.
        milliseconds: the mean time of its moves; None if none was measured.
        time_class: the class of its time per move.
        ratings: by game, and over all games by `ALL`.
        faults: games lost by a crash, a time-out or an illegal move.
        fault: what happened in the first of them.
        exams: what exams found, by game and part: objects with `EXAM_FIELDS`.
    """

    card: AgentCard
    label: str
    milliseconds: float | None
    time_class: str
    ratings: Mapping[str, Rating]
    faults: int = 0
    fault: str = ""
    exams: Sequence[Mapping[str, Any]] = ()

    def as_json(self) -> dict[str, Any]:
        """The standing as JSON values."""
        ratings = {game: asdict(rating) for game, rating in self.ratings.items()}
        return {
            "agent": self.label,
            "card": {"id": self.card.id, **asdict(self.card)},
            "milliseconds": self.milliseconds,
            "time_class": self.time_class,
            "rating": ratings.pop(ALL, None),
            "games": ratings,
            "faults": self.faults,
            "fault": self.fault,
            "exams": list(self.exams),
        }


def standings(league: League, exams: Iterable[Mapping[str, Any]] = ()) -> list[Standing]:
    """The agents of a league, the strongest over all games first; those without a rating last.

    Args:
        league: the league.
        exams: what exams found, as `read_exams` gives it. Of several cards with the name of an
            agent the one that joined last has its results.
    """
    taken = exams_by_card(league, exams)
    pairs = league.in_order()
    ratings = rate(pairs, list(league.cards))
    names, found = labels(league), []
    for identity, card in league.cards.items():
        times = _time(pairs, identity)
        faults = _faults(pairs, identity)
        own = {game: rated[identity] for game, rated in ratings.items() if identity in rated}
        found.append(
            Standing(
                card,
                names[identity],
                times,
                card.time_class(times),
                own,
                len(faults),
                faults[0] if faults else "",
                taken.get(identity, ()),
            )
        )
    return sorted(found, key=lambda s: -s.ratings[ALL].elo if ALL in s.ratings else float("inf"))


def labels(league: League) -> dict[str, str]:
    """What agents are called, by id: their names; their ids where several have the same name."""
    cards = league.cards
    often = Counter(card.name for card in cards.values())
    return {each: each if often[card.name] > 1 else card.name for each, card in cards.items()}


def _time(pairs: list[PairResult], identity: str) -> float | None:
    moves, total = 0, 0.0
    for pair in pairs:
        for which, name in enumerate((pair.key.first, pair.key.second)):
            if name == identity:
                moves += pair.moves[which]
                total += pair.milliseconds[which]
    return round(total / moves, 4) if moves else None


def _faults(pairs: list[PairResult], identity: str) -> list[str]:
    return [
        fault[1]
        for pair in pairs
        for fault in pair.faults
        if fault and (pair.key.first, pair.key.second)[fault[0]] == identity
    ]


def exams_by_card(
    league: League, exams: Iterable[Mapping[str, Any]]
) -> dict[str | None, list[Mapping[str, Any]]]:
    """Results of exams by the id of the card that has them; by None those of no agent here.

    An agent that changed has several cards with its name, and results do not say of which of them
    they are. They are taken for those of the latest.
    """
    latest = {card.name: identity for identity, card in league.cards.items()}
    found: dict[str | None, list[Mapping[str, Any]]] = {}
    for exam in exams:
        found.setdefault(latest.get(exam["agent"]), []).append(exam)
    return found


def read_exams(path: Path) -> list[dict[str, Any]]:
    """What `azumaya exam --json` printed, from a file, sorted by agent, game and part.

    Of several results of an agent in the same version of an exam the last one counts.

    Raises:
        OptionError: the file contains something else.
        OSError: it cannot be read.
    """
    found = dict[tuple[Any, ...], dict[str, Any]]()
    try:
        content = path.read_text(encoding="utf-8-sig")
        lines = [content] if content[:1] == "[" else content.splitlines()
        values = [json.loads(line) for line in lines if line.strip()]
        for value in (v for part in values for v in (part if isinstance(part, list) else [part])):
            result = {name: value[name] for name in EXAM_FIELDS}
            found[tuple(result[name] for name in EXAM_FIELDS[:4])] = result
        return [found[key] for key in sorted(found)]
    except (ValueError, TypeError, KeyError) as error:
        raise OptionError(
            f"--exams {shown(path)}: must hold what azumaya exam --json prints: {error}"
        ) from error


def as_json(league: League, found: list[Standing]) -> str:
    """A league and its standing as one JSON object."""
    return json.dumps(
        {
            "seed": league.settings.seed,
            "balanced": league.settings.balanced,
            "pairs": len(league.pairs),
            "agents": [standing.as_json() for standing in found],
        },
        indent=2,
    )
