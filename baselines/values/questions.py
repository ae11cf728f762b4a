"""Questions: positions in which some moves keep what others give away, with exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azumaya.baselines.search.game_kernels import kernels_of, payoff_bound
from azumaya.baselines.search.solver import SolverRooms
from azumaya.baselines.values.examples import Joinable
from azumaya.envs import Position
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import cells_of, word_count

MEGABYTES = 4
"""Memory for the solver's table; it fits in a core's cache."""


@dataclass(frozen=True)
class Questions(Joinable):
    """`Q` questions with `N` moves, one after another.

    Attributes:
        counts: how many moves each has, `(Q,)` int64.
        states: the positions after the moves, `(N,)` states.
        values: what these are worth to player_0 with best play, `(N,)` float32, as fractions of the
            largest payoff.
        right: whether no other move is better, `(N,)` bool.
        again: whether the player who made the move is to move again, `(N,)` bool.
    """

    counts: np.ndarray
    states: np.ndarray
    values: np.ndarray
    right: np.ndarray
    again: np.ndarray

    @classmethod
    def none(cls, game: Game) -> Questions:
        """No questions."""
        flags = np.zeros(0, np.bool_)
        states = game.new_states(0)
        return cls(np.zeros(0, np.int64), states, np.zeros(0, np.float32), flags, flags)

    @property
    def targets(self) -> np.ndarray:
        """The values for the players to move after the moves, `(N,)` float32."""
        return np.where(self.states["to_move"] == 0, self.values, -self.values)

    @property
    def running(self) -> np.ndarray:
        """The indices of the positions that are not over."""
        return np.flatnonzero(self.states["over"] == RUNNING)


class Examiner:
    """Solves the ends of games and finds the questions in them.

    Args:
        start: a position of the game with the options to be played.
        nodes: positions that the solver visits at most for a position, and as many for each of its
            moves on average.

    Raises:
        HiddenDrawsError: the game has hidden draws.
    """

    def __init__(self, start: Position, nodes: int) -> None:
        self._game, self._nodes = start.game, nodes
        self._bound = payoff_bound(start)
        self._words = np.zeros(word_count(start.num_actions), np.uint64)
        self._room = SolverRooms(kernels_of(start), MEGABYTES).suited(start)

    def ask(self, path: Sequence[np.ndarray], key: int) -> Questions:
        """The questions of a game, from its last position backwards until one cannot be solved.

        Args:
            path: its running positions, each `(1,)`.
            key: breaks ties in the searches.
        """
        self._room.forget(key)
        found = [Questions.none(self._game)]
        for state in reversed(path):
            actions = self._legal(state)
            sign = 1 - 2 * int(state["to_move"][0])
            value = self._solve(state, self._nodes)
            if value is None:
                break
            if sign * value > -self._bound and len(actions) > 1:  # otherwise every move loses
                question = self._question(state, actions, sign)
                if question is not None:
                    found.append(question)
        return Questions.joined(found)

    def _legal(self, state: np.ndarray) -> list[int]:
        """The legal actions in a position."""
        self._words[:] = 0
        self._game.rules.write_legal(state[0], self._words)
        return cells_of(self._words)

    def _solve(self, state: np.ndarray, nodes: int) -> int | None:
        """The final payoff of player_0 with best play; None if that takes too long."""
        room = self._room
        room.prove(state, self._bound)
        room.go_on(room.nodes + nodes)
        return room.proven()[0] if room.done else None

    def _question(self, state: np.ndarray, actions: list[int], sign: int) -> Questions | None:
        """The question of a position; None if its moves are not solved or equally good."""
        after, values = self._game.new_states(len(actions)), np.zeros(len(actions), np.float32)
        until = self._room.nodes + self._nodes * len(actions)
        for i, action in enumerate(actions):
            after[i] = state[0]
            self._game.rules.play(after[i], action)
            if after["over"][i] != RUNNING:
                values[i] = after["payoff"][i] / self._bound
                continue
            value = self._solve(after[i : i + 1], until - self._room.nodes)
            if value is None:
                return None
            values[i] = value / self._bound
        right = sign * values == (sign * values).max()
        if right.all():
            return None
        again = after["to_move"] == state["to_move"][0]
        return Questions(np.array([len(actions)]), after, values, right, again)
