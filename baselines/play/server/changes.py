"""What changes games: in the file first, otherwise it would be lost with the process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.access import (
    NOT_YOURS,
    OUT_OF_TIME,
    Access,
    OpenGame,
    owner_seats,
)
from azumaya.baselines.play.server.choices import Choices
from azumaya.baselines.play.server.clock import Clock
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.memory import Memory
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.baselines.system.files import is_count

AN_HOUR, A_MONTH = 3600, 30 * 24 * 3600
"""Where there are too many games, those without a move are dropped after an hour, others after a
month without one."""
DROPPED = 0.01
"""The share of the games that is dropped at once, since looking for them takes a while."""


class Changes:
    """Changes games in the file and in memory. Its methods raise `sqlite3.Error`.

    Args:
        store: where games are kept.
        memory: those that are kept ready.
        choices: what may be chosen.
        limits: the server's limits.
    """

    def __init__(self, store: Store, memory: Memory, choices: Choices, limits: Limits) -> None:
        self._store, self._memory, self._choices = store, memory, choices
        self._limits = limits

    def make_room(self, owner: str, *, is_asker: bool = True) -> None:
        """Raises `RefusalError` if there is no room for another game of an owner.

        Args:
            owner: the digest of the owner's token.
            is_asker: whether the owner asks, who alone can delete games.
        """
        most, now = self._limits.games, time.time()
        if self._store.count() >= most:
            count = max(1, round(DROPPED * most))
            dropped = self._store.remove_oldest(count, now - AN_HOUR, now - A_MONTH)
            self._memory.forget(dropped)
            if not dropped:
                raise RefusalError(503, f"the server keeps no more than {most:,} games")
        if self._store.count(owner) >= self._limits.games_of_one:
            most = self._limits.games_of_one
            if is_asker:
                raise RefusalError(429, f"you have {most:,} games already; delete one first")
            raise RefusalError(
                429, f"who began this game has {most:,} games already, and has to delete one first"
            )

    def play(self, opened: OpenGame, move: str) -> None:
        """Make a move; raises `ValueError` if it cannot be made."""
        table = opened.table
        if len(table.moves) >= self._limits.plies:
            raise RefusalError(409, f"a game here has at most {self._limits.plies:,} moves")
        after, mover = table.here.copy().play(move), table.here.to_move
        called = self.owners_names(opened.kept)
        result = people.outcome(after, called, after.returns()) if after.is_over else ""
        clock = opened.clock_at(time.time())
        if clock is not None and (after.is_over or after.to_move != mover):
            clock = clock.gained(mover)
        self._keep(opened, [*table.moves, move], clock, result)
        table.play(move)

    def go_back(self, opened: OpenGame, ply: int) -> None:
        """Take all moves back but the first `ply`."""
        clock = opened.clock_at(time.time())
        if clock is not None:
            clock = clock.without(opened.table.turns_since(ply))
        self._keep(opened, opened.table.moves[:ply], clock)
        opened.table.go_back(ply)
        opened.stones.clear()

    def end(self, opened: OpenGame, ending: str) -> None:
        """End a game as its players want it, or their time."""
        called, ended = self.owners_names(opened.kept), replace(opened, ending=ending)
        result = people.outcome(opened.table.here, called, ended.returns)
        self._keep(opened, opened.table.moves, opened.clock_at(time.time()), result, ending)
        opened.ending = ending

    def end_in_time(self, opened: OpenGame) -> None:
        """End a game in which somebody's time has run out."""
        running, clock = opened.running, opened.clock_at(time.time())
        if running is not None and clock is not None and not clock.left[running]:
            self.end(opened, f"{OUT_OF_TIME}{running}")

    def owners_names(self, kept: Kept) -> list[str]:
        """What the owner of a game calls both players."""
        return self._choices.names(kept.game, kept.players, owner_seats(kept))

    def _keep(
        self, opened: OpenGame, moves: Sequence[str], clock: Clock | None, result: str = "",
        ending: str = "",
    ) -> None:  # fmt: skip
        changes = self._store.keep_moves(opened.kept.id, moves, result, ending, clock)
        if changes is None:  # it was deleted meanwhile
            self._memory.forget([opened.kept.id])
            raise RefusalError(404, NOT_YOURS)
        opened.changes, opened.offer, opened.clock = changes, None, clock


def check_changes(game: Access, changes: object) -> None:
    """Raises `RefusalError` if the game has changed since a page showed it."""
    if not is_count(changes):
        raise RefusalError(400, "changes: the number in the view of the game is needed")
    if changes != game.changes:
        raise RefusalError(409, f"the game is at move {len(game.table.moves)} by now")
