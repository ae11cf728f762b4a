"""The file of a league: lines of JSON with its settings, its agents and its pairs of games.

Before the pairs of a process there is a line that says when and where they were played. The pair of
a torn last line is played again.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from azumaya.baselines.arena.league.cards import AgentCard
from azumaya.baselines.arena.starts import balanced_starts
from azumaya.baselines.system.journal import Journal, Kind, Line, read_head, read_journal, typed
from azumaya.baselines.system.machine import commit, cpu_model, version
from azumaya.envs import GAMES
from azumaya.envs.engine.workers import available_cores
from azumaya.envs.position import check_seed

FORMAT = 1


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


KEYS = tuple(field.name for field in fields(PairKey))


@dataclass(frozen=True)
class PairResult:
    """The two games of a pair, which have the same start; first with the first agent as player_0.

    Attributes:
        key: what tells it apart.
        results: 1, 0 or -1 for each game: won, drawn or lost by the first agent.
        plies: the length of each game; 0 where an agent lost it by a fault.
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
    """

    settings: Settings
    cards: dict[str, AgentCard] = field(default_factory=dict)
    pairs: dict[PairKey, PairResult] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)

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
    league = League(Settings())

    def see(number: int, line: Line) -> None:
        if number > 1:
            _take(league, line)
        else:
            league.settings = _settings_in(line)

    read_journal(Path(path), LEAGUE, see)
    return league


def _settings_in(head: Line) -> Settings:
    """The settings in the first line of a league."""
    if head.pop("record") != "league" or head.pop("format") != FORMAT:
        raise ValueError(f"the first line must be that of a league of format {FORMAT}")
    del head["azumaya"]
    return typed(head, Settings)


def _kept_settings(path: Path) -> Settings:
    """The settings of the league in a file, or those of a new one."""
    try:
        return _settings_in(read_head(path) or {})
    except (ValueError, KeyError):
        return Settings()


def _take(league: League, line: Line) -> None:
    """Add a line to what was read before it."""
    kind = line.pop("record")
    if kind == "agent":
        card = typed(line, AgentCard)
        league.cards[card.id] = card
    elif kind == "pair":
        result = _pair_in(line)
        cards = [league.cards.get(each) for each in (result.key.first, result.key.second)]
        if not all(card and result.key.game in card.games for card in cards):
            raise ValueError(f"a pair of agents that have not joined for {result.key.game}")
        league.pairs.setdefault(result.key, result)
    elif kind == "session":
        league.sessions.append(typed(line, Session))
    else:
        raise ValueError(f"record {kind!r} is unknown")


def _pair_in(line: Line) -> PairResult:
    key = {name: line.pop(name) for name in KEYS if name in line}
    return typed({"key": key, **line}, PairResult)


def _other_settings(found: Line, wanted: Line) -> str:
    """Why a league with these settings cannot go on with those; empty if it can."""
    there = _settings_in(dict(found))
    for name in ("seed", "balanced"):
        if found[name] != wanted[name]:
            return (
                f"the league was played with {name}={found[name]}, not {wanted[name]}; "
                "use the same, or another file"
            )
    other = [game for game, book in wanted["starts"].items() if there.starts.get(game) != book]
    if other:
        return (
            f"the league was played from other balanced starts of {', '.join(other)} than this "
            "version has; use another file"
        )
    return ""


LEAGUE = Kind(
    LeagueFileError, "not the file of a league", "another league is using it", _other_settings
)


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
        self.path, self._told = Path(path), False
        seed = None if seed is None else check_seed(seed)
        kept = _kept_settings(self.path)
        settings = settings_for(
            kept.seed if seed is None else seed, kept.balanced if balanced is None else balanced
        )
        self.league = League(settings)
        head = {"record": "league", "format": FORMAT, "azumaya": version(), **asdict(settings)}
        self._file = Journal(self.path, head, LEAGUE, lambda line: _take(self.league, line))

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
        self._file.close()

    def _append(self, record: str, **values: Any) -> None:
        self._file.append({"record": record, **values})
