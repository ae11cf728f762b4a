"""Games stepped together, each by its player to move: the engine of the vector environment.

A step writes its outputs into buffers supplied by the caller, so that the same engine supports both
copying and zero-copy use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from azumaya.envs.adapters.batch.outputs import Outputs, buffers
from azumaya.envs.engine import kernels
from azumaya.envs.engine.checks import check_form, check_illegal, copy_actions, illegal_row
from azumaya.envs.engine.games import Games
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game, as_states
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.setup import Setup


class Batch(Games):
    """Many games stepped together, each by its player to move; call `reset` first.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games, `n`.
        form: the observation format, `"planes"`, `"packed"` or `"none"`.
        same_step: whether a finished game restarts in the same step rather than the next one.
        restarts: whether a finished game restarts at all, or stays as it is until `reset`.
        illegal: whether an illegal action raises (`"raise"`) or loses the game (`"lose"`).
        threads: the number of threads; None: one per core.

    Attributes:
        over: which games are over, by the rules, a limit or an illegal action, `(n,)` bool.

    Raises:
        OptionError: an argument has an invalid value.
    """

    _REBUILT: ClassVar[tuple[str, ...]] = (
        *Games._REBUILT, "over", "_actions", "_finals", "_final_rows", "_slots", "_everybody",
        "_movers", "_step", "_look", "_choose",
    )  # fmt: skip

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
        super().__init__(game, setup, count, threads)
        self.same_step, self.restarts = same_step, restarts
        self.form, self.losable = check_form(form), check_illegal(illegal) == "lose"
        self._build()

    def _build(self) -> None:
        super()._build()
        count, ending = self.count, self.count if self.same_step else 1
        self._alone = self.workers.slice_of(count) == count
        self.over = np.zeros(count, np.bool_)
        self._actions = np.zeros(count, np.int64)
        self._finals = as_states(np.empty(ending, self.game.rules.state))
        self._final_rows = np.empty(ending, np.int64)
        self._everybody, self._movers = np.arange(count), np.full(count, -1)
        self._step = kernels.step_kernel(
            self.game, self.words, self.form, self.same_step, self.losable, self.restarts
        )
        self._look = kernels.look_kernel(self.game, self.words, self.form)
        self._choose = kernels.choose_kernel(self.words)

    def _refresh(self) -> None:
        self.show(self.new_outputs())

    # ---- buffers ----

    def new_outputs(self, count: int | None = None) -> Outputs:
        """New uninitialized buffers, for all games or for `count` of them."""
        count = self.count if count is None else count
        return Outputs(**buffers(self.game, self.num_actions, self.form, count, aligned))

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
        """Begin episodes, see `begin`, and write the outputs of all games."""
        self.begin(seeds, rows, setups)
        self.resume(outputs)

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
        o, self.guard.playing = outputs, False
        ended = self._run(
            self._step,
            lambda: (
                self.states, self.series, self._starts, self._spans, self._actions, self._seen(),
                self.legal, self.over, o.masks, o.view_rows, o.rewards, o.both,
                o.terminated, o.truncated, o.to_move, self._finals, self._final_rows,
            ),
        )  # fmt: skip
        self.guard.playing = True
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
        states, lost = self.states, self.series["lost"] != 0
        if lost.any():
            states = states.copy()
            states["over"][lost] = TERMINATED
        outputs.rewards[:], outputs.both[:] = 0.0, 0.0
        outputs.terminated[:] = states["over"] == TERMINATED
        outputs.truncated[:] = states["over"] == TRUNCATED
        outputs.to_move[:] = states["to_move"]
        self.over[:] = states["over"] != RUNNING
        self._show(outputs, states, self._everybody, self._movers, self.legal)

    def choose(self, actions: np.ndarray) -> None:
        """Write a uniformly random legal action for every game, `(n,)` int64; 0 if it is over.

        Choices are drawn from the episode's key, so they do not depend on the batch.
        """
        self._run(self._choose, lambda: (self.legal, self.over, self.series, actions))

    def rollout(self, plies: int) -> int:
        """Play random legal moves in every game, restarting finished games, without outputs.

        Returns the number of games that ended. Call `resume` before the next step.
        """
        kernel = kernels.rollout_kernel(self.game, self.words)
        self.guard.playing = False
        ended = self.workers.run(
            kernel,
            self.count,
            lambda: (
                plies, self.states, self.series, self._starts, self._spans,
                np.empty(self.words, np.uint64),
            ),
        )  # fmt: skip
        return sum(ended)

    def resume(self, outputs: Outputs) -> None:
        """Write the outputs of all games and mark them as in progress."""
        self.show(outputs)
        self.guard.playing = True

    def set_state(self, states: np.ndarray, series: np.ndarray, outputs: Outputs) -> None:
        """Return to what `save` gave, see `fitting`, and write the outputs of all games."""
        self.restore(self.fitting(states, series))
        self.resume(outputs)

    # ---- inside ----

    def _seen(self) -> np.ndarray:
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
            lambda: (rows, players, states, self._seen(), legal, masks, views),
        )

    def _take_actions(self, actions: Any) -> None:
        copy_actions(actions, self._actions)
        if self.losable:
            return
        num_actions = self.num_actions
        rows = self._run(
            kernels.first_illegal, lambda: (self.legal, self._actions, num_actions, self.over)
        )
        for row in rows:
            if row >= 0:
                raise illegal_row(self.position(row), int(row), int(self._actions[row]))

    def _run(self, kernel: Any, arguments: Callable[[], tuple[Any, ...]]) -> list[int]:
        """Run a kernel used in every step over all games; its argument types never change."""
        if self._alone:  # a step of a small batch takes no longer than splitting it into slices
            return [self.workers.call(kernel, 0, self.count, *arguments())]
        return self.workers.run(kernel, self.count, arguments, fixed=True)
