"""Games that are kept ready, within bounds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection
from weakref import WeakValueDictionary

from azumaya.baselines.play.server.access import OpenGame

IN_MEMORY = 1_500
"""Games that are kept ready; others are played again from the start when they are opened."""
POSITIONS_IN_MEMORY = 100_000
"""Positions of all games that are kept ready. A position takes up to 1.5 kB."""


class Memory:
    """The games in memory. Those used longest ago leave it first."""

    def __init__(self) -> None:
        self._ready: OrderedDict[str, OpenGame] = OrderedDict()
        self._positions = 0
        # A game in use is the same object for all requests, even once it is no longer kept ready.
        self._in_use: WeakValueDictionary[str, OpenGame] = WeakValueDictionary()
        self._lock = threading.Lock()

    def find(self, name: str) -> OpenGame | None:
        """The game of an id, if it is in memory; takes as long however many games there are."""
        with self._lock:  # also while it is put first: it may just be deleted
            opened = self._in_use.get(name)
            return None if opened is None else self._put_first(opened)

    def put(self, opened: OpenGame) -> OpenGame:
        """Keep a game ready; returns the one that is in use already, if any."""
        with self._lock:
            return self._put_first(self._in_use.setdefault(opened.kept.id, opened))

    def forget(self, names: Collection[str]) -> None:
        """Keep deleted games no longer, nor those of which they were the rematch."""
        gone = set(names)
        with self._lock:
            before = [
                name
                for name, opened in self._in_use.items()
                if opened.kept.rematch.partition(".")[0] in gone
            ]
            for name in (*gone, *before):
                self._in_use.pop(name, None)
                ready = self._ready.pop(name, None)
                if ready is not None:
                    self._count(ready, 0)

    def _put_first(self, opened: OpenGame) -> OpenGame:
        """Keep a game ready, and those used longest ago no longer; under the lock."""
        self._ready[opened.kept.id] = opened
        self._ready.move_to_end(opened.kept.id)
        self._count(opened, len(opened.table.history))
        while len(self._ready) > 1 and (
            len(self._ready) > IN_MEMORY or self._positions > POSITIONS_IN_MEMORY
        ):
            self._count(self._ready.popitem(last=False)[1], 0)
        return opened

    def _count(self, opened: OpenGame, positions: int) -> None:
        """Update the running total with the positions that a game now adds to it."""
        self._positions += positions - opened.counted
        opened.counted = positions
