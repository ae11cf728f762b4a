"""Which setup each row of a batch has for its episode, and for those after it."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game, as_states
from azumaya.envs.kernels.bits import U64
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup

ORIGIN = np.dtype([("rules", U64), ("starts", U64)])
"""What names a setup in saved states: see `Setup.origin`."""
MOST_KNOWN = 64
"""The most setups that are remembered for states saved under them."""


class RowSetups:
    """The setups of the rows: the lasting one of each, and that of its episode in progress.

    Kernels begin episodes with a row's lasting setup, which is the batch's own unless `set` gave
    another. An episode with a different setup, because `reset` gave one for it or `set` came during
    it, is noted by its number, so that the note no longer counts once a kernel has begun the next.

    Args:
        game: the game.
        own: the batch's own setup.
        count: the number of rows.

    Attributes:
        only_own: whether no row can have another setup than the batch's own.
    """

    def __init__(self, game: Game, own: Setup, count: int) -> None:
        self.game, self.own, self.only_own = game, own, True
        self._lasting = np.full(count, own, object)
        self._noted = self._lasting.copy()
        self._episodes = np.zeros(count, np.int64)
        self._known: dict[int, Setup] = {}
        """By their rules, the last setups given, without starts, which would take much memory."""

    def begin(self, rows: np.ndarray, setup: Setup, episodes: np.ndarray) -> None:
        """Note that the episodes `(n,)` of some rows begin with a setup."""
        if setup is self.own and self.only_own:
            return
        self._know(setup)
        self._noted[rows] = setup
        self._episodes[rows] = episodes[rows]

    def set(self, rows: np.ndarray, setup: Setup, episodes: np.ndarray) -> None:
        """Make a setup the lasting one of some rows; their episodes, `(n,)`, keep theirs."""
        # an equal one is shared, or the starts of every row would take memory of their own
        setup = next((each for each in self.lasting() if each.origin == setup.origin), setup)
        self._noted, self._episodes = self._current(episodes), episodes.copy()
        self._know(setup)
        self._lasting[rows] = setup

    def lasting(self) -> tuple[Setup, ...]:
        """The different lasting setups."""
        return (self.own,) if self.only_own else _different(self._lasting)

    def by_setup(self, rows: np.ndarray) -> list[tuple[Setup, np.ndarray]]:
        """Some rows in groups with the same lasting setup."""
        if self.only_own:
            return [(self.own, rows)]
        return [(setup, rows[which]) for setup, which in _groups(self._lasting[rows])]

    def starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The starts of all lasting setups, `(m,)` states, and from where to where each row's are.

        The second array is `(n, 2)`.
        """
        spans = np.zeros((len(self._lasting), 2), np.int64)
        spans[:, 1] = len(self.own.starts)
        if self.only_own:
            return self.own.starts, spans
        end, parts = 0, []
        for setup, which in _groups(self._lasting):
            spans[which] = end, end + len(setup.starts)
            parts.append(setup.starts)
            end += len(setup.starts)
        return as_states(np.concatenate(parts)), spans

    def _current(self, episodes: np.ndarray) -> np.ndarray:
        """The setups of the episodes `(n,)`, `(n,)`."""
        return np.where(self._episodes == episodes, self._noted, self._lasting)

    def _know(self, setup: Setup) -> None:
        if setup is self.own:
            return
        self.only_own = False
        self._known.pop(setup.origin[0], None)
        self._known[setup.origin[0]] = setup.without_starts()
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def snapshot(self) -> RowSetups:
        """A copy that later episodes do not change; the setups, which never change, are shared."""
        taken = copy(self)
        for name in ("_lasting", "_noted", "_episodes"):
            setattr(taken, name, getattr(self, name).copy())
        taken._known = {**self._known}
        return taken

    def __deepcopy__(self, memo: dict[int, Any]) -> RowSetups:
        """A snapshot: copying an array of a million objects one by one would take a second."""
        return self.snapshot()

    def position(self, row: int, states: np.ndarray, series: np.ndarray) -> Position:
        """The position of a row, from its state and its series, `(1,)` each."""
        same = self._episodes[row] == series["episode"][0]
        setup: Setup = (self._noted if same else self._lasting)[row]
        start = None
        if len(setup.starts):
            start = self.game.new_states(1)
            self.game.rules.reset(start, 0, setup.starts, series["key"][0])
        return Position.of_states(self.game, setup, states, start)

    # ---- saved states ----

    def origins(self, episodes: np.ndarray) -> np.ndarray:
        """The origins of the setups of all rows in their episodes, `(n,)` `ORIGIN`."""
        origins = np.empty(len(self._noted), ORIGIN)
        origins[:] = self.own.origin
        if not self.only_own:
            for setup, which in _groups(self._current(episodes)):
                origins[which] = setup.origin
        return origins

    def restored(self, origins: np.ndarray, episodes: np.ndarray) -> RowSetups:
        """The setups of saved rows: with their starts if these are still at hand.

        Raises:
            OptionError: a row was played under options that this batch was never given.
        """
        wanted, which = _kinds(np.asarray(origins))
        at_hand = (*_different(self._noted), *_different(self._lasting), self.own)
        by_origin = {setup.origin: setup for setup in at_hand}
        found = [by_origin.get(origin) or self._without_starts(origin) for origin in wanted]
        if None in found:
            raise OptionError(
                f"state: row {int(np.argmax(which == found.index(None)))} was played under other "
                "options than those of this environment; make one with them, or give them to reset "
                "first"
            )
        restored = self.snapshot()
        restored._noted[:] = np.array(found, object)[which]
        restored._episodes[:] = episodes
        restored.only_own = {*found, *_different(self._lasting)} == {self.own}
        return restored

    def _without_starts(self, origin: tuple[int, int]) -> Setup | None:
        """A setup with the rules of an origin; None if none is known."""
        own = self.own.without_starts() if self.own.origin[0] == origin[0] else None
        setup = own or self._known.get(origin[0])
        return setup and setup.with_origin(origin)


def _different(setups: np.ndarray) -> tuple[Setup, ...]:
    """The different setups in an array of them; a million take 20 ms."""
    return tuple(dict.fromkeys(setups.tolist()))


def _groups(setups: np.ndarray) -> list[tuple[Setup, np.ndarray]]:
    """The different setups in an array of them, and where each of them is: indices."""
    different = _different(setups)
    number = {setup: k for k, setup in enumerate(different)}
    which = np.array([number[setup] for setup in setups.tolist()])
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(1, len(different)))
    return list(zip(different, np.split(order, ends), strict=True))


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
