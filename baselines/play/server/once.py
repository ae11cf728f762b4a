"""What takes long is made once for all who ask for it at the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any

SECONDS_TO_RETURN = 2.0
"""How long a result is still made for nobody: a page that is loaded again asks for it again, and a
new process for the next one takes as long to start."""


@dataclass
class Making:
    """A result that is being made.

    Attributes:
        task: makes it.
        waiting: how many wait for it.
    """

    task: asyncio.Task[Any]
    waiting: int = 0


class Once:
    """Results by key, each of which is made when it is first asked for.

    Args:
        most: how many results are kept, those asked for last; 0 for none: then only those who ask
            while one is made share it, and it is given up once all of them have left.
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, Making] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a key; what `make` raises is raised to all who wait, and not kept."""
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if key not in self._making:
            self._making[key] = Making(asyncio.create_task(self._make(key, make)))
        making = self._making[key]
        making.waiting += 1
        try:
            return await asyncio.shield(making.task)  # whoever leaves ends it for no other
        finally:
            making.waiting -= 1
            if not making.task.done() and not self._most:
                loop = asyncio.get_running_loop()
                loop.call_later(SECONDS_TO_RETURN, self._give_up, key, making)

    def _give_up(self, key: Hashable, making: Making) -> None:
        """End what nobody waits for; whoever asks from now on begins anew."""
        if not making.waiting and self._making.get(key) is making:
            del self._making[key]
            making.task.cancel()

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        try:
            made = self._made[key] = await make()
        finally:
            if key in self._making and self._making[key].task is asyncio.current_task():
                del self._making[key]
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return made
