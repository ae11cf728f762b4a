"""Kernels that agents and hints need are compiled when a game begins, before they are asked.

A search can take a minute to compile. One process does it, while the person thinks about the
first move; the others wait and then read the result from disk instead of compiling it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from math import inf

from azumaya.baselines.agents.names import SIMPLE, read_search_name
from azumaya.baselines.play.server.workers import Workers, hint, think
from azumaya.envs import OptionError, Position

BRIEF_MS = 1.0
"""The time of a search that is made only to compile it."""
HINT = "hint"
Work = Callable[[], Awaitable[object]]


def brief_name(player: str) -> str | None:
    """The name of an agent that needs the same kernels as a player but little time.

    None for people, and for agents whose time is unknown.
    """
    if player in SIMPLE:
        return player
    try:
        said = read_search_name(player)
    except OptionError:  # a person, a checkpoint, a class or a program
        return None
    return f"{said.kind}:{BRIEF_MS:g}ms" + (f":{said.path}" if said.path else "")


class Readiness:
    """What has been compiled, or is being compiled, by game.

    Args:
        workers: who compiles. Without processes of their own nothing is compiled in advance.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._hinting = asyncio.Lock()

    def begin(self, players: Iterable[str], position: Position) -> None:
        """Begin to compile what a game will need.

        Args:
            players: the names of its players.
            position: where it begins.
        """
        for player in players:
            self._agent(player, position)
        if self._workers.count > 1:  # a single process must not be busy with hints nobody asks for
            self._hint(position)

    async def agent(self, player: str, position: Position) -> None:
        """Wait until an agent can play without compiling."""
        await _end_of(self._agent(player, position))

    async def hint(self, position: Position) -> None:
        """Wait until a hint can be searched for without compiling."""
        await _end_of(self._hint(position))

    def _agent(self, player: str, position: Position) -> asyncio.Task[None] | None:
        name = brief_name(player)
        if name is None:
            return None
        work = partial(self._workers.run, think, name, position, 0, milliseconds=inf)
        return self._task(name, position, work)

    def _hint(self, position: Position) -> asyncio.Task[None] | None:
        # A move is more urgent than a hint, and what both need is compiled with the move. The place
        # of long searches stays free for the agent's move, so this counts as a short one; hints of
        # several games would take all places, so they are compiled one after the other.
        async def work() -> None:
            async with self._hinting:
                await self._workers.run(hint, position, BRIEF_MS, 0)

        game = position.game.name
        agents = [task for (_, other), task in self._tasks.items() if other == game]
        return self._task(HINT, position, work, after=agents)

    def _task(
        self, name: str, position: Position, work: Work, after: Sequence[asyncio.Task[None]] = ()
    ) -> asyncio.Task[None] | None:
        if not self._workers.count or position.is_over:
            return None
        key = name, position.game.name
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._compile(key, work, after))
        return self._tasks[key]

    async def _compile(
        self, key: tuple[str, str], work: Work, after: Sequence[asyncio.Task[None]]
    ) -> None:
        for task in after:
            await asyncio.shield(task)
        try:
            await work()
        except Exception:  # whoever asks for the move is told; the next game tries again
            del self._tasks[key]


async def _end_of(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        await asyncio.shield(task)  # a visitor who leaves must not end it for the others
