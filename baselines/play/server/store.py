"""The games of the server, in SQLite: they survive a restart, and the process being killed."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from azumaya.baselines.play.server.clock import Clock

SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    share TEXT NOT NULL UNIQUE,
    visitor TEXT NOT NULL,
    game TEXT NOT NULL,
    options TEXT NOT NULL,
    players TEXT NOT NULL,
    seed INTEGER NOT NULL,
    moves TEXT NOT NULL,
    touched REAL NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS games_of_visitors ON games (visitor, touched);
CREATE TABLE IF NOT EXISTS reviews (
    name TEXT PRIMARY KEY,
    changes INTEGER NOT NULL,
    plies TEXT NOT NULL
) STRICT;
CREATE TRIGGER IF NOT EXISTS no_review_without_game AFTER DELETE ON games
BEGIN
    DELETE FROM reviews WHERE name = OLD.id;
END;
"""
REMATCHES = """
CREATE INDEX IF NOT EXISTS games_of_rematches ON games (rematch);
CREATE TRIGGER IF NOT EXISTS no_rematch_without_game AFTER DELETE ON games
BEGIN
    UPDATE games SET rematch = '' WHERE rematch > OLD.id || '.' AND rematch < OLD.id || '/';
END;
"""
"""A slash is what follows a dot: what begins with the id and a dot lies between the two."""
LATER = (
    "trained TEXT NOT NULL DEFAULT '{}'", "changes INTEGER NOT NULL DEFAULT 0",
    "result TEXT NOT NULL DEFAULT ''", "guest TEXT NOT NULL DEFAULT ''",
    "ending TEXT NOT NULL DEFAULT ''", "clock TEXT NOT NULL DEFAULT 'null'",
    "series TEXT NOT NULL DEFAULT ''", "rematch TEXT NOT NULL DEFAULT ''",
)  # fmt: skip
"""Columns that were added later; files of earlier versions lack them."""
OF_GALLERY = "gallery/"
"""How the names of the gallery's games begin, which are not among the games."""
SECONDS_TO_LOCK = 2.0
"""How long to wait for a server that is just ending and still uses the file."""


class StoreInUseError(Exception):
    """Another server is using the file of the games."""


@dataclass(frozen=True)
class Kept:
    """A game as it is kept: all that is needed to play it again from the start.

    Attributes:
        id: names the game to its owner.
        share: names the game to those who may look on.
        visitor: the digest of the owner's token.
        game: the game's name.
        options: the options as they were typed.
        players: the players' names, player_0 first.
        seed: draws the start, and the agents' random choices.
        moves: the names of the moves.
        touched: when it last changed, in seconds since 1970.
        trained: options that its checkpoints were trained with, where the visitor typed none.
        changes: how often a move was made, or moves were taken back.
        result: how it ended, for people; empty while it goes on, or if an earlier version kept it.
        guest: the digest of the token in a friend's link; empty if there is none.
        ending: how the players have ended it, as in `access.OpenGame`; empty if they have not.
        clock: its clock as of the last change; None if it has none.
        series: the id of the first of the games of which this one is a rematch; empty if none.
        rematch: the id of the next of these games, and what names it to those who look on.
    """

    id: str
    share: str
    visitor: str
    game: str
    options: Mapping[str, str]
    players: tuple[str, str]
    seed: int
    moves: tuple[str, ...] = ()
    touched: float = 0.0
    trained: Mapping[str, Any] = field(default_factory=dict)
    changes: int = 0
    result: str = ""
    guest: str = ""
    ending: str = ""
    clock: Clock | None = None
    series: str = ""
    rematch: str = ""


NAMES = tuple(field.name for field in fields(Kept))
COLUMNS = ", ".join(NAMES)
AS_JSON = ("options", "players", "moves", "trained")
"""Columns that hold JSON, besides the clock."""


class Store:
    """The games in a file, which no other program can use until `close`.

    A server keeps games in memory, so a second one with the same file would not see the moves of
    the first, and overwrite them.

    Args:
        path: the file; made if it is not there. Its folder must be there.

    Attributes:
        number: tells the file from others.

    Raises:
        StoreInUseError: another server is using the file.
        sqlite3.Error: the file cannot be used.
    """

    def __init__(self, path: Path | str) -> None:
        if str(path) != ":memory:":
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # for the owner alone
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(
            path, timeout=SECONDS_TO_LOCK, check_same_thread=False, isolation_level=None
        )
        try:
            self._set_up()
        except sqlite3.Error as error:
            self._connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:  # more bits say where
                raise StoreInUseError("another server is using the file") from error
            raise

    def _set_up(self) -> None:
        # SQLite takes the lock with the first access that follows; it ends with the process.
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
        self._connection.executescript(SCHEMA)
        there = {name for _, name, *_ in self._connection.execute("PRAGMA table_info (games)")}
        for column in LATER:
            if column.partition(" ")[0] not in there:
                self._connection.execute(f"ALTER TABLE games ADD COLUMN {column}")
        self._connection.executescript(REMATCHES)
        (self.number,) = self._connection.execute("PRAGMA user_version").fetchone()
        if not self.number:
            self.number = 1 + secrets.randbelow(2**31 - 1)
            self._connection.execute(f"PRAGMA user_version = {self.number}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def add(self, kept: Kept) -> None:
        """Keep a new game."""
        row = {**vars(kept), "touched": time.time(), "clock": _clock_text(kept.clock)}
        row |= {name: json.dumps(row[name]) for name in AS_JSON}
        places = ", ".join("?" * len(row))
        self._run(f"INSERT INTO games ({COLUMNS}) VALUES ({places})", [*row.values()])

    def keep_moves(
        self, game: str, moves: Sequence[str], result: str = "", ending: str = "",
        clock: Clock | None = None,
    ) -> int | None:  # fmt: skip
        """Keep the moves of a game with its clock, and how it ended, if it has.

        Returns:
            Its changes so far; None if there is no such game.
        """
        kept = self._run(
            "UPDATE games SET moves = ?, touched = ?, changes = changes + 1, result = ?, "
            "ending = ?, clock = ? WHERE id = ? RETURNING changes",
            (json.dumps(list(moves)), time.time(), result, ending, _clock_text(clock), game),
        )
        return int(kept[0][0]) if kept else None

    def keep_rematch(self, game: str, rematch: str) -> None:
        """Keep which game follows a game."""
        self._run("UPDATE games SET rematch = ? WHERE id = ?", (rematch, game))

    def remove(self, game: str) -> None:
        """Delete a game, if there is such a game."""
        self._run("DELETE FROM games WHERE id = ?", (game,))

    def remove_oldest(self, count: int, empty_before: float, before: float) -> list[str]:
        """Delete games that nobody plays: those without a move first, of either the oldest first.

        Args:
            count: at most so many.
            empty_before: games without a move must have been begun before, in seconds since 1970.
            before: games with moves must have been touched last before.

        Returns:
            Their ids.
        """
        removed = self._run(
            "DELETE FROM games WHERE id IN (SELECT id FROM games "
            "WHERE (moves = '[]' AND touched < ?) OR touched < ? "
            "ORDER BY moves != '[]', touched LIMIT ?) RETURNING id",
            (empty_before, before, count),
        )
        return [name for (name,) in removed]

    def keep_review(self, name: str, changes: int, plies: Sequence[Mapping[str, Any]]) -> None:
        """Keep what a search says of the positions of a game, unless it was deleted.

        Args:
            name: the game's id, or `OF_GALLERY` and what tells a game of a gallery from others.
            changes: those of the game when it was searched.
            plies: what was found, position by position.
        """
        self._run(
            "INSERT OR REPLACE INTO reviews SELECT ?1, ?2, ?3 WHERE ?1 LIKE ?4 "
            "OR EXISTS (SELECT 1 FROM games WHERE id = ?1)",
            (name, changes, json.dumps(plies), f"{OF_GALLERY}%"),
        )

    def review(self, name: str, changes: int) -> list[Any] | None:
        """What `keep_review` kept of a game with these changes; None if there is nothing."""
        rows = self._run(
            "SELECT plies FROM reviews WHERE name = ? AND changes = ?", (name, changes)
        )
        return list(json.loads(rows[0][0])) if rows else None

    def find(self, game: str) -> Kept | None:
        """The game of an id."""
        return self._one("id", game)

    def shared(self, share: str) -> Kept | None:
        """The game that may be looked at by this name."""
        return self._one("share", share)

    def of_visitor(self, visitor: str, most: int) -> list[Kept]:
        """The games of a visitor, the last touched first."""
        rows = self._run(
            f"SELECT {COLUMNS} FROM games WHERE visitor = ? ORDER BY touched DESC LIMIT ?",
            (visitor, most),
        )
        return [_kept(row) for row in rows]

    def count(self, visitor: str | None = None) -> int:
        """How many games there are, all or those of a visitor."""
        where, values = ("", ()) if visitor is None else ("WHERE visitor = ?", (visitor,))
        return int(self._run(f"SELECT COUNT(*) FROM games {where}", values)[0][0])

    def _one(self, column: str, value: str) -> Kept | None:
        rows = self._run(f"SELECT {COLUMNS} FROM games WHERE {column} = ?", (value,))
        return _kept(rows[0]) if rows else None

    def _run(self, command: str, values: Sequence[object]) -> list[Any]:
        with self._lock:
            return self._connection.execute(command, values).fetchall()


def _kept(row: Sequence[Any]) -> Kept:
    found = dict(zip(NAMES, row, strict=True))
    found |= {name: json.loads(found[name]) for name in (*AS_JSON, "clock")}
    times = found["clock"]
    found |= {
        "players": tuple(found["players"]), "moves": tuple(found["moves"]),
        "clock": times and Clock(times[0], times[1], (times[2], times[3]), times[4]),
    }  # fmt: skip
    return Kept(**found)


def _clock_text(clock: Clock | None) -> str:
    return json.dumps(clock and [clock.total, clock.increment, *clock.left, clock.since])
