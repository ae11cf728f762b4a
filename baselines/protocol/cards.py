"""Cards: the results of one contender in a file that anyone can check, and the leaderboard."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.agents.names import is_code
from azumaya.baselines.arena.intervals import wilson
from azumaya.baselines.arena.league.ratings import OUTCOMES
from azumaya.baselines.arena.report import counted, escaped, markdown
from azumaya.baselines.protocol.cells import FIELD, Cell, make_cell
from azumaya.baselines.protocol.report import OVERALL, overall
from azumaya.baselines.protocol.table import Setting, setting
from azumaya.baselines.protocol.tracks import TRACKS, agent_name, algorithm_of
from azumaya.baselines.system.files import read_json, shown, write_whole
from azumaya.baselines.system.journal import typed
from azumaya.envs import GAMES
from azumaya.envs.errors import brief
from azumaya.envs.extras import require

FORMAT = 1
MOST = 1_000_000
"""The most starts, and the most positions of an exam, that a card may claim."""
UNCOUNTED: Mapping[str, Any] = {
    "milliseconds": 0.0, "steps": 0, "minutes": 0.0, "azumaya": "", "commit": "", "cpu": "",
}  # fmt: skip
"""Fields of a cell that may differ where all answers and games are the same."""


class CardError(ValueError):
    """A file that is no card, or a card that this version cannot check."""


@dataclass(frozen=True)
class Card:
    """The results of one contender.

    Attributes:
        card: the format of the file.
        agent: the contender, see `azumaya.baselines.protocol.tracks`.
        track: the training budget it claims; empty if it was not trained.
        authors: who sends it.
        code: where its code is.
        hardware: what it was trained on, in words.
        setting: what all cells of its table have in common.
        cells: the results.
    """

    card: int
    agent: str
    track: str
    authors: str
    code: str
    hardware: str
    setting: Setting
    cells: tuple[Cell, ...]


def write_card(card: Card, path: Path) -> None:
    """Write a card; raises `OSError`."""
    msgspec = require("msgspec", "records")
    text: bytes = msgspec.json.format(msgspec.json.encode(asdict(card)), indent=1)
    write_whole(path, text + b"\n")


def read_card(path: Path) -> Card:
    """Read a card.

    Raises:
        CardError: the file is missing or no card.
    """
    try:
        found = read_json(path)
        if not isinstance(found, dict) or found.get("card") != FORMAT:
            raise ValueError(f"the first field must be card: {FORMAT}")
        card = typed(found, Card)
        check(card)
    except OSError as error:
        raise CardError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise CardError(f"{path}: no card: {error}") from None
    return card


def check(card: Card) -> None:
    """Check what a card says of itself; raises `ValueError`."""
    if card.track and card.track not in TRACKS:
        raise ValueError(f"track {brief(card.track)}: must be one of {', '.join(TRACKS)}")
    if not card.cells:
        raise ValueError("it has no cells")
    _check_jobs(card)
    if not 1 <= card.setting.starts <= MOST:
        raise ValueError(f"starts: must be from 1 to {MOST:,}")
    for cell in card.cells:
        if fault := _fault(cell, card.setting):
            raise ValueError(f"game {brief(cell.job.game)}, seed {cell.job.seed}: {fault}")


def _check_jobs(card: Card) -> None:
    """Check which cells a card has: no seed can be left out because it went badly."""
    jobs = [cell.job for cell in card.cells]
    if len(set(jobs)) < len(jobs) or {job.contender for job in jobs} != {card.agent}:
        raise ValueError("its cells must be of its own agent, and each there once")
    track = card.track if algorithm_of(card.agent) else ""
    if {job.track for job in jobs} != {track} or (algorithm_of(card.agent) and not track):
        raise ValueError("its cells must be of its track if an algorithm is trained, else of none")
    count = len(jobs) // len({job.game for job in jobs})
    seeds = {(job.game, seed) for job in jobs for seed in range(1, count + 1)}
    if {(job.game, job.seed) for job in jobs} != seeds:
        raise ValueError("every game must have the same seeds, from 1 on, none left out")


def _fault(cell: Cell, setting: Setting) -> str:
    """What is impossible about a cell, empty if nothing is."""
    if cell.job.game not in GAMES:
        return "there is no such game"
    if not (
        0 <= cell.kept_wins <= cell.wins <= MOST and 0 <= cell.kept_draws <= cell.draws <= MOST
    ):
        return "kept_wins and kept_draws must be from 0 to wins and draws"
    if min(cell.steps, cell.minutes, cell.regret, cell.milliseconds) < 0:
        return "steps, minutes, regret and milliseconds must be at least 0"
    if cell.pairs.keys() != {*FIELD} - {cell.job.contender}:
        return f"pairs must be those against {', '.join(FIELD)}"
    if any(len(pairs) != OUTCOMES or min(pairs) < 0 for pairs in cell.pairs.values()):
        return f"pairs must be {OUTCOMES} counts for each opponent"
    counts = {sum(pairs) for pairs in cell.pairs.values()}
    if len(counts) > 1 or not 1 <= max(counts) <= setting.starts:
        return "pairs must be as many against each opponent, at most one for each start"
    return ""


def schema() -> str:
    """The JSON schema of a card (needs the extra `records`)."""
    msgspec = require("msgspec", "records")
    text: bytes = msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Card)), indent=2)
    return text.decode()


@dataclass(frozen=True)
class Finding:
    """What came out when a cell was made again.

    Attributes:
        cell: as the card has it.
        again: as it came out.
    """

    cell: Cell
    again: Cell

    @property
    def same(self) -> bool:
        """Whether every answer and every game came out the same, as far as that is counted."""
        one, other = (replace(cell, **UNCOUNTED) for cell in (self.cell, self.again))
        return one == other

    @property
    def differences(self) -> list[str]:
        """In what the two differ, in words: in the agent's files, or by more than the intervals.

        What was trained again has other files where its time was limited, and may have on another
        machine. Regrets have no interval, so they are compared only if all else is the same. Agents
        that search for a time are different each time.
        """
        cell, again, found = self.cell, self.again, list[str]()
        if cell.agent != again.agent and not algorithm_of(cell.job.contender):
            found.append(f"the agent's files: {cell.agent or 'none'}, now {again.agent or 'none'}")
        if (cell.wins, cell.draws) != (again.wins, again.draws):
            found.append("the exam has other positions")
        else:
            found += _kept("wins", (cell.kept_wins, again.kept_wins), cell.wins)
            found += _kept("draws", (cell.kept_draws, again.kept_draws), cell.draws)
        for opponent in cell.pairs:
            one, other = (sum(each.pairs[opponent]) for each in (cell, again))
            found += [f"against {opponent}: {counted(one, 'pair')}, now {other}"] * (one != other)
            rates = f"against {opponent}: {cell.rate(opponent):.1%}, now {again.rate(opponent):.1%}"
            found += [rates] * apart(cell.interval(opponent), again.interval(opponent))
        alike = replace(cell, regret=again.regret, agent=again.agent)
        if cell.regret != again.regret and Finding(alike, again).same:
            found.append(f"the exam's regret: {cell.regret:g}, now {again.regret:g}")
        return found


def _kept(what: str, kept: tuple[int, int], count: int) -> list[str]:
    """In words, that two shares of an exam lie apart; nothing if they do not."""
    if not count:
        return []
    one, other = (share / count for share in kept)
    words = f"exam: {one:.1%} of {what} kept, now {other:.1%}"
    return [words] * apart(wilson(one, count), wilson(other, count))


def apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two intervals have no point in common."""
    return one[0] > other[1] or other[0] > one[1]


def verify(
    card: Card, folder: Path, count: int, seed: int = 0, trusted: bool = False
) -> Iterator[Finding]:
    """Make some cells of a card again, and compare.

    The agent's own files must be where its name says; what the library's algorithms train is
    trained again, unless it lies in the folder.

    Args:
        card: the card.
        folder: where trained runs are kept.
        count: how many cells, drawn at random.
        seed: which ones.
        trusted: whether code may be run that the card names: a program, or a class of a module.

    Raises:
        CardError: it was made with other exams, starts or opponents than this version has, or it
            names code and is not trusted.
        OptionError, CheckpointError, RunError: as `make_cell`.
    """
    if not trusted and any(is_code(agent_name(cell.job, Path())) for cell in card.cells):
        raise CardError(
            f"the card's agent {shown(card.agent)!r} is code, which could do anything here; read "
            "it, and if you trust it, say so: --trusted (trusted=True)"
        )
    own = setting(card.setting.starts)
    if card.setting != own:
        names = [name for name, value in asdict(own).items() if value != asdict(card.setting)[name]]
        raise CardError(
            f"the card was made with another {', '.join(names)} than this version of azumaya has; "
            f"install the one that made it: {card.cells[0].azumaya}"
        )
    for cell in random.Random(seed).sample(card.cells, min(count, len(card.cells))):
        yield Finding(cell, make_cell(cell.job, folder, card.setting.starts))


def leaderboard(cards: Sequence[Card]) -> str:
    """The cards as a table in Markdown, track by track, the best first.

    Ratings are over all cards, so they can be compared across tracks.

    Raises:
        CardError: the cards were made with different exams, starts or opponents.
    """
    if any(card.setting != cards[0].setting for card in cards):
        raise CardError("cards of different exams, starts or opponents cannot be compared")
    about: dict[str, Card] = {}
    for card in cards:
        name = taken = card.cells[0].job.label
        numbers = itertools.count(2)
        while name in about:  # others may call theirs the same
            name = f"{taken} #{next(numbers)}"
        about[name] = card
    ranked = overall({name: card.cells for name, card in about.items()})
    parts = []
    for track in sorted({card.track for card in cards}):
        rows = [
            (_plain(row.name), *row.on_a_page, *map(_plain, (by.authors, by.hardware, by.code)))
            for row in ranked
            if (by := about[row.name]).track == track
        ]
        title = TRACKS[track].about if track else "not trained by a budget"
        head = ("agent", *OVERALL, "by", "on", "code")
        parts.append(f"**{track or 'Open'}** ({title})\n\n{markdown(head, rows)}")
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    """Text of a card in a cell of a Markdown table, as it is, whatever markup it resembles."""
    if re.fullmatch(r"https://[\w./~%#?=&@:+-]+", text):
        return f"<{text}>"
    return escaped(text)
