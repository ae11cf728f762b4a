"""Games worth looking at, with what a search thinks of each position: the gallery.

The games are records, since agents with a time per move do not play the same game twice.
`python -m azumaya.benchmarks.studies.gallery_maker` plays new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from azumaya.baselines.system.files import is_special, shown
from azumaya.envs import Position
from azumaya.envs.errors import RecordError
from azumaya.envs.extras import require
from azumaya.envs.notation import GameRecord, lines_of_records, replay

PACKAGED = Path(__file__).with_name("data") / "gallery.jsonl"
LARGEST = 64 << 20
"""Bytes of a file of games that is read: all of them are kept in memory."""
CLEAR = 0.15
"""A lead is counted if it is at least this share of the largest value of the game."""


@dataclass(frozen=True)
class Exhibit:
    """A game of the gallery.

    Attributes:
        record: the game.
        values: for each position, the start first, what player_0 ends with as a search sees it;
            empty if no search has looked at the game.
    """

    record: GameRecord
    values: tuple[float, ...] = ()

    @cached_property
    def _last_two(self) -> list[Position]:
        return list(replay(self.record))[-2:]

    @property
    def end(self) -> Position:
        """The last position."""
        return self._last_two[-1]

    @property
    def title(self) -> str:
        """The name of the game."""
        return self.end.game.title

    @property
    def last_action(self) -> int | None:
        """The action that led to the last position."""
        moves = self.record.moves
        return self._last_two[0].action(moves[-1]) if moves else None

    @property
    def players(self) -> str:
        """Who played, player_0 first."""
        names = (name or f"player_{n}" for n, name in enumerate(self.record.players))
        return " - ".join(names)

    @property
    def story(self) -> str:
        """How the game went, in one or two sentences."""
        plies, result = len(self.record.moves), self.record.returns[0]
        if not self.end.is_over:
            said = f"Not finished after {plies} moves"
        elif result:
            by = f" by {abs(result):g}" if abs(result) > 1 else ""
            said = f"player_{int(result < 0)} wins{by} after {plies} moves"
        else:
            said = f"A draw after {plies} moves"
        return f"{said}. {self._leads}".strip()

    @property
    def _leads(self) -> str:
        if not self.values:
            return ""
        plies = turns(self.values)
        if not plies:
            said = "the lead never changed" if any(self.values) else "neither side ever led"
            return f"According to the search, {said}."
        often = "once" if len(plies) == 1 else f"{len(plies)} times"
        where = "at" if len(plies) == 1 else "for the last time at"
        return f"According to the search, the lead changed {often}, {where} move {plies[-1]}."


def turns(values: Sequence[float]) -> list[int]:
    """The plies at which the lead passes from one player to the other.

    A value near 0 gives nobody the lead, so that the noise of a search in an even game does not
    count.
    """
    clear, leader, found = CLEAR * max(map(abs, values), default=0), 0, []
    for ply, value in enumerate(values):
        now = 0 if abs(value) < clear or not value else 1 if value > 0 else -1
        if now and leader and now != leader:
            found.append(ply)
        leader = now or leader
    return found


def read_gallery(path: Path | None = None) -> list[Exhibit]:
    """The games of a gallery.

    Args:
        path: a file of game records, one per line, with or without values; None for the games that
            come with the package. These are not played through here: that would compile every
            game.

    Raises:
        RecordError: a line is not a record, or a game in a file breaks the rules. Or it is no
            regular file, or larger than `LARGEST` bytes.
        OSError: the file cannot be read.
        MissingExtraError: the extra `records` is not installed.
    """
    place, found = path or PACKAGED, []
    if is_special(place):
        raise RecordError(f"{shown(place)}: not a regular file")
    if place.stat().st_size > LARGEST:
        raise RecordError(f"{shown(place)}: larger than {LARGEST:,} bytes")
    for number, line in lines_of_records(place):
        if line.strip():
            try:
                found.append(_read(line, played=path is not None))
            except ValueError as error:
                raise RecordError(f"{shown(place)}, line {number}: {error}") from error
    return found


def _read(line: bytes, played: bool) -> Exhibit:
    """The game of a line, an exhibit or a record alone; `played`: play it through to check it."""
    msgspec = require("msgspec", "records")
    try:
        held = msgspec.json.decode(line)
        if isinstance(held, dict) and "record" in held:
            exhibit: Exhibit = msgspec.convert(held, Exhibit)
        else:
            exhibit = Exhibit(GameRecord.from_json(line))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise RecordError(str(error)) from error
    if played:
        list(replay(exhibit.record))
    if exhibit.values and len(exhibit.values) != len(exhibit.record.moves) + 1:
        raise RecordError("values: one for each position is needed")
    return exhibit


def gallery_line(exhibit: Exhibit) -> str:
    """A game of the gallery as a line of JSON, which `read_gallery` reads."""
    values = ",".join(f"{value:.3g}" for value in exhibit.values)
    return f'{{"record":{exhibit.record.to_json()},"values":[{values}]}}'
