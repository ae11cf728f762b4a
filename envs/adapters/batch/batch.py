"""The engine under the vector environments: many games of one kind in a few arrays.

A batch of `n` games consists of an array of states, `(n,)`, the sources of their randomness, and
the packed masks used to check actions. It writes its outputs into buffers supplied by the caller,
so the same engine supports both copying and zero-copy use.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch import kernels
from azumaya.envs.adapters.batch.checks import (
    check_count,
    check_form,
    check_illegal,
    check_states,
    copy_actions,
    illegal_row,
    save_series,
    seed_series,
    seeds_of,
)
from azumaya.envs.adapters.batch.kernels import SERIES
from azumaya.envs.adapters.batch.outputs import Outputs, buffers
from azumaya.envs.adapters.batch.row_setups import RowSetups
from azumaya.envs.adapters.batch.workers import Workers
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game, as_states
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup


class Batch:
    """Many games stepped together, each by its player to move; call `reset` first.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games.
        form: the observation format, `"planes"`, `"packed"` or `"none"`.
        same_step: whether a finished game restarts in the same step rather than the next one.
        restarts: whether a finished game restarts at all, or stays as it is until `reset`.
        illegal: whether an illegal action raises (`"raise"`) or loses the game (`"lose"`).
        threads: the number of threads; None: one per core.

    Attributes:
        begun: whether episodes are in progress. False before the first `reset` and after an
            interrupted call (by Ctrl-C, say), which may leave masks that do not match the states.
        seeded: whether there are series of episodes to continue, also after an interrupted call.
        over: which games are over, by the rules, a limit or an illegal action, `(n,)` bool.

    Raises:
        OptionError: an argument has an invalid value.
    """

    def __init__(
        self,
        game: Game,
        setup: Setup,
        count: int,
        *,
        form: str = "planes",
        same_step: bool = False,
        restarts: bool = True,
        illegal: str = "raise",
        threads: int | None = None,
    ) -> None:
        self.game, self.setup, self.count = game, setup, check_count(count)
        self.form, self.same_step, self._threads = form, same_step, threads
        self.restarts = restarts
        self._form, self.illegal = check_form(form), check_illegal(illegal)
        self.workers = Workers(threads)
        self._alone = self.workers.slice_of(self.count) == self.count
        self.words = word_count(setup.num_actions)
        self.states = game.new_states(count)
        self._series = as_states(np.zeros(count, SERIES))
        self._setups = RowSetups(game, setup, count)
        self._starts, self._spans = self._setups.starts()
        self._legal = np.zeros((count, self.words), np.uint64)
        self.over = np.zeros(count, np.bool_)
        self._actions = np.zeros(count, np.int64)
        self._finals = as_states(np.empty(count if same_step else 1, game.rules.state))
        self._final_rows = np.empty(count if same_step else 1, np.int64)
        self._everybody, self._movers = np.arange(count), np.full(count, -1)
        self.begun = self.seeded = False
        self._step = kernels.step_kernel(
            game, self.words, self._form, same_step, self.illegal == "lose", restarts
        )
        self._look = kernels.look_kernel(game, self.words, self._form)
        self._choose = kernels.choose_kernel(self.words)

    # ---- buffers ----

    def new_outputs(self, count: int | None = None) -> Outputs:
        """New uninitialized buffers, for all games or for `count` of them."""
        count = self.count if count is None else count
        return Outputs(**buffers(self.game, self.setup.num_actions, self._form, count, aligned))

    def new_actions(self) -> np.ndarray:
        """A buffer for one action per game, `(n,)` int64."""
        return np.empty(self.count, np.int64)

    # ---- episodes ----

    def reset(
        self,
        outputs: Outputs,
        seeds: Sequence[int] | int | None = None,
        rows: np.ndarray | None = None,
        setups: Mapping[Setup, Setup] = MappingProxyType({}),
    ) -> None:
        """Begin an episode.

        Args:
            outputs: receives the outputs of all games.
            seeds: starts new series of episodes, see `seed_series`; without seeds, the current
                series continue, or start from a random seed.
            rows: the games to restart; all by default.
            setups: for these episodes, replaces the setups of the games.
        """
        self.workers.wait_idle()
        rows = self._everybody if rows is None else np.ascontiguousarray(rows, np.int64)
        if seeds is None and self.seeded:
            self.begun = False
            self._series["episode"][rows] += 1
        else:
            seed_series(self._series, secrets.randbits(63) if seeds is None else seeds, rows)
            self.begun, self.seeded = False, True
        begin = kernels.begin_kernel(self.game)
        for own, some in self._setups.by_setup(rows):
            setup = setups.get(own, own)
            begin(0, len(some), some, self.states, self._series, setup.starts)
            self._setups.begin(some, setup, self._series["episode"])
        self.show(outputs)
        self.begun = True

    @property
    def setups(self) -> tuple[Setup, ...]:
        """The different setups of the games' next episodes."""
        return self._setups.lasting()

    def set_setup(self, setup: Setup, rows: np.ndarray | None = None) -> None:
        """Give some games, or all, another setup from their next episodes on."""
        self.workers.wait_idle()
        setups = self._setups.snapshot()  # so that Ctrl-C leaves all as it was
        setups.set(self._everybody if rows is None else rows, setup, self._series["episode"])
        starts, spans = setups.starts()
        self._setups, self._starts, self._spans = setups, starts, spans

    def step(self, actions: Any, outputs: Outputs) -> np.ndarray:
        """Play an action in every game; finished games are restarted instead, if at all.

        Args:
            actions: `(n,)` integers; ignored for finished games.
            outputs: receives the results.

        Returns:
            The rows of the games that ended and restarted in this step (none unless `same_step`);
            `finals` gives their final observations.

        Raises:
            IllegalActionError: the actions have the wrong shape or type, or one is illegal. The
                error names the game; no game has changed.
        """
        self._take_actions(actions)
        o, self.begun = outputs, False
        ended = self._run(
            self._step,
            lambda: (
                self.states, self._series, self._starts, self._spans, self._actions, self._room(),
                self._legal, self.over, o.masks, o.view_rows, o.rewards, o.both,
                o.terminated, o.truncated, o.to_move, self._finals, self._final_rows,
            ),
        )  # fmt: skip
        self.begun = True
        if not self.same_step:
            return self._everybody[:0]
        size = self.workers.slice_of(self.count)
        slots = [np.arange(i * size, i * size + n) for i, n in enumerate(ended)]
        self._slots = np.concatenate(slots)
        return self._final_rows[self._slots]

    def finals(self) -> Outputs:
        """The final outputs of the games that ended in the last step, with `same_step`."""
        outputs = self.new_outputs(len(self._slots))
        self._show(outputs, self._finals, self._slots, np.full(len(self._slots), -1))
        return outputs

    def final_states(self) -> np.ndarray:
        """The final states of the games that ended in the last step, `(m,)`, with `same_step`."""
        return self._finals[self._slots]

    def show(self, outputs: Outputs) -> None:
        """Write every game's outputs for its player to move, with zero rewards."""
        states, lost = self.states, self._series["lost"] != 0
        if lost.any():
            states = states.copy()
            states["over"][lost] = TERMINATED
        outputs.rewards[:], outputs.both[:] = 0.0, 0.0
        outputs.terminated[:] = states["over"] == TERMINATED
        outputs.truncated[:] = states["over"] == TRUNCATED
        outputs.to_move[:] = states["to_move"]
        self.over[:] = states["over"] != RUNNING
        self._show(outputs, states, self._everybody, self._movers, self._legal)

    def choose(self, actions: np.ndarray) -> None:
        """Write a uniformly random legal action for every game, `(n,)` int64; 0 if it is over.

        Choices are drawn from the episode's key, so they do not depend on the batch.
        """
        self._run(self._choose, lambda: (self._legal, self.over, self._series, actions))

    def rollout(self, plies: int) -> int:
        """Play random legal moves in every game, restarting finished games, without outputs.

        Returns the number of games that ended. Call `resume` before the next step.
        """
        kernel = kernels.rollout_kernel(self.game, self.words)
        self.begun = False
        ended = self.workers.run(
            kernel,
            self.count,
            lambda: (
                plies, self.states, self._series, self._starts, self._spans,
                np.empty(self.words, np.uint64),
            ),
        )  # fmt: skip
        return sum(ended)

    def resume(self, outputs: Outputs) -> None:
        """Write the outputs of all games and mark them as in progress."""
        self.show(outputs)
        self.begun = True

    # ---- single games ----

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object."""
        one = slice(row, row + 1)
        return self._setups.position(row, self.states[one], self._series[one])

    def get_states(self) -> np.ndarray:
        """A copy of the states, `(n,)`."""
        return self.states.copy()

    def seeds(self) -> int | tuple[int, ...]:
        """The seed that all games share, or that of each game."""
        return seeds_of(self._series)

    def get_series(self) -> np.ndarray:
        """A copy of the sources of the games' randomness, `(n,)` `SAVED`."""
        origins = self._setups.origins(self._series["episode"])
        return save_series(self.game, self.setup.num_actions, self.states, self._series, origins)

    def set_state(self, states: np.ndarray, series: np.ndarray, outputs: Outputs) -> None:
        """Replace the states and the sources of their randomness, `(n,)` each; write the outputs.

        Raises:
            OptionError: the arrays do not come from a matching batch; nothing has changed.
        """
        series, origins = check_states(
            self.game, self.setup.num_actions, self.count, states, series, self.illegal
        )
        setups = self._setups.restored(origins, series["episode"])
        self.workers.wait_idle()
        self.begun = False
        self.states[:], self._series[:], self._setups = states, series, setups
        self.seeded = True
        self.resume(outputs)

    def close(self) -> None:
        """End the threads."""
        self.workers.close()

    def __getstate__(self) -> dict[str, Any]:
        """The data from which the rest is rebuilt, including the masks that check actions."""
        made = {"form": self.form, "same_step": self.same_step, "threads": self._threads}
        made |= {"illegal": self.illegal, "restarts": self.restarts}
        made |= {"game": self.game, "setup": self.setup, "count": self.count}
        saved = self.get_states(), self.get_series()
        flags = {"begun": self.begun, "seeded": self.seeded}
        return {"made": made, **flags, "setups": self._setups.snapshot(), "saved": saved}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        Batch.__init__(self, **saved["made"])
        self._setups = saved["setups"]
        self._starts, self._spans = self._setups.starts()
        states, series = saved["saved"]
        if saved["begun"]:
            self.set_state(states, series, self.new_outputs())
        elif saved["seeded"]:  # the last call was interrupted; the next reset continues the series
            self._series[:], _ = check_states(
                self.game, self.setup.num_actions, self.count, states, series, self.illegal
            )
            self.seeded = True

    # ---- inside ----

    def _room(self) -> np.ndarray:
        """Scratch space for a packed observation."""
        return np.empty(self.game.observation.packed_words, np.uint64)

    def _show(
        self,
        outputs: Outputs,
        states: np.ndarray,
        rows: np.ndarray,
        players: np.ndarray,
        legal: np.ndarray | None = None,
    ) -> None:
        if legal is None:
            legal = np.empty((len(rows), self.words), np.uint64)

        masks, views = outputs.masks, outputs.view_rows
        self.workers.run(
            self._look,
            len(rows),
            lambda: (rows, players, states, self._room(), legal, masks, views),
        )

    def _take_actions(self, actions: Any) -> None:
        copy_actions(actions, self._actions)
        if self.illegal == "lose":
            return
        num_actions = self.setup.num_actions
        rows = self._run(
            kernels.first_illegal, lambda: (self._legal, self._actions, num_actions, self.over)
        )
        for row in rows:
            if row >= 0:
                raise illegal_row(self.position(row), int(row), int(self._actions[row]))

    def _run(self, kernel: Any, arguments: Callable[[], tuple[Any, ...]]) -> list[int]:
        """Run a kernel used in every step over all games; its argument types never change."""
        if self._alone:  # a step of a small batch takes no longer than splitting it into slices
            return [self.workers.call(kernel, 0, self.count, *arguments())]
        return self.workers.run(kernel, self.count, arguments, fixed=True)
