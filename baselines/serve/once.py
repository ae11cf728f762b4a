"""What takes long is made once for all who ask for it at the same time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any


class Once:
    """Results by key, each of which is made when it is first asked for.

    Args:
        most: how many results are kept, those asked for last; 0 for none: then only those who ask
            while one is made share it.
    """

    def __init__(self, most: int = 0) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[Any]] = {}

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        """The result of a key; what `make` raises is raised to all who wait, and not kept."""
        if key in self._made:
            self._made.move_to_end(key)
            return self._made[key]
        if key not in self._making:
            self._making[key] = asyncio.create_task(self._make(key, make))
        return await asyncio.shield(self._making[key])  # whoever leaves ends it for no other

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[Any]]) -> Any:
        try:
            made = self._made[key] = await make()
        finally:
            del self._making[key]
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return made
