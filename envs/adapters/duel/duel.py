"""A learner's steps in many games, each against built-in opponents in the other seat.

The opponent's moves are part of the learner's step: after `step`, it is the learner's turn again
in every game, in the current episode or the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from azumaya.envs.adapters.duel.kernels import ASKED_DRAWS, SEAT, draw_seats, respond_kernel
from azumaya.envs.adapters.duel.opponents import (
    MAX_EPISODES,
    NAMED,
    OTHERS,
    SEATS,
    Opponent,
    Opponents,
    Policy,
    check_seat,
    is_agent,
    is_policy,
    never_acts,
)
from azumaya.envs.adapters.duel.shaping import Shaping
from azumaya.envs.engine.checks import ILLEGAL_REWARD, check_illegal, copy_actions, illegal_row
from azumaya.envs.engine.games import Games
from azumaya.envs.engine.guard import Call
from azumaya.envs.engine.kernels import PLANES, first_illegal, look_kernel, move_kernel
from azumaya.envs.errors import OptionError
from azumaya.envs.game import RUNNING, TRUNCATED, Game, as_states
from azumaya.envs.kernels.rng import random_word
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.setup import Setup

Player = str | Policy | Opponent
Players = Sequence[tuple[Player, float]] | Mapping[Player, float]


class Turn(NamedTuple):
    """The outcome of a learner's step in `n` games, of which `m` ended.

    Attributes:
        rewards: the learner's rewards, including opponents' moves and shaping, `(n,)` float32.
            The first reward includes what the opponents' moves before the learner's first move
            gave.
        dones: whether the game ended, `(n,)` bool; its next episode has begun.
        ended: the rows of the games that ended, `(m,)`.
        finals: the learner's final observations, `(m, C, rows, columns)` int8.
        truncated: whether a limit ended the game without a result, so that its last move gave
            nothing, `(m,)` bool. The value of the last position then stands for what would have
            followed. Where the limit gave a result, as a tiebreak does that is not drawn, the
            reward has all of it.
    """

    rewards: np.ndarray
    dones: np.ndarray
    ended: np.ndarray
    finals: np.ndarray
    truncated: np.ndarray


def _itself(turn: Turn) -> Turn:
    return turn


_PARTS = {"states", "series", "seats", "opponents"}
"""What a state consists of; the last may be missing if it is empty."""
_REPLACED = ("planes", "masks", "evaluations", "opponents", "_setups")
"""The attributes that a step or a reset replaces rather than writes."""


class Duel(Games):
    """Many games between a learner and built-in opponents.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games, `n`.
        opponent: `"random"` (the same as None), `"greedy"`, a policy, an agent, or several of
            these with weights, as pairs or a mapping; one is drawn for each episode.
        seat: the learner's seat: 0, 1, `"alternating"` (between episodes) or `"random"`.
        illegal: whether an illegal action by the learner raises an error (`"raise"`) or loses the
            game (`"lose"`, for algorithms without masks).
        shaping: the weight of reward shaping, see `Shaping`; 0: none.
        threads: the number of threads for compiled moves; None: one per core.

    Attributes:
        seats: the learner's seat, the opponent's code and what was paid, `(n,)` `SEAT`.
        opponents: who plays.
        planes: the learner's observations, `(n, C, rows, columns)` int8.
        masks: its action masks, `(n, A)` int8.
        evaluations: the positions' evaluations for the learner, if rewards are shaped, `(n,)`.

    Raises:
        OptionError: an argument has an invalid value.
    """

    _REBUILT: ClassVar[tuple[str, ...]] = (
        *Games._REBUILT, "planes", "masks", "_look_at", "_move_all", "_respond_all",
    )  # fmt: skip

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
        self._illegal_loses = check_illegal(illegal) == "lose"
        super().__init__(game, setup, count, threads)
        self.seats = as_states(np.zeros(count, SEAT))
        self.opponents = Opponents(opponent)
        self.seating = SEATS.index(check_seat(seat))
        self._shaping = Shaping(game, setup, shaping)
        self._actions = np.zeros(count, np.int64)
        self._before = np.zeros(count, np.int64)  # the payoff before the last move of each game
        self.evaluations = np.zeros(count, np.int64)
        self._build()

    def _build(self) -> None:
        super()._build()
        self._look_at = look_kernel(self.game, self.words, PLANES)
        self._move_all, self._respond_all = move_kernel(self.game), respond_kernel(self.game)
        seen, count = self.game.observation, self.count
        self.planes = np.zeros((count, len(seen.planes), *seen.shape), np.int8)
        self.masks = np.zeros((count, self.num_actions), np.int8)

    def _records(self) -> tuple[np.ndarray, ...]:
        return *super()._records(), self.seats

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
        with Call(self.guard, "reset", begins=True), self._undone():
            self.begin(seeds)
            self._seat(np.arange(self.count))
            self._refresh()
            self.guard.playing = True

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
                are not restored, was interrupted.
            ClosedEnvironmentError: `close` was called.
        """
        with Call(self.guard, "step"), self._undone(bool(self.opponents.others)):
            copy_actions(actions, self._actions)
            lost = self._lost(self._actions)
            self.guard.playing = False
            reported = report(self._turn(self._actions, lost))
            self.guard.playing = True
            return reported

    def _turn(self, actions: np.ndarray, lost: np.ndarray) -> Turn:
        rows = np.flatnonzero(~lost)
        self._move(rows, actions[rows])
        self._respond(rows)
        gains = self.states["payoff"] - self.seats["paid"]
        self.seats["paid"] = self.states["payoff"]
        rewards = np.where(self.seats["seat"] == 0, gains, -gains).astype(np.float32)
        if self._shaping:
            rewards += self._shaping.gains(self.evaluations, self._evaluate())
        rewards[lost] = ILLEGAL_REWARD
        dones = (self.states["over"] != RUNNING) | lost
        ended = np.flatnonzero(dones)
        nothing = self.states["payoff"][ended] == self._before[ended]
        truncated = (self.states["over"][ended] == TRUNCATED) & nothing
        finals, _ = self._look(ended, self.seats["seat"][ended])
        if ended.size:
            self._begin_next(ended)
            self._seat(ended)
        self._refresh()
        return Turn(rewards, dones, ended, finals, truncated)

    def _lost(self, actions: np.ndarray) -> np.ndarray:
        """Which games are lost by an illegal action, `(n,)` bool.

        Raises:
            IllegalActionError: an action is illegal, and illegal actions do not lose the game.
        """
        lost = np.zeros(self.count, np.bool_)
        row = 0
        while row < self.count:
            row = first_illegal(row, self.count, self.legal, actions, self.num_actions, lost)
            if row < 0:
                break
            if not self._illegal_loses:
                raise illegal_row(self.position(row), int(row), int(actions[row]))
            lost[row] = True
            row += 1
        return lost

    def _seat(self, rows: np.ndarray) -> None:
        """Draw seats and opponents for new episodes; skip any that end before the learner acts."""
        for _ in range(MAX_EPISODES):
            drawn = self.opponents
            draw_seats(rows, self.series, self.seats, self.seating, drawn.limits, drawn.codes)
            self.seats["paid"][rows] = self.states["payoff"][rows]
            self._respond(rows)
            rows = rows[self.states["over"][rows] != RUNNING]
            if not rows.size:
                return
            self._begin_next(rows)
        raise never_acts()

    def set_opponent(self, opponent: Any) -> None:
        """Change the opponent, starting with each game's next episode.

        Raises:
            OptionError: this is no opponent, see the class; nothing has changed.
        """
        self.opponents.draw(opponent, self.seats["opponent"].tolist())

    # ---- saved games ----

    def get_state(self) -> dict[str, Any]:
        """Everything that the games in progress depend on, by name.

        `states`, `series` and `seats` are copies. `opponents` has the policies and agents that play
        these games, themselves, by their numbers in `seats`.

        Raises:
            ResetNeeded: no episodes are in progress.
        """
        self.guard.check_playing("get_state")
        states, series = self.save()
        playing = self.opponents.among(self.seats["opponent"].tolist())
        return {
            "states": states, "series": series, "seats": self.seats.copy(), "opponents": playing,
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Return to what `get_state` gave, here or in another duel with the same arguments.

        The games go on against their own opponents, which are part of the state; the next episodes
        are against those of this duel.

        Raises:
            OptionError: this is not the state of such a duel at the learner's turn, or it lacks an
                opponent; nothing has changed.
            ClosedEnvironmentError: `close` was called.
        """
        with Call(self.guard, "set_state", begins=True), self._undone():
            if not isinstance(state, Mapping) or state.keys() | {"opponents"} != _PARTS:
                raise OptionError(
                    f"state: must be a mapping with the keys {', '.join(sorted(_PARTS))}"
                )
            seats, others = state["seats"], state.get("opponents", {})
            fitting = self.fitting(state["states"], state["series"])
            self._check_seats(state["states"], seats, others)
            self.restore(fitting)
            self.seats[:] = seats
            self.opponents = copy(self.opponents)
            self.seats["opponent"] = self.opponents.adopted(seats["opponent"], others)
            self._refresh()
            self.guard.playing = True

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

    @contextmanager
    def _undone(self, wanted: bool = True) -> Iterator[None]:
        """Return to the games as they are now if what follows fails, and if this is wanted."""
        if not wanted:
            yield
            return
        written = (self.states, self.series, self.seats, self.legal)
        before = [(array, array.copy()) for array in written]
        replaced = {name: getattr(self, name) for name in _REPLACED}
        playing, begun = self.guard.playing, self.guard.begun
        try:
            yield
        except BaseException:
            self.workers.wait_idle()
            self.guard.playing = False
            for array, values in before:
                array[:] = values
            self.__dict__.update(replaced)
            self.guard.begun, self.guard.playing, self.guard.undone = begun, playing, True
            raise

    # ---- looking ----

    def _look(
        self, rows: np.ndarray, players: np.ndarray, legal: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Players' observations: planes `(n, C, rows, columns)` and masks `(n, A)`, int8.

        `legal`, `(n, W)`, receives the packed masks.
        """
        seen, count = self.game.observation, len(rows)
        if legal is None:
            legal = np.empty((count, self.words), np.uint64)
        planes = aligned((count, len(seen.planes) * seen.cells), np.int8)
        masks = aligned((count, self.num_actions), np.int8)

        def arguments() -> tuple[Any, ...]:
            room = np.empty(seen.packed_words, np.uint64)
            return rows, players, self.states, room, legal, masks, planes

        self.workers.run(self._look_at, count, arguments)
        return planes.reshape(count, len(seen.planes), *seen.shape), masks

    def _evaluate(self) -> np.ndarray:
        """The games' evaluations for the learner, `(n,)`."""
        return self._shaping.evaluations(self.states, self.seats["seat"].copy(), self.evaluations)

    def _refresh(self) -> None:
        """Update the learner's observations and the evaluations of all games."""
        if self._shaping:
            self.evaluations = self._evaluate()
        rows = np.arange(self.count)
        self.planes, self.masks = self._look(rows, self.seats["seat"].copy(), self.legal)

    # ---- moves ----

    def _respond(self, rows: np.ndarray) -> None:
        """Play the opponents' moves until the learner is to act or the game ends."""

        def arguments() -> tuple[Any, ...]:
            words = np.zeros(self.words, np.uint64)
            trial, ties = self.game.new_states(2), words.copy()
            return rows, self.states, self.series, self.seats, self._before, words, trial, ties

        self.workers.run(self._respond_all, len(rows), arguments)
        for code, other in self.opponents.others.items():
            mine = rows[self.seats["opponent"][rows] == code]
            while (mine := self._waiting(mine)).size:
                self._move(mine, self._ask(other, mine))

    def _waiting(self, rows: np.ndarray) -> np.ndarray:
        """The rows in which the opponent is to move."""
        running = self.states["over"][rows] == RUNNING
        theirs = self.states["to_move"][rows] != self.seats["seat"][rows]
        return rows[running & theirs]

    def _ask(self, other: Any, rows: np.ndarray) -> np.ndarray:
        """Ask a policy or agent for actions and validate them."""
        count, players = len(rows), self.states["to_move"][rows]
        legal = np.empty((count, self.words), np.uint64)
        planes, masks = self._look(rows, players, legal)
        actions = np.empty(count, np.int64)
        given = self._ask_agent(other, rows) if is_agent(other) else other(planes, masks)
        copy_actions(given, actions, "opponent's ")
        # by the packed masks, because a policy may have written into those that it was given
        over = np.zeros(count, np.bool_)
        bad = first_illegal(0, count, legal, actions, self.num_actions, over)
        if bad >= 0:
            row = int(rows[bad])
            raise illegal_row(self.position(row), row, int(actions[bad]), "opponent's ")
        return actions

    def _ask_agent(self, agent: Opponent, rows: np.ndarray) -> Sequence[int] | np.ndarray:
        """Ask an agent for actions, passing keys and positions with hidden information redrawn."""
        series = self.series[rows]
        keys = [int(random_word(s["key"], ASKED_DRAWS + int(s["ply"]))) for s in series]
        self.series["ply"][rows] += 1
        positions = [
            self.position(int(row)).resample_hidden(key)
            for row, key in zip(rows, keys, strict=True)
        ]
        return agent.act(positions, keys)

    def _move(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self._before[rows] = self.states["payoff"][rows]
        self.workers.run(self._move_all, len(rows), lambda: (rows, actions, self.states))
