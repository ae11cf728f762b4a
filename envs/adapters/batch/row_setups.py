"""Which setup the episode of each row of a batch runs under, and so what its position is."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import U64
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup

ORIGIN = np.dtype([("rules", U64), ("starts", U64)])
"""What names a setup in saved states: see `Setup.origin`."""
MOST_KNOWN = 64
"""The most setups that are remembered for states saved under them."""


class RowSetups:
    """The setups of the episodes in progress: the batch's own, or one that `reset` gave a row.

    A setup is noted together with the number of the row's episode, so that it no longer counts once
    a kernel has begun the next episode, which is always one with the batch's own setup.

    Args:
        game: the game.
        own: the batch's own setup.
        count: the number of rows.

    Attributes:
        only_own: whether no row can have another setup than the batch's own.
    """

    def __init__(self, game: Game, own: Setup, count: int) -> None:
        self.game, self.own, self.only_own = game, own, True
        self._others = np.full(count, None, object)
        """The setup that each row was given last; None: the batch's own."""
        self._episodes = np.zeros(count, np.int64)
        self._known: dict[int, Setup] = {}
        """By their rules, the last setups given, without starts, which would take much memory."""

    def begin(self, rows: np.ndarray, setup: Setup | None, episodes: np.ndarray) -> None:
        """Note that the episodes `(n,)` of some rows begin with a setup; None: the batch's own."""
        if setup is None and self.only_own:
            return
        if setup is not None:
            self._know(setup)
            self.only_own = False
        self._others[rows] = setup
        self._episodes[rows] = episodes[rows]

    def _know(self, setup: Setup) -> None:
        self._known.pop(setup.origin[0], None)
        self._known[setup.origin[0]] = setup.without_starts()
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def snapshot(self) -> RowSetups:
        """A copy that later episodes do not change; the setups, which never change, are shared."""
        taken = copy(self)
        taken._others, taken._episodes = self._others.copy(), self._episodes.copy()
        taken._known = {**self._known}
        return taken

    def __deepcopy__(self, memo: dict[int, Any]) -> RowSetups:
        """A snapshot: copying an array of a million objects one by one would take a second."""
        return self.snapshot()

    def position(self, row: int, states: np.ndarray, series: np.ndarray) -> Position:
        """The position of a row, from its state and its series, `(1,)` each."""
        same = self._episodes[row] == series["episode"][0]
        setup: Setup = (self._others[row] if same else None) or self.own
        start = None
        if len(setup.starts):
            start = self.game.new_states(1)
            self.game.rules.reset(start, 0, setup.starts, series["key"][0])
        return Position.of_states(self.game, setup, states, start)

    # ---- saved states ----

    def origins(self, episodes: np.ndarray) -> np.ndarray:
        """The origins of the setups of all rows in their episodes, `(n,)` `ORIGIN`."""
        origins = np.empty(len(self._others), ORIGIN)
        origins[:] = self.own.origin
        if not self.only_own:
            current = self._others.copy()
            current[self._episodes != episodes] = None
            for setup in _different(current):
                origins[current == setup] = setup.origin
        return origins

    def restored(self, origins: np.ndarray, episodes: np.ndarray) -> RowSetups:
        """The setups of saved rows: with their starts if these are still at hand.

        Raises:
            OptionError: a row was played under options that this batch was never given.
        """
        wanted, which = _kinds(np.asarray(origins))
        at_hand = {setup.origin: setup for setup in (*_different(self._others), self.own)}
        found = [at_hand.get(origin) or self._without_starts(origin) for origin in wanted]
        if None in found:
            raise OptionError(
                f"state: row {int(np.argmax(which == found.index(None)))} was played under other "
                "options than those of this environment; make one with them, or give them to reset "
                "first"
            )
        restored = self.snapshot()
        others = [None if setup is self.own else setup for setup in found]
        restored._others[:] = np.array(others, object)[which]
        restored._episodes[:] = episodes
        restored.only_own = not any(others)
        return restored

    def _without_starts(self, origin: tuple[int, int]) -> Setup | None:
        """A setup with the rules of an origin; None if none is known."""
        own = self.own.without_starts() if self.own.origin[0] == origin[0] else None
        setup = own or self._known.get(origin[0])
        return setup and setup.with_origin(origin)


def _different(setups: np.ndarray) -> tuple[Setup, ...]:
    """The different setups in an array of them and of None; a million take 20 ms."""
    return tuple(setup for setup in dict.fromkeys(setups.tolist()) if setup is not None)


def _kinds(origins: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    """The different origins of rows, `(n,)` `ORIGIN`, and which of them each row has, `(n,)`.

    Field by field: when NumPy compares records it calls Python code, and Ctrl-C in there becomes a
    `TypeError`.
    """
    rules, of_rules = np.unique(origins["rules"], return_inverse=True)
    starts, of_starts = np.unique(origins["starts"], return_inverse=True)
    pairs, which = np.unique(of_rules * len(starts) + of_starts, return_inverse=True)
    split = (divmod(pair, len(starts)) for pair in pairs.tolist())
    return [(int(rules[i]), int(starts[j])) for i, j in split], which
