"""Cards: the results of one contender in a file that anyone can check, and the leaderboard."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.report import markdown
from azumaya.baselines.protocol.cells import Cell, make_cell
from azumaya.baselines.protocol.report import OVERALL, overall
from azumaya.baselines.protocol.scores import label
from azumaya.baselines.protocol.table import Setting, setting
from azumaya.baselines.protocol.tracks import TRACKS, algorithm_of
from azumaya.baselines.system.files import UnusableFileError, read_json, write_whole
from azumaya.baselines.system.journal import typed
from azumaya.envs.errors import brief
from azumaya.envs.extras import require

FORMAT = 1
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
    except (OSError, UnusableFileError, ValueError) as error:
        raise CardError(f"{path}: no card: {error}") from None
    return card


def check(card: Card) -> None:
    """Check what a card says of itself; raises `ValueError`."""
    if card.track and card.track not in TRACKS:
        raise ValueError(f"track {brief(card.track)}: must be one of {', '.join(TRACKS)}")
    if not card.cells:
        raise ValueError("it has no cells")
    jobs = [cell.job for cell in card.cells]
    if len(set(jobs)) < len(jobs) or {job.contender for job in jobs} != {card.agent}:
        raise ValueError("its cells must be of its own agent, and each there once")


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

        Agents that search for a time, and trainings that are limited by it, are different each
        time; networks may be, on another machine.
        """
        cell, again, found = self.cell, self.again, list[str]()
        trained_again = algorithm_of(cell.job.contender) and TRACKS[cell.job.track].minutes
        if cell.agent != again.agent and not trained_again:
            found.append(f"the agent's files: {cell.agent or 'none'}, now {again.agent or 'none'}")
        if (cell.wins, cell.draws) != (again.wins, again.draws):
            found.append("the exam has other positions")
        if cell.exam_interval and again.exam_interval:
            shares = f"exam: {cell.exam:.1%} of wins kept, now {again.exam:.1%}"
            found += [shares] * apart(cell.exam_interval, again.exam_interval)
        for opponent in cell.pairs:
            rates = f"against {opponent}: {cell.rate(opponent):.1%}, now {again.rate(opponent):.1%}"
            found += [rates] * apart(cell.interval(opponent), again.interval(opponent))
        return found


def apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether two intervals have no point in common."""
    return one[0] > other[1] or other[0] > one[1]


def verify(card: Card, folder: Path, count: int, seed: int = 0) -> Iterator[Finding]:
    """Make some cells of a card again, and compare.

    The agent's own files must be where its name says; what the library's algorithms train is
    trained again, unless it lies in the folder.

    Args:
        card: the card.
        folder: where trained runs are kept.
        count: how many cells, drawn at random.
        seed: which ones.

    Raises:
        CardError: it was made with other exams, starts or opponents than this version has.
        OptionError, CheckpointError, RunError: as `make_cell`.
    """
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
    """The cards as a table in Markdown, track by track, the best first."""
    parts = []
    for track in sorted({card.track for card in cards}):
        here = [card for card in cards if card.track == track]
        about = {label(card.cells[0]): card for card in here}
        rows = [
            (name, *figures, about[name].authors, about[name].hardware, about[name].code)
            for name, *figures in overall(_cells(here))
        ]
        title = TRACKS[track].about if track else "not trained by a budget"
        head = ("agent", *OVERALL, "by", "on", "code")
        parts.append(f"**{track or 'Open'}** ({title})\n\n{markdown(head, rows)}")
    return "\n\n".join(parts) + "\n"


def _cells(cards: Iterable[Card]) -> list[Cell]:
    return [cell for card in cards for cell in card.cells]
