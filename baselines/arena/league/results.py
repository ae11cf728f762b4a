"""The file of a league: lines of JSON with its settings, its agents and its pairs of games.

Before the pairs of a process there is a line that says when and where they were played. Lines are
only ever appended. A writer that is killed leaves a torn last line at most, which is dropped when
the file is opened again; the pair is then played again.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.starts import balanced_starts
from azumaya.baselines.system.files import is_count, is_special, parse_json, shown
from azumaya.baselines.system.machine import commit, cpu_model
from azumaya.baselines.version import version
from azumaya.baselines.work_file import LineFile, line_text
from azumaya.envs import GAMES
from azumaya.envs.adapters.batch.workers import available_cores
from azumaya.envs.errors import brief
from azumaya.envs.position import check_seed

FORMAT = 1
FLUSHED = 1.0
"""Seconds between flushes to the disk."""
LONGEST = 1 << 20
"""Bytes of the longest line that is read."""


class LeagueFileError(ValueError):
    """A file that is no league's, or of a league with other settings."""


@dataclass(frozen=True)
class PairKey:
    """What tells a pair of games apart.

    Attributes:
        game: the name of the game.
        number: the number of the start.
        first: the id of the first agent; it sorts before that of the second.
        second: the id of the second agent.
    """

    game: str
    number: int
    first: str
    second: str


@dataclass(frozen=True)
class PairResult:
    """The two games of a pair, which have the same start; first with the first agent as player_0.

    Attributes:
        key: what tells it apart.
        results: 1, 0 or -1 for each game: won, drawn or lost by the first agent.
        plies: the length of each game; 0 where one agent crashed or was too slow.
        moves: the moves of each agent in both games, without the first of each game.
        milliseconds: the time that each agent took for these moves.
        faults: for each game, None, or which agent lost it by a fault (0 or 1) and what happened.
    """

    key: PairKey
    results: tuple[int, int]
    plies: tuple[int, int]
    moves: tuple[int, int]
    milliseconds: tuple[float, float]
    faults: tuple[tuple[int, str] | None, tuple[int, str] | None] = (None, None)


@dataclass(frozen=True)
class Settings:
    """What all games of a league depend on.

    Attributes:
        seed: the seed of the first start; all else left to chance depends on it, too.
        balanced: whether games start from books of balanced starts where there are any.
        starts: by game, a digest of its book; empty for plain starts.
    """

    seed: int = 0
    balanced: bool = True
    starts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Session:
    """When and where a process added pairs to a file.

    Attributes:
        date: the day of the first of these pairs, as `2026-11-25`.
        cpu: the name of the processor; with Ray, that of the machine that stores the results.
        cores: how many cores there were.
        azumaya: the version of the library.
        commit: the commit of its checkout, with `+` and a digest if its code was changed; `none`
            without one.
    """

    date: str
    cpu: str
    cores: int
    azumaya: str
    commit: str


def this_session() -> Session:
    """A session of this process that begins now."""
    today = datetime.date.today().isoformat()
    return Session(today, cpu_model(), available_cores(), version(), commit())


def settings_for(seed: int, balanced: bool) -> Settings:
    """The settings of a new league, with the books of this version."""
    return Settings(seed, balanced, {game: _book(game) if balanced else "" for game in GAMES})


def _book(game: str) -> str:
    texts = "\n".join(balanced_starts(game))
    return hashlib.sha256(texts.encode()).hexdigest()[:12] if texts else ""


@dataclass
class League:
    """What a file contains.

    Attributes:
        settings: of all games.
        cards: by id, in the order in which the agents joined.
        pairs: by key; a pair that is in the file twice counts once.
        sessions: in which they were played; files of earlier versions have none.
        size: the bytes of the whole lines that were read.
    """

    settings: Settings
    cards: dict[str, AgentCard] = field(default_factory=dict)
    pairs: dict[PairKey, PairResult] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)
    size: int = 0

    def in_order(self) -> list[PairResult]:
        """The pairs in an order that does not depend on when they were played."""
        return [
            self.pairs[key] for key in sorted(self.pairs, key=lambda k: tuple(vars(k).values()))
        ]


def read_league(path: Path | str) -> League:
    """Read a file of results; a torn last line is left out.

    Raises:
        LeagueFileError: it is not the file of a league; the error names the line.
        OSError: it cannot be read.
    """
    league, number, path = None, 0, Path(path)
    _check_regular(path)
    with path.open("rb") as file:
        while (line := file.readline(LONGEST)).endswith(b"\n"):
            number += 1
            try:
                league = _take(league, parse_json(line))
            except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
                raise LeagueFileError(
                    f"{shown(path)}, line {number}: no line of a league: {error}"
                ) from error
            league.size += len(line)
        if len(line) == LONGEST:
            raise LeagueFileError(f"{shown(path)}, line {number + 1}: more than {LONGEST:,} bytes")
    if league is None:
        raise LeagueFileError(f"{shown(path)}: no line with the settings of a league")
    return league


def is_begun(path: Path) -> bool:
    """Whether a file has a whole first line, be it that of a league or of something else."""
    return path.is_file() and _first_line(path).endswith(b"\n")


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline(LONGEST)


def _check_regular(path: Path) -> None:
    if is_special(path):
        raise LeagueFileError(f"{shown(path)}: not a regular file")


def _take(league: League | None, line: Any) -> League:
    """Add a line to what was read before it."""
    kind = line.pop("record")
    if league is None:
        if kind != "league" or line.pop("format") != FORMAT:
            raise ValueError(f"the first line must be that of a league of format {FORMAT}")
        del line["azumaya"]
        settings = Settings(**line)
        if not is_count(settings.seed) or not isinstance(settings.starts, dict):
            raise ValueError("seed and starts must be a number and an object")
        return League(settings)
    if kind == "agent":
        card = read_card(line)
        league.cards[card.id] = card
    elif kind == "pair":
        result = _pair_of(line)
        cards = [league.cards.get(each) for each in (result.key.first, result.key.second)]
        if not all(card and result.key.game in card.games for card in cards):
            raise ValueError(f"a pair of agents that have not joined for {result.key.game}")
        league.pairs.setdefault(result.key, result)
    elif kind == "session":
        session = Session(**line)
        _check_texts(session.date, session.cpu, session.azumaya, session.commit)
        league.sessions.append(session)
    else:
        raise ValueError(f"record {kind!r} is unknown")
    return league


def _pair_of(line: dict[str, Any]) -> PairResult:
    key = PairKey(*(line.pop(item.name) for item in fields(PairKey)))
    if not is_count(key.number):
        raise ValueError(f"number={key.number!r}: must be a whole number from 0")
    _check_texts(key.game, key.first, key.second)
    first, second = map(_fault_of, line.pop("faults", (None, None)))
    if not key.first < key.second:
        raise ValueError("first and second: must be two agents, in the order of their ids")
    for name, value in line.items():
        if not isinstance(value, list) or len(value) != 2:
            raise ValueError(f"{name}={brief(value)}: must be two values")
    result = PairResult(key, faults=(first, second), **{k: tuple(v) for k, v in line.items()})
    if not all(is_count(each, -1) and each <= 1 for each in result.results):
        raise ValueError(f"results={result.results}: must be 1, 0 or -1")
    for fault, value in zip(result.faults, result.results, strict=True):
        if fault and value != 2 * fault[0] - 1:
            raise ValueError(f"results={result.results}: must be losses of agents that failed")
    for name in ("plies", "moves", "milliseconds"):
        each = getattr(result, name)
        if not all(isinstance(v, int | float) and 0 <= v < math.inf for v in each):
            raise ValueError(f"{name}={each}: must be numbers from 0")
    return result


def _check_texts(*values: Any) -> None:
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{brief(value)}: must be a text")


def _fault_of(saved: Any) -> tuple[int, str] | None:
    if not saved:
        return None
    which, what = saved
    if which not in (0, 1):
        raise ValueError(f"fault={saved}: must be of agent 0 or 1")
    return which, str(what)


def read_card(line: dict[str, Any]) -> AgentCard:
    """The card in a JSON object of its fields.

    Raises:
        ValueError, TypeError, KeyError: these are not the fields of a card.
    """
    card = AgentCard(**{**line, "games": tuple(map(str, line["games"]))})
    _check_texts(card.name, card.kind, card.digest)
    if not isinstance(card.training, dict):
        raise ValueError(f"training={card.training!r}: must be an object")
    if card.milliseconds is not None and not isinstance(card.milliseconds, int | float):
        raise ValueError(f"milliseconds={card.milliseconds!r}: must be a number or null")
    return card


def _line(record: str, **values: Any) -> str:
    return line_text({"record": record, **values})


class LeagueFile:
    """A file of results to which games are added.

    Only one process can have it open.

    Args:
        path: the file; made if it does not exist.
        seed: the seed; None is that of the file, or 0 for a new one.
        balanced: whether to use balanced starts; None is as in the file, or True for a new one.

    Raises:
        LeagueFileError: the file has other settings, is no league's, or is in use.
        OptionError: the seed is invalid.
        OSError: it cannot be read or written.
    """

    def __init__(
        self, path: Path | str, seed: int | None = None, balanced: bool | None = None
    ) -> None:
        self.path, self._flushed, self._told = Path(path), 0.0, False
        path = self.path
        check_seed(seed or 0)
        _check_regular(path)
        self._file = LineFile(path, LeagueFileError(f"{shown(path)}: another league is using it"))
        try:
            settings = settings_for(seed or 0, balanced is not False)
            head = _line("league", format=FORMAT, azumaya=version(), **asdict(settings))
            first = _first_line(path)
            if first != head.encode() and head.encode().startswith(first):
                self._file.cut(0)  # a line that was only half written
                self._file.append(head)
                self.league = League(settings)
            else:
                self.league = read_league(path)
                self._agree(seed, balanced)
                self._file.cut(self.league.size)  # likewise
        except BaseException:
            self._file.close()
            raise

    def add_card(self, card: AgentCard) -> None:
        """Add an agent; one that has joined before can play further games from now on."""
        before = self.league.cards.get(card.id)
        if before is not None:
            games = dict.fromkeys((*before.games, *card.games))
            card = replace(before, games=tuple(games))
        if card != before:
            self._append("agent", **asdict(card))
            self.league.cards[card.id] = card

    def add_pair(self, result: PairResult) -> None:
        """Add a pair of games, unless it is there."""
        if result.key not in self.league.pairs:
            more = {k: v for k, v in asdict(result).items() if k not in ("key", "faults")}
            if any(result.faults):
                more["faults"] = result.faults
            self._tell()
            self._append("pair", **asdict(result.key), **more)
            self.league.pairs[result.key] = result

    def _tell(self) -> None:
        """Before the first pair, say when and where it was played, unless the file says so."""
        if not self._told:
            session = this_session()
            if self.league.sessions[-1:] != [session]:
                self._append("session", **asdict(session))
                self.league.sessions.append(session)
            self._told = True

    def close(self) -> None:
        """Flush to the disk and close."""
        try:
            self._file.sync()
        finally:
            self._file.close()

    def _append(self, record: str, **values: Any) -> None:
        self._file.append(_line(record, **values))
        if time.monotonic() - self._flushed > FLUSHED:
            self._file.sync()
            self._flushed = time.monotonic()

    def _agree(self, seed: int | None, balanced: bool | None) -> None:
        kept = self.league.settings
        wanted = settings_for(
            kept.seed if seed is None else seed, kept.balanced if balanced is None else balanced
        )
        for name in ("seed", "balanced"):
            there, asked = getattr(kept, name), getattr(wanted, name)
            if there != asked:
                raise LeagueFileError(
                    f"{shown(self.path)}: the league was played with {name}={there}, not {asked}; "
                    "use the same, or another file"
                )
        other = [game for game, book in wanted.starts.items() if kept.starts.get(game) != book]
        if other:
            raise LeagueFileError(
                f"{shown(self.path)}: the league was played from other balanced starts of "
                f"{', '.join(other)} than this version has; use another file"
            )
