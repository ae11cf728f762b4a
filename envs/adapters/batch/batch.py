"""The engine under the vector environments: many games of one kind in a few arrays.

A batch of `n` games is an array of states, `(n,)`, what their randomness comes from, and the
packed masks by which actions are checked. It writes its outputs into buffers that the caller
chooses, so one engine serves copies and zero-copy alike.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch import kernels
from azumaya.envs.adapters.batch.kernels import NONE, PACKED, PLANES, SERIES
from azumaya.envs.adapters.batch.workers import Workers
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.game import RUNNING, TERMINATED, TRUNCATED, Game, as_states, state_kind
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.checksum import checksums
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.position import Position, check_seed
from azumaya.envs.setup import Setup
from azumaya.envs.whole import whole_number

FORMS = {"planes": PLANES, "packed": PACKED, "none": NONE}
"""Forms of an observation by name."""
ILLEGAL = ("raise", "lose")
"""What an illegal action may lead to."""
MAX_GAMES = 2**31 - 1


SAVED = np.dtype([*SERIES.descr, ("checksum", np.uint64)])
"""What `get_series` gives: `SERIES`, and a checksum of this and the game's state."""

CONTENT = ("mask_rows", "view_rows", "rewards", "both", "terminated", "truncated", "to_move")
"""The fields of `Outputs` that are memory of their own; the others are views of it."""


@dataclass(frozen=True, eq=False)
class Outputs:
    """The buffers that a step of `n` games writes.

    Attributes:
        mask_rows, view_rows: masks and observations as kernels write them: `(n, bytes)` int8, or
            packed words, `(n, W)` uint64.
        masks: the masks: `(n, A)` int8, or packed.
        observations: so the observations: `(n, C, rows, columns)` int8, or packed; None in the
            form "none".
        rewards: what the player who moved gained, `(n,)` float64.
        both: what both players gained, `(n, 2)` float64.
        terminated, truncated: how the game ended with this step, `(n,)` bool.
        to_move: who moves now, `(n,)` int64.
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
    """Buffers for the fields of `Outputs`, made by `new(shape, dtype)`.

    What `new` makes may be tensors: observations are the rows in another shape.
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
    """The buffers of observations alone, `view_rows` and `observations` of `Outputs`."""
    if form == PACKED:
        words = new((count, game.observation.packed_words), np.uint64)
        return words, words
    shape = (len(game.observation.planes), *game.observation.shape)
    size = math.prod(shape) if form == PLANES else 0
    rows = new((count, size), np.int8)
    return rows, rows.reshape(count, *shape) if size else None


class Batch:
    """Many games, stepped at once by whoever is to move in each; `reset` must come first.

    Args:
        game: the game.
        setup: its checked options.
        count: how many games.
        form: of observations, `"planes"`, `"packed"` or `"none"`.
        same_step: whether a game that ends is begun anew in the same step; else in the next.
        illegal: whether an illegal action raises (`"raise"`) or loses the game (`"lose"`).
        threads: None for all cores.

    Attributes:
        begun: whether episodes are in play. They are not before the first `reset`, nor after a
            call was broken off (by Ctrl-C, say): masks may then not fit the states.

    Raises:
        OptionError: an argument has a value it cannot take.
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
        """New buffers of undefined content, for all games or for so many of them."""
        count = self.count if count is None else count
        return Outputs(**buffers(self.game, self.setup.num_actions, self._form, count, aligned))

    def new_actions(self) -> np.ndarray:
        """Room for an action of every game, `(n,)` int64."""
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
            outputs: where what the games look like is written, for all games.
            seeds: begins new series of episodes, see `seed_series`; without seeds the series go
                on, or begin at random.
            rows: the games to begin anew, all by default.
            setup: what the episodes start from, where it is not the batch's own.
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
        """Play an action in every game; one that is over is begun anew instead.

        Args:
            actions: `(n,)` whole numbers; what is given for a game that is over plays no part.
            outputs: where the results are written.
            skip_over: False: an action for a game that is over is an error.

        Returns:
            The rows of the games that ended and were begun anew in this step (none unless
            `same_step`); `finals` shows how they ended.

        Raises:
            IllegalActionError: the actions have a wrong shape or type, or one is illegal. The
                error names the game, and none has changed.
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
        """What the games that ended in the last step looked like at their end, by `same_step`."""
        outputs = self.new_outputs(len(self._slots))
        self._show(outputs, self._finals, self._slots, np.full(len(self._slots), -1))
        return outputs

    def final_states(self) -> np.ndarray:
        """The states of the games that ended in the last step, `(m,)`, by `same_step`."""
        return self._finals[self._slots]

    def show(self, outputs: Outputs) -> None:
        """Write what every game looks like to who moves in it; rewards are 0."""
        outputs.rewards[:], outputs.both[:] = 0.0, 0.0
        outputs.terminated[:] = self.states["over"] == TERMINATED
        outputs.truncated[:] = self.states["over"] == TRUNCATED
        outputs.to_move[:] = self.states["to_move"]
        self._over[:] = self.states["over"] != RUNNING
        self._show(outputs, self.states, self._everybody, self._movers, self._legal)

    def choose(self, actions: np.ndarray) -> None:
        """Write a uniformly random legal action for every game, `(n,)` int64; 0 where it is over.

        The choices are drawn from the episode's key, so they are the same in any batch.
        """
        self._run(self._choose, lambda: (self._legal, self._over, self._series, actions))

    def rollout(self, plies: int) -> int:
        """Make random legal moves in every game, begun anew where it ends, and show nothing.

        Returns how many games ended. No games are in play until `resume` was called.
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
        """Show all games, which are then in play, whatever was done to their states."""
        self.show(outputs)
        self.begun = True

    # ---- single games ----

    def position(self, row: int) -> Position:
        """The position of one game, as an object of its own."""
        return Position.of_states(self.game, self.setup, self.states[row : row + 1])

    def get_states(self) -> np.ndarray:
        """A copy of the states, `(n,)`."""
        return self.states.copy()

    def get_series(self) -> np.ndarray:
        """What the randomness of the games comes from, `(n,)` `SAVED`, a copy."""
        return save_series(self.game, self.setup.num_actions, self.states, self._series)

    def set_state(self, states: np.ndarray, series: np.ndarray, outputs: Outputs) -> None:
        """Put other states in, `(n,)`, with what their randomness comes from, and show them.

        Raises:
            OptionError: the arrays are not those of such a batch; nothing was changed.
        """
        series = check_states(self.game, self.setup.num_actions, self.count, states, series)
        self.workers.settle()
        self.begun = False
        self.states[:], self._series[:] = states, series
        self.resume(outputs)

    def close(self) -> None:
        """Let the threads end."""
        self.workers.close()

    def __getstate__(self) -> dict[str, Any]:
        """What all else follows from; masks, by which actions are checked, are made anew."""
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
        """Room for a packed observation."""
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
    """A number of games, from 1 on; raises `OptionError`."""
    return whole_number(count, "num_envs", 1, MAX_GAMES)


def check_illegal(illegal: Any) -> str:
    """What happens to who makes an illegal move, by its name; raises `OptionError`."""
    if not isinstance(illegal, str) or illegal not in ILLEGAL:
        raise OptionError(f"illegal={illegal!r}: must be one of {', '.join(map(repr, ILLEGAL))}")
    return illegal


def check_form(form: Any) -> int:
    """A form of observations by its name; raises `OptionError`."""
    if not isinstance(form, str) or form not in FORMS:
        raise OptionError(f"observation={form!r}: must be one of {', '.join(FORMS)}")
    return FORMS[form]


def save_series(game: Game, num_actions: int, states: np.ndarray, series: np.ndarray) -> np.ndarray:
    """Series as they are handed out, `(n,)` `SAVED`: with checksums of the games' states."""
    saved = as_states(np.empty(len(series), SAVED))
    for name in SERIES.names or ():
        saved[name] = series[name]
    saved["checksum"] = checksums(state_kind(game, num_actions), states, series)
    return saved


def check_states(game: Game, num_actions: int, count: int, states: Any, saved: Any) -> np.ndarray:
    """Refuse what `get_state` of such a batch did not give.

    Returns:
        The series, `(n,)` `SERIES`.

    Raises:
        OptionError: types or shapes are wrong, or a row's checksum is: it was changed, or comes
            from another game or action space.
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
    """Begin new series of episodes, of one seed for all games or of one for each, in some rows.

    Game `i` of one seed draws as environment number `i` of it; a game with a seed of its own as
    number 0, like an environment by itself.

    Raises:
        OptionError: a seed is none, or there are too few or too many; nothing was changed.
    """
    rows = np.arange(len(series)) if rows is None else rows
    if isinstance(seeds, Sequence | np.ndarray) and np.ndim(seeds):
        if len(seeds) != len(series):
            raise OptionError(f"seed: {len(seeds)} seeds given for {len(series)} games")
        every = np.array([check_seed(seed) for seed in seeds], np.uint64)
        series["seed"][rows], series["number"][rows] = every[rows], 0
    else:
        series["seed"][rows], series["number"][rows] = np.uint64(check_seed(seeds)), rows
    series["episode"][rows] = 0


def copy_actions(actions: Any, out: np.ndarray, whose: str = "") -> None:
    """Copy actions, any array of whole numbers of the shape of `out`, `(n,)` int64, to it.

    Raises:
        IllegalActionError: they have another shape or type; it says whose actions they are.
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
    if given.dtype == np.uint64:  # those that int64 cannot hold are no actions, as large as it can
        given = np.minimum(given, np.uint64(np.iinfo(np.int64).max))
    out[:] = given


def illegal_row(position: Position, row: int, action: int, whose: str = "") -> IllegalActionError:
    """The error for an illegal action in one game of a batch, naming its row."""
    try:
        reason = position.explain(action)
    except IllegalActionError as error:
        reason = str(error)
    return IllegalActionError(f"{whose}actions[{row}]: {reason}")
