"""The engine: many games of one kind in a few arrays, under every environment.

The states of `n` games are an array, `(n,)`, and so are their series: where their randomness comes
from, how their episodes stand, and which setups they have. Everything else is derived from these.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from azumaya.envs.engine.checks import (
    NAMED,
    STANDING,
    check_count,
    check_states,
    save_series,
    seed_series,
    seeds_of,
)
from azumaya.envs.engine.guard import Guard
from azumaya.envs.engine.kernels import SERIES, begin_kernel
from azumaya.envs.engine.setups import OWN, Setups, groups_of, numbers_in
from azumaya.envs.engine.workers import Workers
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game, as_states, state_kind
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.checksum import checksum
from azumaya.envs.kernels.states import copied, words_of
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup

ALL = slice(None)


class Fitting(NamedTuple):
    """Saved games that fit others: the states and series to take over, and the setups by number."""

    states: np.ndarray
    series: np.ndarray
    setups: Setups


class Games:
    """Games of one kind, whose episodes begin, are looked at and are saved in one way.

    Environments add how a step is made. All of its methods but `close` and those that only look
    are called inside a `Call` of the guard, or, in the AEC environment, with the guard set.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games, `n`.
        threads: the number of threads; None: one per core.

    Attributes:
        num_actions: the number of actions, `A`.
        words: the words of a packed mask, `W`.
        states: the states, `(n,)`.
        series: the source of each game's randomness, how its episode stands, and the numbers of its
            setups, `(n,)` `SERIES`.
        legal: the packed masks by which actions are checked, `(n, W)`; undefined where games are
            not in play.
        guard: whether the games are in play.

    Raises:
        OptionError: an argument has an invalid value.
    """

    _REBUILT: ClassVar[tuple[str, ...]] = ("legal", "_starts", "_spans")
    """The attributes that `_build` makes, and copies make anew."""
    losable = False
    """Whether an illegal action may lose a game."""

    def __init__(self, game: Game, setup: Setup, count: int, threads: int | None = 1) -> None:
        self.game, self.setup, self.count = game, setup, check_count(count)
        self.num_actions, self.words = setup.num_actions, word_count(setup.num_actions)
        self.workers, self.guard = Workers(threads), Guard()
        self._setups, self._lasting = Setups(setup), [OWN]
        self._make_room()

    def _make_room(self) -> None:
        """Make the arrays that hold the games."""
        self.states = self.game.new_states(self.count)
        self.series = as_states(np.zeros(self.count, SERIES))

    def _build(self) -> None:
        """Make what copies do not take over: kernels, buffers and the starts of the setups."""
        self._starts, self._spans = self._setups.starts(self.series["lasting"])
        self.legal = np.zeros((self.count, self.words), np.uint64)

    def _refresh(self) -> None:
        """Write what follows from the states, after these were replaced."""

    def settle(self) -> None:
        """Wait for what is still at work after a call."""
        self.workers.wait_idle()

    # ---- episodes ----

    def begin(
        self,
        seeds: Sequence[int] | int | None = None,
        rows: np.ndarray | None = None,
        setups: Mapping[Setup, Setup] = MappingProxyType({}),
    ) -> None:
        """Begin the next episodes; outputs are not written.

        Args:
            seeds: start new series of episodes, see `seed_series`; without seeds, the current
                series continue, or start from a random seed.
            rows: the games to begin; all by default.
            setups: for these episodes, replace the lasting setups of the games.

        Raises:
            OptionError: a seed is invalid; nothing has changed.
        """
        self.settle()
        rows = np.arange(self.count) if rows is None else np.ascontiguousarray(rows, np.int64)
        if seeds is not None or not self.guard.begun:
            series = self._series_of()
            seed_series(series, secrets.randbits(63) if seeds is None else seeds, rows)
            self.guard.playing, self.guard.begun = False, True
            self._put_series(series)
        self.guard.playing = False
        self._begin_next(rows, setups)

    def _begin_next(
        self, rows: np.ndarray, setups: Mapping[Setup, Setup] = MappingProxyType({})
    ) -> None:
        """Begin the next episodes of the series of some rows."""
        if setups:
            self._setups = self._setups.with_room(self._series_of())
        for number, some in self._by_lasting(rows):
            setup = self._setups[number]
            if setup in setups:
                setup = setups[setup]
                number = self._setups.number(setup)  # noqa: PLW2901 - that of these episodes
            self._begin_rows(some, setup.starts, number)

    def _by_lasting(self, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """The numbers of the lasting setups of some rows, and the rows that have each."""
        if len(self._lasting) == 1:
            yield self._lasting[0], rows
            return
        for number, which in groups_of(self._series_of()["lasting"][rows]):
            yield number, rows[which]

    def _begin_rows(self, rows: np.ndarray, starts: np.ndarray, setup: int) -> None:
        """Begin episodes in some rows, with the setup of this number."""
        begin_kernel(self.game)(0, len(rows), rows, self.states, self.series, starts, setup)

    @property
    def setups(self) -> tuple[Setup, ...]:
        """The different setups of the games' next episodes."""
        return tuple(self._setups[number] for number in self._lasting)

    def set_setup(self, setup: Setup, rows: np.ndarray | None = None) -> None:
        """Give some games, or all, another setup from their next episodes on."""
        self.settle()
        series = self._series_of().copy()
        setups = self._setups.with_room(series)
        series["lasting"][ALL if rows is None else rows] = setups.number(setup)
        starts, spans = setups.starts(series["lasting"])
        lasting = numbers_in(series["lasting"])
        # in one statement, in which Python handles no Ctrl-C
        self._setups, self._starts, self._spans, self._lasting, self.series[:] = (
            setups, starts, spans, lasting, series,
        )  # fmt: skip

    # ---- the rows; on a device these are elsewhere ----

    def _series_of(self, rows: slice = ALL) -> np.ndarray:
        """The series of some rows, `(m,)`, or a copy on the host."""
        return self.series if rows is ALL else self.series[rows]

    def _put_series(self, series: np.ndarray) -> None:
        """Replace the series by those that `_series_of` gave, changed."""
        if series is not self.series:
            words_of(self.series)[:] = words_of(series)

    def _states_of(self, rows: slice = ALL) -> np.ndarray:
        """The states of some rows, `(m,)`, or a copy on the host."""
        return self.states if rows is ALL else self.states[rows]

    def _put_states(self, states: np.ndarray) -> None:
        words_of(self.states)[:] = words_of(states)

    # ---- looking ----

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object."""
        self.settle()
        one = slice(row, row + 1)
        series = self._series_of(one)
        setup = self._setups[series["setup"][0]]
        return Position.of_states(
            self.game, setup, self._states_of(one), self._start_of(setup, series)
        )

    def setup_of(self, row: int) -> Setup:
        """The setup of a game's episode."""
        return self._setups[self._series_of(slice(row, row + 1))["setup"][0]]

    def _start_of(self, setup: Setup, series: np.ndarray) -> np.ndarray | None:
        """The state, `(1,)`, that an episode began with; None if its setup has no starts here."""
        if not len(setup.starts):
            return None
        start = self.game.new_states(1)
        self.game.rules.reset(start, 0, setup.starts, series["key"][0])
        return start

    def seeds(self) -> int | tuple[int, ...]:
        """The seed that all games share, or that of each game."""
        return seeds_of(self._series_of())

    # ---- saved games ----

    def save(self) -> tuple[np.ndarray, np.ndarray]:
        """Copies of the states and of their series as `SAVED`, `(n,)` each."""
        self.settle()
        states, series = self._states_of(), self._series_of()
        states = copied(states) if states is self.states else states
        origins = self._setups.origins(series["setup"])
        return states, save_series(self.game, self.num_actions, states, series, origins)

    def fitting(self, states: Any, saved: Any, setups: Sequence[Setup] = ()) -> Fitting:
        """What `save` gave, here or for other games, in the form that `restore` takes.

        Args:
            states: the states.
            saved: their series, `SAVED`.
            setups: setups of the episodes that may be unknown here.

        Raises:
            OptionError: the arrays do not come from such games.
        """
        words = check_states(self.game, self.num_actions, self.count, states, saved)
        series = copied(self._series_of())
        table = self._setups.with_room(series)
        words_of(series)[:, STANDING] = words[:, STANDING]
        if not self.losable and series["lost"].any():
            raise OptionError(
                f"state: row {int(np.argmax(series['lost'] != 0))} was lost by an illegal "
                "action; an environment with illegal='lose' is needed"
            )
        series["setup"] = table.numbers(words[:, NAMED], setups)
        return Fitting(states, series, table)

    def restore(self, fitting: Fitting) -> None:
        """Return to saved games; outputs are not written."""
        self.settle()
        self.guard.playing, self.guard.begun = False, True
        self._put_states(fitting.states)
        self._setups = fitting.setups
        self._put_series(fitting.series)

    def _records(self) -> tuple[np.ndarray, ...]:
        """The arrays that kernels trust, and that pickles have a checksum of."""
        return self.states, self.series

    def _checksum(self) -> int:
        return checksum(state_kind(self.game, self.num_actions), *self._records())

    def __getstate__(self) -> dict[str, Any]:
        """All that cannot be rebuilt, with copies of the games: they are written out later."""
        kept = {name: value for name, value in self.__dict__.items() if name not in self._REBUILT}
        games = {"states": copied(self.states), "series": copied(self.series)}
        return {**kept, **games, "checksum": self._checksum()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        if self.__dict__.pop("checksum", None) != self._checksum():
            raise OptionError("games: they were changed after they were saved")
        self._build()
        if self.guard.playing:
            self._refresh()

    def close(self) -> None:
        """End the threads; closing twice is safe."""
        self.guard.closed = True
        self.workers.close()
