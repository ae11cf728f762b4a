"""Games in which a learner has one seat and built-in opponents have the other.

Moves, opponents' replies and observations; `duel` makes a learner's steps of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch.checks import check_count, copy_actions, illegal_row
from azumaya.envs.adapters.batch.kernels import (
    PLANES,
    SERIES,
    begin_kernel,
    first_illegal,
    look_kernel,
    move_kernel,
)
from azumaya.envs.adapters.batch.row_setups import RowSetups
from azumaya.envs.adapters.batch.workers import Workers
from azumaya.envs.adapters.duel.kernels import (
    ASKED_DRAWS,
    SEAT,
    respond_kernel,
    seat_kernel,
)
from azumaya.envs.adapters.duel.opponents import (
    MAX_EPISODES,
    NAMED,
    OTHERS,
    Opponent,
    Policy,
    check_seat,
    is_agent,
    limits_of,
    never_acts,
    weighted,
)
from azumaya.envs.game import RUNNING, Game, as_states
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.kernels.rng import random_word
from azumaya.envs.kernels.spread import aligned
from azumaya.envs.position import Position
from azumaya.envs.setup import Setup

Player = str | Policy | Opponent
Players = Sequence[tuple[Player, float]] | Mapping[Player, float]

SEATINGS = {"alternating": 2, "random": 3}
"""Kernel codes for changing seats; 0 and 1 are fixed seats."""


class SeatedGames:
    """Many games with a learner in one seat and opponents in the other.

    Args:
        game: the game.
        setup: its validated options.
        count: the number of games.
        opponent: the opponents, see `duel.Duel`.
        seat: the learner's seat: 0, 1, `"alternating"` (between episodes) or `"random"`.
        threads: the number of threads for compiled moves; None: one per core.

    Attributes:
        states: the states, `(n,)`.

    Raises:
        OptionError: an argument has an invalid value.
    """

    def __init__(
        self,
        game: Game,
        setup: Setup,
        count: int,
        *,
        opponent: Player | Players | None,
        seat: int | str,
        threads: int | None,
    ) -> None:
        self.game, self.setup, self.count = game, setup, check_count(count)
        self._seats = as_states(np.zeros(count, SEAT))
        self._others: dict[int, Policy | Opponent] = {}
        self._next_code = OTHERS
        self.set_opponent(opponent)
        seat = check_seat(seat)
        self._seating = SEATINGS[seat] if isinstance(seat, str) else seat
        self._workers = Workers(threads)
        self._mask_words = word_count(setup.num_actions)
        self._make_kernels()
        self.states = game.new_states(count)
        self._series = as_states(np.zeros(count, SERIES))
        self._setups = RowSetups(game, setup, count)

    def _make_kernels(self) -> None:
        game = self.game
        self._look_at = look_kernel(game, self._mask_words, PLANES)
        self._move_all, self._respond_all = move_kernel(game), respond_kernel(game)

    # ---- who plays ----

    def set_opponent(self, opponent: Any) -> None:
        """Change the opponent, starting with each game's next episode.

        Raises:
            OptionError: this is no opponent, see `duel.Duel`; nothing has changed.
        """
        pairs = weighted(opponent)
        self._others = self._others_in(self._seats)
        codes = [NAMED[p].code if isinstance(p, str) else self._add(p) for p, _ in pairs]
        self._limits, self._codes = limits_of(pairs), np.array(codes, np.int64)

    def _add(self, other: Policy | Opponent) -> int:
        """Give a policy or agent a code."""
        code, self._next_code = self._next_code, self._next_code + 1
        self._others[code] = other
        return code

    def _others_in(self, seats: np.ndarray) -> dict[int, Policy | Opponent]:
        """The policies and agents that play in games with these seats, by their codes."""
        used = set(seats["opponent"].tolist())
        return {code: each for code, each in self._others.items() if code in used}

    def _adopted(self, seats: np.ndarray, others: Mapping[int, Policy | Opponent]) -> np.ndarray:
        """Seats of saved games with the codes that the opponents there have here."""
        adopted = seats.copy()
        drawn = set(self._codes.tolist())
        self._others = {code: each for code, each in self._others.items() if code in drawn}
        for code, other in others.items():
            here = [known for known, each in self._others.items() if each is other]
            adopted["opponent"][seats["opponent"] == code] = here[0] if here else self._add(other)
        return adopted

    # ---- looking ----

    def position(self, row: int) -> Position:
        """The position of one game, as an independent object."""
        one = slice(row, row + 1)
        return self._setups.position(row, self.states[one], self._series[one])

    def look(self, rows: np.ndarray, players: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Players' observations: planes `(n, C, rows, columns)` and masks `(n, A)`, int8."""
        legal = np.empty((len(rows), self._mask_words), np.uint64)
        return self._look(rows, np.ascontiguousarray(players), legal)

    def _look(
        self, rows: np.ndarray, players: np.ndarray, legal: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        game, count = self.game, len(rows)
        size = len(game.observation.planes) * game.observation.cells
        planes = aligned((count, size), np.int8)
        masks = aligned((count, self.setup.num_actions), np.int8)

        def arguments() -> tuple[Any, ...]:
            seen = np.empty(game.observation.packed_words, np.uint64)
            return rows, players, self.states, seen, legal, masks, planes

        self._workers.run(self._look_at, count, arguments)
        shape = (count, len(game.observation.planes), *game.observation.shape)
        return planes.reshape(shape), masks

    # ---- moves ----

    def _begin(self, rows: np.ndarray) -> None:
        """Begin episodes, skipping any that end before the learner can act."""
        for _ in range(MAX_EPISODES):
            begin_kernel(self.game)(
                0, len(rows), rows, self.states, self._series, self.setup.starts
            )
            self._setups.begin(rows, self.setup, self._series["episode"])
            seat_kernel()(
                0, len(rows), rows, self._series, self._seats, self._seating, self._limits,
                self._codes,
            )  # fmt: skip
            self._seats["paid"][rows] = self.states["payoff"][rows]
            self._respond(rows)
            rows = rows[self.states["over"][rows] != RUNNING]
            if not rows.size:
                return
            self._series["episode"][rows] += 1
        raise never_acts()

    def _respond(self, rows: np.ndarray) -> None:
        """Play the opponents' moves until the learner is to act or the game ends."""

        def arguments() -> tuple[Any, ...]:
            words = np.zeros(self._mask_words, np.uint64)
            trial, ties = self.game.new_states(2), words.copy()
            return rows, self.states, self._series, self._seats, words, trial, ties

        self._workers.run(self._respond_all, len(rows), arguments)
        for code, other in self._others.items():
            mine = rows[self._seats["opponent"][rows] == code]
            while (mine := self._waiting(mine)).size:
                self._move(mine, self._ask(other, mine))

    def _waiting(self, rows: np.ndarray) -> np.ndarray:
        """The rows in which the opponent is to move."""
        running = self.states["over"][rows] == RUNNING
        theirs = self.states["to_move"][rows] != self._seats["seat"][rows]
        return rows[running & theirs]

    def _ask(self, other: Any, rows: np.ndarray) -> np.ndarray:
        """Ask a policy or agent for actions and validate them."""
        count, players = len(rows), self.states["to_move"][rows]
        legal = np.empty((count, self._mask_words), np.uint64)
        planes, masks = self._look(rows, players, legal)
        actions = np.empty(count, np.int64)
        given = self._ask_agent(other, rows) if is_agent(other) else other(planes, masks)
        copy_actions(given, actions, "opponent's ")
        # by the packed masks, because a policy may have written into those that it was given
        over = np.zeros(count, np.bool_)
        bad = first_illegal(0, count, legal, actions, self.setup.num_actions, over)
        if bad >= 0:
            row = int(rows[bad])
            raise illegal_row(self.position(row), row, int(actions[bad]), "opponent's ")
        return actions

    def _ask_agent(self, agent: Opponent, rows: np.ndarray) -> list[int]:
        """Ask an agent for actions, passing keys and positions with hidden information redrawn."""
        series = self._series[rows]
        keys = [int(random_word(s["key"], ASKED_DRAWS + int(s["ply"]))) for s in series]
        self._series["ply"][rows] += 1
        positions = [
            self.position(int(row)).resample_hidden(key)
            for row, key in zip(rows, keys, strict=True)
        ]
        return agent.act(positions, keys)

    def _move(self, rows: np.ndarray, actions: np.ndarray) -> None:
        self._workers.run(self._move_all, len(rows), lambda: (rows, actions, self.states))
