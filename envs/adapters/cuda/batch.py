"""The engine of the vector environment on a CUDA device; states and outputs stay on it.

It matches `batch.batch.Batch` bit for bit, but its buffers are torch tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch.batch import Batch
from azumaya.envs.adapters.batch.outputs import Outputs, buffers, view_buffers
from azumaya.envs.adapters.cuda import kernels, spreading
from azumaya.envs.adapters.cuda.device import Device
from azumaya.envs.adapters.cuda.records import WORD, from_columns, to_columns
from azumaya.envs.engine.checks import check_form, illegal_row
from azumaya.envs.engine.games import ALL
from azumaya.envs.engine.kernels import PACKED, PLANES, SERIES
from azumaya.envs.engine.setups import numbers_in
from azumaya.envs.errors import IllegalActionError, OptionError, told
from azumaya.envs.extras import require
from azumaya.envs.game import Game, as_states
from azumaya.envs.setup import Setup


@dataclass(frozen=True, eq=False)
class DeviceOutputs(Outputs):
    """Outputs stored as tensors, with the matching kernel views.

    Attributes:
        packed: where kernels write packed masks and observations.
        spread: the words of `masks` and `view_rows`; None where kernels write no bytes.
        rest: `rewards`, `both`, `terminated`, `truncated`, `to_move`.
    """

    packed: tuple[Any, Any]
    spread: tuple[Any, Any]
    rest: tuple[Any, ...]


class CudaBatch(Batch):
    """Many games stepped together on a device, with the operations of `batch.Batch`.

    `states`, `series` and `legal` are on the device: states in columns, series as rows of bytes.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games, `n`.
        form: the observation format, `"planes"`, `"packed"` or `"none"`.
        same_step: whether a finished game restarts in the same step rather than the next one.
        restarts: whether a finished game restarts at all, or stays as it is until `reset`.
        illegal: whether an illegal action is an error (`"raise"`) or loses the game (`"lose"`).
        check_actions: whether actions are checked before each step, which waits for the device;
            without effect with `"lose"`.

    Raises:
        MissingExtraError: torch is not installed.
        DeviceError: no usable GPU is available.
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
        check_actions: bool = False,
    ) -> None:
        seen = game.observation
        if check_form(form) == PLANES and seen.cells < 8 and seen.cell_planes < len(seen.planes):
            raise OptionError(
                f"observation={form!r}: {game.id} has {seen.cells} cells, and with number planes a "
                "CUDA device needs 8; use 'packed'"
            )
        self.device = Device()
        super().__init__(
            game, setup, count, form=form, same_step=same_step, restarts=restarts,
            illegal=illegal, threads=1,
        )  # fmt: skip
        self.check_actions = check_actions and not self.losable  # an action that loses is no error

    def _make_room(self) -> None:
        device, width = self.device, self.game.rules.state.itemsize // WORD
        self.states = device.new((width, self.count), np.int64).zero_()
        self.series = device.put(np.zeros(self.count, SERIES))
        self._error = device.put(np.full(1, kernels.NO_ERROR, np.int64))
        self._clock = device.put(np.zeros(1, np.int64))  # counts also where a graph is replayed
        self._wrong = self.new_actions()

    def _build(self) -> None:
        """Create the kernel views of the batch's own memory."""
        device, game, count = self.device, self.game, self.count
        self._put_starts(*self._setups.starts(self._series_of()["lasting"]))

        def words(shape: tuple[int, int]) -> tuple[Any, Any]:
            room = device.new(shape, np.uint64)
            return device.view(room), device.memory(room, np.uint8)

        self._v_states = device.view(self.states, np.uint64)
        self._v_series = device.view(self.series, SERIES)
        self._v_error, self._v_wrong = device.view(self._error), device.view(self._wrong)
        self._v_clock = device.view(self._clock)
        seen = count if self.form == PLANES else 1
        self.legal, self._legal_bytes = words((count, self.words))
        self._packed, self._packed_bytes = words((seen, game.observation.packed_words))
        self._over = device.view(device.new((count,), np.bool_))
        rows = count if self.same_step else 1
        self._finals = device.view(device.new((game.rules.state.itemsize // WORD, rows), np.uint64))
        self._ended = device.new((rows,), np.bool_)
        self._v_ended = device.view(self._ended)

    # ---- the rows ----

    def _series_of(self, rows: slice = ALL) -> np.ndarray:
        return as_states(self.device.get(self.series[rows]).reshape(-1).view(SERIES))

    def _put_series(self, series: np.ndarray) -> None:
        self.device.put(series, self.series)

    def _states_of(self, rows: slice = ALL) -> np.ndarray:
        columns = self.device.get(self.states[:, rows])
        return as_states(from_columns(columns, self.game.rules.state))

    def _put_states(self, states: np.ndarray) -> None:
        self.device.put(to_columns(states), self.states)

    def _put_starts(self, starts: np.ndarray, spans: np.ndarray) -> None:
        device = self.device
        self._starts = device.view(device.put(starts), self.game.rules.state)
        self._spans = device.view(device.put(spans))

    def _begin_rows(self, rows: np.ndarray, starts: np.ndarray, setup: int) -> None:
        device = self.device
        device.launch(
            kernels.begin_kernel(self.game), len(rows), device.view(device.put(rows)),
            self._v_states, self._v_series, device.view(device.put(starts), self.game.rules.state),
            setup,
        )  # fmt: skip

    # ---- buffers ----

    def new_outputs(self, count: int | None = None) -> DeviceOutputs:
        """New uninitialized tensors on the device, for all games."""
        device = self.device
        made = buffers(self.game, self.num_actions, self.form, self.count, device.new)
        names = ("rewards", "both", "terminated", "truncated", "to_move")
        rest = tuple(device.view(made[name]) for name in names)
        masks, views = made["masks"], made["view_rows"]
        packed = (self.legal, self._packed)
        if self.form == PACKED:
            packed = (device.view(masks), device.view(views))
        spread = (
            None if self.form == PACKED else device.memory(masks, np.uint64),
            device.memory(views, np.uint64) if self.form == PLANES else None,
        )
        return DeviceOutputs(**made, packed=packed, spread=spread, rest=rest)

    def new_actions(self) -> Any:
        """A buffer for one action per game, `(n,)` int64."""
        return self.device.new((self.count,), np.int64)

    # ---- episodes ----

    def set_setup(self, setup: Setup, rows: np.ndarray | None = None) -> None:
        """As `Games.set_setup`, with `rows` on the host."""
        series = self._series_of()
        setups = self._setups.with_room(series)
        series["lasting"][ALL if rows is None else rows] = setups.number(setup)
        starts = setups.starts(series["lasting"])
        self._setups, self._lasting = setups, numbers_in(series["lasting"])
        self._put_starts(*starts)
        self._put_series(series)

    def step(self, actions: Any, outputs: Any) -> Any:
        """Play an action in every game; finished games are restarted instead, if at all.

        Args:
            actions: `(n,)` integers, a tensor on the device; ignored for finished games.
            outputs: receives the results.

        Returns:
            With `same_step`, which games ended and restarted in this step, `(n,)` bool.

        Raises:
            IllegalActionError: the actions have the wrong shape or type, or are on another device.
                With `check_actions`, also if one is illegal; otherwise `check` raises that later.
        """
        taken = self._take(actions)
        given = self.device.view(taken)
        if self.check_actions:
            self._refuse_illegal(taken, given)
        self.guard.playing = False
        step = kernels.step_kernel(
            self.game, self.words, self.form, self.same_step, self.losable, self.restarts
        )
        self.device.launch(
            step, self.count, self._v_states, self._v_series, self._starts, self._spans, given,
            self.legal, self._over, *outputs.packed, *outputs.rest,
            self._finals, self._v_ended, self._v_error, self._v_wrong,
            self._v_clock,
        )  # fmt: skip
        if not self.losable:
            self._clock.add_(1)  # only errors name steps
        self._spread(outputs)
        self.guard.playing = True
        return self._ended

    def finals(self) -> Any:
        """With `same_step`, the final observations of the games that ended in the last step.

        Returns:
            Observations as in `Outputs`, and `to_move` of the final states, `(n,)` int64. Rows of
            other games are undefined.
        """
        device = self.device
        rows, observations = view_buffers(self.game, self.form, self.count, device.new)
        views = device.view(rows) if self.form == PACKED else self._packed
        mover, kernel = self.new_actions(), kernels.finals_kernel(self.game, self.form)
        device.launch(kernel, self.count, self._finals, self._v_ended, views, device.view(mover))
        if self.form == PLANES:
            self._spread_planes(rows, device.memory(rows, np.uint64), self._v_ended, some=True)
        return observations, mover

    def show(self, outputs: Any) -> None:
        """Write every game's outputs for its player to move, with zero rewards."""
        kernel = kernels.show_kernel(self.game, self.words, self.form)
        self.device.launch(
            kernel, self.count, self._v_states, self._v_series, self.legal, self._over,
            *outputs.packed, *outputs.rest,
        )  # fmt: skip
        self._spread(outputs)

    def choose(self, actions: Any) -> None:
        """Write a random legal action for every game, `(n,)` int64; 0 if it is over."""
        out = self.device.view(actions)
        self.device.launch(
            kernels.choose_all, self.count, self.legal, self._over, self._v_series, out
        )

    def rollout(self, plies: int) -> int:
        """Play random legal moves in every game, restarting finished games, without outputs.

        Returns the number of games that ended. Call `resume` before the next step. Raises for any
        unreported illegal action.
        """
        self.check()
        self.guard.playing = False
        ended = self.device.put(np.zeros(1, np.int64))
        kernel = kernels.rollout_kernel(self.game, self.words)
        self.device.launch(
            kernel, self.count, plies, self._v_states, self._v_series, self._starts, self._spans,
            self.device.view(ended),
        )  # fmt: skip
        return int(ended.item())

    # ---- errors ----

    def settle(self) -> None:
        """As `check`."""
        self.check()

    def check(self) -> None:
        """Wait for the device; raise if an action was illegal since the last check.

        Raises:
            IllegalActionError: names the first step with an illegal action, and its lowest such
                row.
        """
        found, steps = self._read_error(), int(self._clock.item())
        self._clock.zero_()
        if found != kernels.NO_ERROR:
            step, row = found >> kernels.STEP_BITS, found & (2**kernels.STEP_BITS - 1)
            raise IllegalActionError(
                f"actions[{row}]: {int(self._wrong[row].item())} was illegal in step {step} of "
                f"{steps} since the last check; it changed nothing in its game"
            )

    def _read_error(self) -> int:
        """Read and clear the error word."""
        found = int(self._error.item())
        if found != kernels.NO_ERROR:
            self._error.fill_(kernels.NO_ERROR)
        return found

    def _refuse_illegal(self, taken: Any, given: Any) -> None:
        self.device.launch(
            kernels.check_all, self.count, given, self.legal, self._over, self._v_error
        )
        row = self._read_error()
        if row != kernels.NO_ERROR:
            raise illegal_row(self.position(row), row, int(taken[row].item()))

    def _take(self, actions: Any) -> Any:
        """Validate actions, which must be on the device; returns a contiguous int64 tensor."""
        torch = require("torch", "cuda")
        if not isinstance(actions, torch.Tensor):
            if not hasattr(actions, "__dlpack__"):
                raise IllegalActionError(
                    f"actions: {type(actions).__name__} given, a tensor is needed"
                )
            try:
                actions = torch.from_dlpack(actions)
            except Exception as error:  # whatever the object does
                raise IllegalActionError(f"actions: not a tensor: {told(error)}") from error
        if tuple(actions.shape) != (self.count,):
            raise IllegalActionError(
                f"actions: shape {tuple(actions.shape)} given, ({self.count},) is needed"
            )
        if actions.is_floating_point() or actions.is_complex() or actions.dtype == torch.bool:
            raise IllegalActionError(f"actions: {actions.dtype} given, whole numbers are needed")
        if actions.device != self.device.place:
            raise IllegalActionError(f"actions: on {actions.device}, needed on {self.device.place}")
        return actions.to(torch.int64).contiguous()

    def close(self) -> None:
        """Raise for any unreported illegal action."""
        self.check()
        super().close()

    def _spread(self, outputs: DeviceOutputs) -> None:
        """Spread packed words to bytes if these are the outputs."""
        if self.form != PACKED:
            write = spreading.write_masks_kernel(self.words, self.num_actions)
            threads = spreading.threads(*outputs.masks.shape)
            self.device.launch(write, threads, self._legal_bytes, self._over, outputs.spread[0])
        if self.form == PLANES:
            self._spread_planes(outputs.view_rows, outputs.spread[1], self._over)

    def _spread_planes(self, rows: Any, words: Any, which: Any, *, some: bool = False) -> None:
        """Spread packed observations to the rows of planes that consist of `words`."""
        write = spreading.write_planes_kernel(self.game, some)
        threads = spreading.threads(*rows.shape)
        self.device.launch(write, threads, self._packed_bytes, which, words)
