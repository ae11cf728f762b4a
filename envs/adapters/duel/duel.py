"""A learner's steps in many games, each against built-in opponents in the other seat.

The opponent's moves are part of the learner's step: after `step`, it is the learner's turn again
in every game, in the current episode or the next one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from azumaya.envs.adapters.batch.calls import is_closed, needs_reset
from azumaya.envs.adapters.batch.checks import (
    ILLEGAL_REWARD,
    check_illegal,
    check_states,
    copy_actions,
    illegal_row,
    save_series,
    seed_series,
)
from azumaya.envs.adapters.batch.kernels import first_illegal
from azumaya.envs.adapters.duel.games import Player, Players, SeatedGames
from azumaya.envs.adapters.duel.kernels import SEAT
from azumaya.envs.adapters.duel.opponents import NAMED, OTHERS, is_agent, is_policy
from azumaya.envs.adapters.duel.shaping import Shaping
from azumaya.envs.errors import OptionError
from azumaya.envs.game import RUNNING, TRUNCATED, Game, state_kind
from azumaya.envs.kernels.checksum import checksum
from azumaya.envs.setup import Setup


class Turn(NamedTuple):
    """The outcome of a learner's step in `n` games, of which `m` ended.

    Attributes:
        rewards: the learner's rewards, including opponents' moves and shaping, `(n,)` float32.
            The first reward includes what the opponents' moves before the learner's first move
            gave.
        dones: whether the game ended, `(n,)` bool; its next episode has begun.
        ended: the rows of the games that ended, `(m,)`.
        finals: the learner's final observations, `(m, C, rows, columns)` int8.
        truncated: whether a limit ended the game without a result, `(m,)` bool. The value of the
            last position then stands for what would have followed. Where the limit gave a result,
            as a tiebreak does that is not drawn, the reward has all of it.
    """

    rewards: np.ndarray
    dones: np.ndarray
    ended: np.ndarray
    finals: np.ndarray
    truncated: np.ndarray


def _itself(turn: Turn) -> Turn:
    return turn


class _Moment(NamedTuple):
    """A snapshot of what a step or reset changes, restored if it fails."""

    written: tuple[tuple[np.ndarray, np.ndarray], ...]
    """Arrays modified in place, with their previous contents."""
    replaced: dict[str, Any]
    """Attributes that are reassigned, with their previous values."""


_PARTS = {"states", "series", "seats", "opponents"}
"""What a state consists of; the last may be missing if it is empty."""
_INTERRUPTED = "the last step was interrupted; "
_REPLACED = ("planes", "masks", "_evaluations", "_seeded", "_why_reset")


class Duel(SeatedGames):
    """Many games between a learner and built-in opponents.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games.
        opponent: `"random"` (the same as None), `"greedy"`, a policy, an agent, or several of
            these with weights, as pairs or a mapping; one is drawn for each episode.
        seat: the learner's seat: 0, 1, `"alternating"` (between episodes) or `"random"`.
        illegal: whether an illegal action by the learner raises an error (`"raise"`) or loses the
            game (`"lose"`, for algorithms without masks).
        shaping: the weight of reward shaping, see `Shaping`; 0: none.
        threads: the number of threads for compiled moves; None: one per core.

    Raises:
        OptionError: an argument has an invalid value.
    """

    def __init__(
        self,
        game: Game,
        setup: Setup,
        count: int,
        *,
        opponent: Player | Players | None = "random",
        seat: int | str = "alternating",
        illegal: str = "raise",
        shaping: float = 0.0,
        threads: int | None = 1,
    ) -> None:
        check_illegal(illegal)
        super().__init__(game, setup, count, opponent=opponent, seat=seat, threads=threads)
        self._illegal_loses, self._seeded, self._closed = illegal == "lose", False, False
        self._why_reset: str | None = ""
        self._shaping = Shaping(game, setup, shaping)
        self._actions = np.zeros(count, np.int64)
        self._evaluations = np.zeros(count, np.int64)
        self._make_outputs()

    def __getstate__(self) -> dict[str, Any]:
        """The attributes that cannot be rebuilt, with a checksum of the data kernels rely on."""
        made = ("_look_at", "_move_all", "_respond_all", "_legal", "planes", "masks")
        kept = {name: value for name, value in self.__dict__.items() if name not in made}
        return {**kept, "checksum": self._checksum()}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        saved = dict(saved)
        given = saved.pop("checksum", None)
        self.__dict__.update(saved)
        if given != self._checksum():
            raise OptionError("duel: its games were changed after they were saved")
        self._make_kernels()
        self._make_outputs()
        if self._why_reset is None:
            self._look_all()

    def _checksum(self) -> int:
        kind = state_kind(self.game, self.setup.num_actions)
        return checksum(kind, self.states, self._series, self._seats)

    def _make_outputs(self) -> None:
        seen, count = self.game.observation, self.count
        self._legal = np.zeros((count, self._mask_words), np.uint64)
        self.planes = np.zeros((count, len(seen.planes), *seen.shape), np.int8)
        self.masks = np.zeros((count, self.setup.num_actions), np.int8)

    # ---- episodes ----

    def reset(self, seeds: Sequence[int] | int | None = None) -> None:
        """Begin an episode in every game; if this fails, nothing changes.

        Args:
            seeds: one seed for all games, in which game `i` is environment number `i`; a sequence
                of seeds, one for each game; or None to continue the series (at first, from a random
                seed).

        Raises:
            OptionError: a seed is invalid, or the learner never gets to act.
            IllegalActionError: the opponent returned invalid or illegal actions.
            ClosedEnvironmentError: `close` was called.
        """
        self._check_open("reset")
        self._workers.wait_idle()
        before = self._save()
        self._why_reset = _INTERRUPTED
        try:
            self._reset(seeds)
        except BaseException:
            self._go_back(before)
            raise

    def _reset(self, seeds: Sequence[int] | int | None) -> None:
        if seeds is None and self._seeded:
            self._series["episode"] += 1
        else:
            seed_series(self._series, secrets.randbits(63) if seeds is None else seeds)
        self._begin(np.arange(self.count))
        self._look_all()
        self._seeded, self._why_reset = True, None

    def step(self, actions: Any, report: Callable[[Turn], Any] = _itself) -> Any:
        """Play the learner's action in every game, then opponents until the learner's next turn.

        Args:
            actions: `(n,)` integers.
            report: converts the `Turn` to the return value; by default, the turn is returned. If it
                raises, the step fails.

        If a policy or agent raises anything, KeyboardInterrupt included, the exception propagates
        and all games are restored, so the step can be repeated.

        Raises:
            IllegalActionError: the actions have the wrong shape or type, or one is illegal, the
                learner's or the opponent's; the error names the game, and none has changed.
            ResetNeeded: `reset` was never called, or a step against compiled opponents only, which
                keeps no snapshot, was interrupted.
            ClosedEnvironmentError: `close` was called.
        """
        self._check_open("step")
        self.check_begun("step")
        copy_actions(actions, self._actions)
        lost = self._lost(self._actions)
        before = self._save() if self._others else None
        self._why_reset = _INTERRUPTED
        try:
            reported = report(self._turn(self._actions, lost))
        except BaseException:
            self._go_back(before)
            raise
        self._why_reset = None
        return reported

    def _turn(self, actions: np.ndarray, lost: np.ndarray) -> Turn:
        rows = np.flatnonzero(~lost)
        self._move(rows, actions[rows])
        self._respond(rows)
        gains = self.states["payoff"] - self._seats["paid"]
        self._seats["paid"] = self.states["payoff"]
        rewards = np.where(self._seats["seat"] == 0, gains, -gains).astype(np.float32)
        if self._shaping:
            rewards += self._shaping.gains(self._evaluations, self._evaluate())
        rewards[lost] = ILLEGAL_REWARD
        dones = (self.states["over"] != RUNNING) | lost
        ended = np.flatnonzero(dones)
        truncated = (self.states["over"][ended] == TRUNCATED) & (gains[ended] == 0)
        finals = self.look(ended, self._seats["seat"][ended])[0]
        if ended.size:
            self._series["episode"][ended] += 1
            self._begin(ended)
        self._look_all()
        return Turn(rewards, dones, ended, finals, truncated)

    def _lost(self, actions: np.ndarray) -> np.ndarray:
        """Which games are lost by an illegal action, `(n,)` bool.

        Raises:
            IllegalActionError: an action is illegal, and illegal actions do not lose the game.
        """
        lost = np.zeros(self.count, np.bool_)
        row = 0
        while row < self.count:
            row = first_illegal(row, self.count, self._legal, actions, self.setup.num_actions, lost)
            if row < 0:
                break
            if not self._illegal_loses:
                raise illegal_row(self.position(row), int(row), int(actions[row]))
            lost[row] = True
            row += 1
        return lost

    def get_state(self) -> dict[str, Any]:
        """Everything that the games in progress depend on, by name.

        `states`, `series` and `seats` are copies. `opponents` has the policies and agents that play
        these games, themselves, by their numbers in `seats`.

        Raises:
            ResetNeeded: no episodes are in progress.
        """
        self.check_begun("get_state")
        origins = self._setups.origins(self._series["episode"])
        series = save_series(self.game, self.setup.num_actions, self.states, self._series, origins)
        return {
            "states": self.states.copy(),
            "series": series,
            "seats": self._seats.copy(),
            "opponents": self._others_in(self._seats),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Return to what `get_state` gave, here or in another duel with the same arguments.

        The games go on against their own opponents, which are part of the state; the next episodes
        are against those of this duel.

        Raises:
            OptionError: this is not the state of such a duel at the learner's turn, or it lacks an
                opponent; nothing has changed.
            ClosedEnvironmentError: `close` was called.
        """
        self._check_open("set_state")
        self._workers.wait_idle()
        if not isinstance(state, Mapping) or state.keys() | {"opponents"} != _PARTS:
            raise OptionError(f"state: must be a mapping with the keys {', '.join(sorted(_PARTS))}")
        states, seats, others = state["states"], state["seats"], state.get("opponents", {})
        series, origins = check_states(
            self.game, self.setup.num_actions, self.count, states, state["series"]
        )
        self._check_seats(states, seats, others)
        setups = self._setups.restored(origins, series["episode"])
        before, others_before = self._save(), self._others
        try:
            seats = self._adopted(seats, others)
            self.states[:], self._series[:], self._seats[:] = states, series, seats
            self._setups = setups
            self._look_all()
            self._seeded, self._why_reset = True, None
        except BaseException:
            self._others = others_before
            self._go_back(before)
            raise

    def _check_seats(self, states: np.ndarray, seats: Any, others: Any) -> None:
        """Reject seats that do not fit the states; raises `OptionError`."""
        fits = isinstance(seats, np.ndarray) and seats.shape == (self.count,)
        if not fits or np.dtype(seats.dtype.descr) != np.dtype(SEAT.descr):
            raise OptionError(f"seats: must be the seats of {self.count} games from get_state()")
        if not isinstance(others, Mapping) or not all(
            type(code) is int and code >= OTHERS and (is_agent(each) or is_policy(each))
            for code, each in others.items()
        ):
            raise OptionError("opponents: must be the policies and agents from get_state()")
        known = {named.code for named in NAMED.values()} | set(others)
        if not np.isin(seats["opponent"], list(known)).all():
            raise OptionError(
                "seats: they name an opponent that is not among the state's opponents"
            )
        if not ((states["over"] == RUNNING) & (states["to_move"] == seats["seat"])).all():
            raise OptionError("states: in every game it must be the learner's turn")

    def close(self) -> None:
        """End the threads; closing twice is safe."""
        self._closed = True
        self._workers.close()

    def check_begun(self, name: str) -> None:
        """Raise `ResetNeeded`, naming the method called, if no episodes are in progress."""
        if self._why_reset is not None:
            raise needs_reset(name, self._why_reset)

    def _check_open(self, name: str) -> None:
        if self._closed:
            raise is_closed(name)

    # ---- inside ----

    def _save(self) -> _Moment:
        written = (self.states, self._series, self._seats, self._legal)
        return _Moment(
            tuple((array, array.copy()) for array in written),
            {
                "_setups": self._setups.snapshot(),
                **{name: getattr(self, name) for name in _REPLACED},
            },
        )

    def _go_back(self, moment: _Moment | None) -> None:
        """Restore a snapshot; without one, these episodes cannot continue."""
        self._workers.wait_idle()
        if moment is not None:
            for array, values in moment.written:
                array[:] = values
            self.__dict__.update(moment.replaced)  # last, because it allows steps again

    def _evaluate(self) -> np.ndarray:
        """The games' evaluations for the learner, `(n,)`."""
        return self._shaping.evaluations(self.states, self._seats["seat"].copy(), self._evaluations)

    def _look_all(self) -> None:
        """Update the learner's observations and the evaluations of all games."""
        if self._shaping:
            self._evaluations = self._evaluate()
        rows = np.arange(self.count)
        self.planes, self.masks = self._look(rows, self._seats["seat"].copy(), self._legal)
