"""How many games a server keeps, and which it drops."""

from __future__ import annotations

import time

from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.memory import Memory
from azumaya.baselines.play.server.store import Store

AN_HOUR, A_MONTH = 3600, 30 * 24 * 3600
"""Where there are too many games, those without a move are dropped after an hour, others after a
month without one."""
DROPPED = 0.01
"""The share of the games that is dropped at once, since looking for them takes a while."""


class Room:
    """The room for games on a server.

    Args:
        store: where they are kept.
        memory: those that are kept ready.
        limits: how many there may be.
    """

    def __init__(self, store: Store, memory: Memory, limits: Limits) -> None:
        self._store, self._memory, self._limits = store, memory, limits

    def check(self, owner: str, *, is_asker: bool = True) -> None:
        """Raises `RefusalError` if there is no room for another game of an owner.

        Args:
            owner: the digest of the owner's token.
            is_asker: whether the owner asks, who alone can delete games.
        """
        most = self._limits.games
        if self._store.count() >= most and not self._drop(max(1, round(DROPPED * most))):
            raise RefusalError(503, f"the server keeps no more than {most:,} games")
        if self._store.count(owner) >= self._limits.games_of_one:
            most = self._limits.games_of_one
            if is_asker:
                raise RefusalError(429, f"you have {most:,} games already; delete one first")
            raise RefusalError(
                429, f"who began this game has {most:,} games already, and has to delete one first"
            )

    def _drop(self, count: int) -> bool:
        """Delete games that nobody plays; returns whether there was one."""
        now = time.time()
        dropped = self._store.remove_oldest(count, now - AN_HOUR, now - A_MONTH)
        self._memory.forget(dropped)
        return bool(dropped)
