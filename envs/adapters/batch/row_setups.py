"""Which setup the episode of each row of a batch runs under, and so what its position is."""

from __future__ import annotations

from copy import copy

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
_OWN = 0


class RowSetups:
    """The setups of the episodes in progress: the batch's own, or one that `reset` gave a row.

    A setup is noted together with the number of the row's episode, so that it no longer counts once
    a kernel has begun the next episode, which is always one with the batch's own setup.

    Args:
        game: the game.
        own: the batch's own setup.
        count: the number of rows.
    """

    def __init__(self, game: Game, own: Setup, count: int) -> None:
        self.game = game
        self._setups: list[Setup | None] = [own]
        self._origins: list[tuple[int, int] | None] = [None]
        """Their origins; None: not computed yet, because it takes a compiled kernel."""
        self._codes, self._episodes = np.zeros(count, np.int32), np.zeros(count, np.int64)
        self._known: dict[int, Setup] = {}
        """By their rules, the last setups given, without starts, which would take much memory."""

    @property
    def only_own(self) -> bool:
        """Whether no row has had another setup than the batch's own."""
        return len(self._setups) == 1

    def begin(self, rows: np.ndarray, setup: Setup | None, episodes: np.ndarray) -> None:
        """Note that the episodes `(n,)` of some rows begin with a setup; None: the batch's own."""
        if setup is None and self.only_own:
            return
        self._codes[rows] = _OWN if setup is None else self._code_of(setup)
        self._episodes[rows] = episodes[rows]

    def _code_of(self, setup: Setup) -> int:
        """The code of a setup, which takes the place of one that no row has any more."""
        used = {_OWN, *np.unique(self._codes).tolist()}
        self._setups = [s if code in used else None for code, s in enumerate(self._setups)]
        self._know(setup)
        if setup in self._setups:
            return self._setups.index(setup)
        if None not in self._setups:
            self._setups.append(None)
            self._origins.append(None)
        code = self._setups.index(None)
        self._setups[code], self._origins[code] = setup, setup.origin
        return code

    def _know(self, setup: Setup) -> None:
        self._known.pop(setup.origin[0], None)
        self._known[setup.origin[0]] = setup.without_starts()
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]

    def snapshot(self) -> RowSetups:
        """A copy that later episodes do not change."""
        taken = copy(self)
        taken._setups, taken._origins = [*self._setups], [*self._origins]
        taken._codes, taken._episodes = self._codes.copy(), self._episodes.copy()
        taken._known = {**self._known}
        return taken

    def position(self, row: int, states: np.ndarray, series: np.ndarray) -> Position:
        """The position of a row, from its state and its series, `(1,)` each."""
        same = self._episodes[row] == series["episode"][0]
        setup = self._setups[self._codes[row] if same else _OWN]
        assert setup is not None
        start = None
        if len(setup.starts):
            start = self.game.new_states(1)
            self.game.rules.reset(start, 0, setup.starts, series["key"][0])
        return Position.of_states(self.game, setup, states, start)

    # ---- saved states ----

    def origins(self, episodes: np.ndarray) -> np.ndarray:
        """The origins of the setups of all rows in their episodes, `(n,)` `ORIGIN`."""
        codes = np.where(self._episodes == episodes, self._codes, _OWN)
        return np.array(self._all_origins(), ORIGIN)[codes]

    def _all_origins(self) -> list[tuple[int, int]]:
        """The origins of all setups; those of saved rows remain what they were."""
        own = self._setups[_OWN]
        assert own is not None
        self._origins[_OWN] = own.origin
        return [(0, 0) if origin is None else origin for origin in self._origins]

    def restored(self, origins: np.ndarray, episodes: np.ndarray) -> RowSetups:
        """The setups of saved rows: with their starts if these are still at hand.

        Raises:
            OptionError: a row was played under options that this batch was never given.
        """
        wanted, which = _kinds(np.asarray(origins))
        found = [self._found(*origin) for origin in wanted]
        if None in found:
            raise OptionError(
                f"state: row {int(np.argmax(which == found.index(None)))} was played under other "
                "options than those of this environment; make one with them, or give them to reset "
                "first"
            )
        restored = self.snapshot()
        restored._setups = [self._setups[_OWN], *found]
        restored._origins = [self._origins[_OWN], *wanted]
        restored._codes, restored._episodes = (which + 1).astype(np.int32), np.array(episodes)
        return restored

    def _found(self, rules: int, starts: int) -> Setup | None:
        own = self._setups[_OWN]
        for setup, origin in zip(self._setups, self._all_origins(), strict=True):
            if setup is not None and origin == (rules, starts):
                return setup
        assert own is not None
        return own.without_starts() if own.origin[0] == rules else self._known.get(rules)


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
