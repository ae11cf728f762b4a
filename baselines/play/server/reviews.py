"""What searches say of games that are over, found in the background and kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool

from azumaya.baselines.play.review import Seen, as_object, seen
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.readiness import Readiness
from azumaya.baselines.play.server.store import Store
from azumaya.baselines.play.server.workers import Workers
from azumaya.envs.notation import GameRecord, replay

POSITION_MS, GAME_MS = 300, 60_000
"""The most milliseconds to search one position of a game, and all of them."""
OF_ONE = 2
"""Games of one visitor that are searched at the same time."""


@dataclass
class Review:
    """A review under way.

    Attributes:
        visitor: for whom; empty for everybody.
        plies: what was found so far, the start first.
        task: finds more.
        error: why it has ended early.
    """

    visitor: str
    plies: list[Seen] = field(default_factory=list)
    task: asyncio.Task[None] | None = None
    error: Exception | None = None


class Reviews:
    """What searches say of the games of a server.

    Args:
        store: keeps what was found.
        workers: who searches.
        readiness: knows what has been compiled.
        limits: the server's limits.

    Attributes:
        readiness: the same.
    """

    def __init__(
        self, store: Store, workers: Workers, readiness: Readiness, limits: Limits
    ) -> None:
        self._store, self._workers, self.readiness = store, workers, readiness
        self._limits = limits
        self._running: dict[tuple[str, int], Review] = {}

    async def look(
        self, name: str, changes: int, record: GameRecord, visitor: str = ""
    ) -> dict[str, Any]:
        """What was found so far; begins the review if that has not been done.

        Args:
            name: the game's name in the store.
            changes: those of the game: a review is about one state of it.
            record: the game.
            visitor: for whom; empty for everybody.

        Returns:
            As `as_object`, and `positions`, the number of all positions.

        Raises:
            RefusalError: too much is searched for this visitor, or for all.
            AgentFailedError: a search failed.
        """
        plies = await run_in_threadpool(self.kept, name, changes)
        if plies is None:
            plies = self._under_way((name, changes), record, visitor).plies
        return {**as_object(plies, record.moves), "positions": len(record.moves) + 1}

    def kept(self, name: str, changes: int) -> list[Seen] | None:
        """What was found about a game, once all of it has been searched."""
        return self._store.review(name, changes)

    def _under_way(self, key: tuple[str, int], record: GameRecord, visitor: str) -> Review:
        review = self._running.get(key)
        if review is None:
            begun = (each for each in self._running.values() if each.error is None)
            if visitor and sum(each.visitor == visitor for each in begun) >= OF_ONE:
                raise RefusalError(503, "wait until your other games have been analysed")
            review = self._running[key] = Review(visitor)
            review.task = asyncio.create_task(self._search(key, review, record))
        elif review.error is not None:  # told once; whoever asks again begins anew
            del self._running[key]
            raise review.error
        return review

    async def _search(self, key: tuple[str, int], review: Review, record: GameRecord) -> None:
        try:
            positions = await run_in_threadpool(lambda: list(replay(record)))
            each = min(POSITION_MS, GAME_MS / len(positions), self._limits.search)
            await self.readiness.hint(positions[0])
            for ply, position in enumerate(positions):
                found = await self._workers.run(
                    partial(seen, milliseconds=each), position, ply, milliseconds=each,
                    seconds=self._limits.move_seconds, visitor=review.visitor,
                )  # fmt: skip
                review.plies.append(found)
            await run_in_threadpool(self._store.keep_review, *key, review.plies)
        except Exception as error:
            review.error = error
        else:
            del self._running[key]
