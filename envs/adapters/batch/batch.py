"""The engine under the vector environments: many games of one kind in a few arrays.

A batch of `n` games consists of an array of states, `(n,)`, the sources of their randomness, and
the packed masks used to check actions. It writes its outputs into buffers supplied by the caller,
so the same engine supports both copying and zero-copy use.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from azumaya.envs.adapters.batch import kernels
from azumaya.envs.adapters.batch.kernels import NONE, PACKED, PLANES, SERIES
from azumaya.envs.adapters.batch.workers import Workers
from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game, as_states, state_kind
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.checksum import checksums
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.position import Position, check_seed
from azumaya.envs.setup import Setup
from azumaya.envs.whole import whole_number

FORMS = {"planes": PLANES, "packed": PACKED, "none": NONE}
"""Observation formats by name."""
ILLEGAL = ("raise", "lose")
"""Ways to handle an illegal action."""
MAX_GAMES = 2**31 - 1


SAVED = np.dtype([*SERIES.descr, ("checksum", np.uint64)])
"""What `get_series` returns: `SERIES` with a checksum of it and the game's state."""

CONTENT = ("mask_rows", "view_rows", "rewards", "both", "terminated", "truncated", "to_move")
"""The fields of `Outputs` that own memory; the others are views of them."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """The buffers that a step of `n` games writes.

    Attributes:
        mask_rows, view_rows: masks and observations as kernels write them: `(n, bytes)` int8, or
            packed words, `(n, W)` uint64.
        masks: the masks: `(n, A)` int8, or packed.
        observations: the observations: `(n, C, rows, columns)` int8, or packed; None if the
            format is "none".
        rewards: the reward of the player who moved, `(n,)` float64.
        both: the rewards of both players, `(n, 2)` float64.
        terminated, truncated: whether and how this step ended the game, `(n,)` bool.
        to_move: the player to move next, `(n,)` int64.
    """

    mask_rows: np.ndarray
    view_rows: np.ndarray
    masks: np.ndarray
    observations: np.ndarray | None
    rewards: np.ndarray
    both: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    to_move: np.ndarray


def buffers(
    game: Game, actions: int, form: int, count: int, new: Callable[[tuple[int, ...], Any], Any]
) -> dict[str, Any]:
    """Buffers for the fields of `Outputs`, allocated by `new(shape, dtype)`.

    `new` may return tensors. Observations are a reshaped view of the rows.
    """
    packed = form == PACKED
    mask_rows = (
        new((count, word_count(actions)), np.uint64) if packed else new((count, actions), np.int8)
    )
    view_rows, views = view_buffers(game, form, count, new)
    return {
        "mask_rows": mask_rows,
        "view_rows": view_rows,
        "masks": mask_rows,
        "observations": views,
        "rewards": new((count,), np.float64),
        "both": new((count, 2), np.float64),
        "terminated": new((count,), np.bool_),
        "truncated": new((count,), np.bool_),
        "to_move": new((count,), np.int64),
    }


def view_buffers(
    game: Game, form: int, count: int, new: Callable[[tuple[int, ...], Any], Any]
) -> tuple[Any, Any]:
    """The observation buffers: `view_rows` and `observations` of `Outputs`."""
    if form == PACKED:
        words = new((count, game.observation.packed_words), np.uint64)
        return words, words
    shape = (len(game.observation.planes), *game.observation.shape)
    size = math.prod(shape) if form == PLANES else 0
    rows = new((count, size), np.int8)
    return rows, rows.reshape(count, *shape) if size else None


class Batch:
    """Many games stepped together, each by its player to move; call `reset` first.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games.
        form: the observation format, `"planes"`, `"packed"` or `"none"`.
        same_step: whether a finished game restarts in the same step rather than the next one.
        illegal: whether an illegal action raises (`"raise"`) or loses the game (`"lose"`).
        threads: the number of threads; None: one per core.

    Attributes:
        begun: whether episodes are in progress. False before the first `reset` and after an
            interrupted call (by Ctrl-C, say), which may leave masks that do not match the states.

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
        illegal: str = "raise",
        threads: int | None = None,
    ) -> None:
        self.game, self.setup, self.count = game, setup, check_count(count)
        self.form, self.same_step, self._threads = form, same_step, threads
        self._form, self.illegal = check_form(form), check_illegal(illegal)
        self.workers = Workers(threads)
        self._alone = self.workers.slice_of(self.count) == self.count
        self.words = word_count(setup.num_actions)
        self.states = game.new_states(count)
        self._series = as_states(np.zeros(count, SERIES))
        self._legal = np.zeros((count, self.words), np.uint64)
        self._over = np.zeros(count, np.bool_)
        self._actions = np.zeros(count, np.int64)
        self._finals = as_states(np.empty(count if same_step else 1, game.rules.state))
        self._final_rows = np.empty(count if same_step else 1, np.int64)
        self._everybody, self._movers = np.arange(count), np.full(count, -1)
        self.begun = False
        self._step = kernels.step_kernel(
            game, self.words, self._form, same_step, self.illegal == "lose"
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
        setup: Setup | None = None,
    ) -> None:
        """Begin an episode.

        Args:
            outputs: receives the outputs of all games.
            seeds: starts new series of episodes, see `seed_series`; without seeds, the current
                series continue, or start from a random seed.
            rows: the games to restart; all by default.
            setup: replaces the batch's own setup for these episodes.
        """
        self.workers.settle()
        rows = self._everybody if rows is None else np.ascontiguousarray(rows, np.int64)
        if seeds is None and self.begun:
            self.begun = False
            self._series["episode"][rows] += 1
        else:
            seed_series(self._series, secrets.randbits(63) if seeds is None else seeds, rows)
            self.begun = False
        starts = (setup or self.setup).starts
        kernels.begin_kernel(self.game)(0, len(rows), rows, self.states, self._series, starts)
        self.show(outputs)
        self.begun = True

    def step(self, actions: Any, outputs: Outputs, *, skip_over: bool = True) -> np.ndarray:
        """Play an action in every game; finished games are restarted instead.

        Args:
            actions: `(n,)` integers; ignored for finished games.
            outputs: receives the results.
            skip_over: if False, an action for a finished game is an error.

        Returns:
            The rows of the games that ended and restarted in this step (none unless `same_step`);
            `finals` gives their final observations.

        Raises:
            IllegalActionError: the actions have the wrong shape or type, or one is illegal. The
                error names the game; no game has changed.
        """
        self._take_actions(actions, skip_over)
        o, self.begun = outputs, False
        ended = self._run(
            self._step,
            lambda: (
                self.states, self._series, self.setup.starts, self._actions, self._room(),
                self._legal, self._over, o.mask_rows, o.view_rows, o.rewards, o.both,
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
        outputs.rewards[:], outputs.both[:] = 0.0, 0.0
        outputs.terminated[:] = self.states["over"] == TERMINATED
        outputs.truncated[:] = self.states["over"] == TRUNCATED
        outputs.to_move[:] = self.states["to_move"]
        self._over[:] = self.states["over"] != RUNNING
        self._show(outputs, self.states, self._everybody, self._movers, self._legal)

    def choose(self, actions: np.ndarray) -> None:
        """Write a uniformly random legal action for every game, `(n,)` int64; 0 if it is over.

        Choices are drawn from the episode's key, so they do not depend on the batch.
        """
        self._run(self._choose, lambda: (self._legal, self._over, self._series, actions))

    def rollout(self, plies: int) -> int:
        """Play random legal moves in every game, restarting finished games, without outputs.

        Returns the number of games that ended. Call `resume` before the next step.
        """
        kernel, starts = kernels.rollout_kernel(self.game, self.words), self.setup.starts
        self.begun = False
        ended = self.workers.run(
            kernel,
            self.count,
            lambda: (plies, self.states, self._series, starts, np.empty(self.words, np.uint64)),
        )
        return sum(ended)

    def resume(self, outputs: Outputs) -> None:
        """Write the outputs of all games and mark them as in progress."""
        self.show(outputs)
        self.begun = True

    # ---- single games ----

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object."""
        return Position.of_states(self.game, self.setup, self.states[row : row + 1])

    def get_states(self) -> np.ndarray:
        """A copy of the states, `(n,)`."""
        return self.states.copy()

    def get_series(self) -> np.ndarray:
        """A copy of the sources of the games' randomness, `(n,)` `SAVED`."""
        return save_series(self.game, self.setup.num_actions, self.states, self._series)

    def set_state(self, states: np.ndarray, series: np.ndarray, outputs: Outputs) -> None:
        """Replace the states and the sources of their randomness, `(n,)` each; write the outputs.

        Raises:
            OptionError: the arrays do not come from a matching batch; nothing has changed.
        """
        series = check_states(self.game, self.setup.num_actions, self.count, states, series)
        self.workers.settle()
        self.begun = False
        self.states[:], self._series[:] = states, series
        self.resume(outputs)

    def close(self) -> None:
        """End the threads."""
        self.workers.close()

    def __getstate__(self) -> dict[str, Any]:
        """The data from which the rest is rebuilt, including the masks that check actions."""
        made = {"form": self.form, "same_step": self.same_step, "threads": self._threads}
        made["illegal"] = self.illegal
        made |= {"game": self.game, "setup": self.setup, "count": self.count}
        return {"made": made, "begun": self.begun, "saved": (self.states, self.get_series())}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        Batch.__init__(self, **saved["made"])
        if saved["begun"]:
            states, series = saved["saved"]
            self.set_state(states, series, self.new_outputs())

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

        masks, views = outputs.mask_rows, outputs.view_rows
        self.workers.run(
            self._look,
            len(rows),
            lambda: (rows, players, states, self._room(), legal, masks, views),
        )

    def _take_actions(self, actions: Any, skip_over: bool) -> None:
        copy_actions(actions, self._actions)
        if self.illegal == "lose":
            if not skip_over and self._over.any():
                row = int(np.argmax(self._over))
                raise illegal_row(self.position(row), row, int(self._actions[row]))
            return
        num_actions = self.setup.num_actions
        rows = self._run(
            kernels.first_illegal,
            lambda: (self._legal, self._actions, num_actions, self._over, skip_over),
        )
        for row in rows:
            if row >= 0:
                raise illegal_row(self.position(row), int(row), int(self._actions[row]))

    def _run(self, kernel: Any, arguments: Callable[[], tuple[Any, ...]]) -> list[int]:
        """Run a kernel of every step over all games: its arguments never change their types."""
        if self._alone:  # a small batch takes no longer than to get here
            return [self.workers.call(kernel, 0, self.count, *arguments())]
        return self.workers.run(kernel, self.count, arguments, fixed=True)


# ---- checks ----


def check_count(count: Any) -> int:
    """Validate a number of games, at least 1; raises `OptionError`."""
    return whole_number(count, "num_envs", 1, MAX_GAMES)


def check_illegal(illegal: Any) -> str:
    """Validate the way to handle illegal actions; raises `OptionError`."""
    if not isinstance(illegal, str) or illegal not in ILLEGAL:
        known = ", ".join(map(repr, ILLEGAL))
        raise OptionError(f"illegal={brief(illegal)}: must be one of {known}")
    return illegal


def check_form(form: Any) -> int:
    """The observation format with this name; raises `OptionError`."""
    if not isinstance(form, str) or form not in FORMS:
        raise OptionError(f"observation={brief(form)}: must be one of {', '.join(FORMS)}")
    return FORMS[form]


def save_series(game: Game, num_actions: int, states: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Series with checksums of the games' states, `(n,)` `SAVED`, for the caller to keep."""
    saved = as_states(np.empty(len(series), SAVED))
    for name in SERIES.names or ():
        saved[name] = series[name]
    saved["checksum"] = checksums(state_kind(game, num_actions), states, series)
    return saved


def check_states(game: Game, num_actions: int, count: int, states: Any, saved: Any) -> np.ndarray:
    """Reject states that do not come from `get_state` of a matching batch.

    Returns:
        The series, `(n,)` `SERIES`.

    Raises:
        OptionError: a type or shape is wrong, or a checksum does not match: the row was modified
            or belongs to another game or action space.
    """
    for name, given, own in (("states", states, game.rules.state), ("series", saved, SAVED)):
        if not isinstance(given, np.ndarray):
            raise OptionError(f"{name}: {type(given).__name__} given, an array is needed")
        if given.shape != (count,) or np.dtype(given.dtype.descr) != np.dtype(own.descr):
            raise OptionError(
                f"{name}: {given.dtype} of shape {given.shape} given; the states of "
                f"{count} games of {game.title} are needed"
            )
    series = as_states(np.empty(count, SERIES))
    for name in SERIES.names or ():
        series[name] = saved[name]
    wrong = saved["checksum"] != checksums(state_kind(game, num_actions), states, series)
    if wrong.any():
        raise OptionError(
            f"state: row {int(np.argmax(wrong))} is not as get_state() gave it, or comes from an "
            f"environment of another action space than {num_actions} actions"
        )
    return series


def seed_series(
    series: np.ndarray, seeds: Sequence[int] | int, rows: np.ndarray | None = None
) -> None:
    """Start new series of episodes in the given rows, from one shared seed or one seed per game.

    With a shared seed, game `i` is environment number `i` of that seed. With its own seed, a game
    is environment number 0, like a single environment.

    Raises:
        OptionError: a seed is invalid, or the number of seeds is wrong; nothing has changed.
    """
    rows = np.arange(len(series)) if rows is None else rows
    if _are_several(seeds):
        if len(seeds) != len(series):
            raise OptionError(f"seed: {len(seeds)} seeds given for {len(series)} games")
        every = np.array([check_seed(seed) for seed in seeds], np.uint64)
        series["seed"][rows], series["number"][rows] = every[rows], 0
    else:
        series["seed"][rows], series["number"][rows] = np.uint64(check_seed(seeds)), rows
    series["episode"][rows] = 0


def _are_several(seeds: Any) -> TypeGuard[Sequence[int]]:
    """Whether there is a seed for each game; a text is a wrong seed, not several."""
    if isinstance(seeds, np.ndarray):
        return seeds.ndim > 0
    return isinstance(seeds, Sequence) and not isinstance(seeds, str | bytes)


def copy_actions(actions: Any, out: np.ndarray, whose: str = "") -> None:
    """Copy an integer array of actions into `out`, `(n,)` int64, which has the same shape.

    Raises:
        IllegalActionError: the shape or type is wrong; the message starts with `whose`.
    """
    try:
        given = np.asarray(actions)
    except ValueError:  # rows of different lengths
        raise IllegalActionError(f"{whose}actions: no array; {out.shape} is needed") from None
    if given.shape != out.shape:
        raise IllegalActionError(
            f"{whose}actions: shape {given.shape} given, {out.shape} is needed"
        )
    if given.dtype.kind not in "iu":
        raise IllegalActionError(f"{whose}actions: {given.dtype} given, whole numbers are needed")
    if given.dtype == np.uint64:  # too large for int64: clamped, still illegal
        given = np.minimum(given, np.uint64(np.iinfo(np.int64).max))
    out[:] = given


def illegal_row(position: Position, row: int, action: int, whose: str = "") -> IllegalActionError:
    """The error for an illegal action in one game of a batch, naming its row."""
    try:
        reason = position.explain(action)
    except IllegalActionError as error:
        reason = str(error)
    return IllegalActionError(f"{whose}actions[{row}]: {reason}")
