"""What the games of expert iteration are made of: searching, moving, and what is learned from."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.search.alphabeta_kernels import begin, search_kernel, waits
from azumaya.baselines.search.children import DONE, PLIES
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    kernels_of,
    payoff_bound,
)
from azumaya.baselines.search.solver import SolverRooms
from azumaya.baselines.search.table import INFINITE, NO_MOVE, UNIT
from azumaya.baselines.values.examples import Viewed, joined, row_type
from azumaya.baselines.values.network import (
    F32,
    Shape,
    features_of,
    scratch_words,
    value_kernel,
    view_kernel,
)
from azumaya.envs import Position
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import cells_of, word_count
from azumaya.envs.kernels.compile import kernel


@functools.cache
def study_kernel(kernels: GameKernels, shape: Shape) -> Any:
    """The kernel that searches a position by alpha-beta with the network at the horizon.

    `study(root, nodes, bound, memory)`: it searches deeper and deeper, completes at least one ply,
    and ends after about `nodes` positions. `root` is `(1,)`, and `memory` is that of a `Room`,
    whose table is used as it is.

    Returns the best move, its value for player_0 as a fraction of the largest payoff, and whether
    that is proven.
    """
    run = search_kernel(kernels, value_kernel(kernels.game, shape))

    @kernel
    def study(root, nodes, bound, memory):
        frames, control = memory.frames, memory.control
        limit = control[0].nodes + nodes
        best, score, proven, depth = np.int64(NO_MOVE), np.int64(0), False, 0
        while not proven and depth < PLIES and (depth == 0 or control[0].nodes < limit):
            depth += 1
            begin(memory, root, bound, depth)
            run(np.int64(INFINITE) if depth == 1 else limit, memory)
            move, ended = np.int64(frames[0].move), control[0].phase == DONE
            if ended:
                proven = frames[0].proven != 0
            if ended or (move != NO_MOVE and not waits(memory, best)):
                best, score = move, np.int64(frames[0].best)
        sign = 1 - 2 * np.int64(root[0].to_move)
        return best, F32(sign * score / (UNIT * bound)), proven

    return study


@functools.cache
def view_all_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that turns positions into what a network sees of them.

    `view_all(states, weights, scratch, found, offsets, begun)`: `states` are `(n,)`, and `found` is
    `(n * room,)` int32; it, `offsets` and `begun` are written as `Rows` has them.
    """
    view = view_kernel(game, shape)

    @kernel
    def view_all(states, weights, scratch, found, offsets, begun):
        for i in range(states.shape[0]):
            at = offsets[i]
            size, begun[i] = view(states[i], weights, scratch, found[at:])
            offsets[i + 1] = at + size
        return 0

    return view_all


def viewed(
    game: Game, shape: Shape, states: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Viewed:
    """Running positions, `(n,)` states, as a network sees them, with what it should say of them.

    Args:
        game: their game.
        shape: the network's sizes.
        states: the positions.
        targets: what their values should be for the players to move, `(n,)` float32.
        weights: the network's parameters, of which only the scale counts.
    """
    n, room = len(states), features_of(game, shape.plain).room
    found, offsets = np.zeros(n * room, np.int32), np.zeros(n + 1, np.int64)
    begun, scratch = np.zeros(n, np.float32), np.zeros(scratch_words(game, shape), np.uint64)
    view_all_kernel(game, shape)(states, weights, scratch, found, offsets, begun)
    kept = found[: offsets[n]].astype(row_type(shape))
    return Viewed(np.diff(offsets), begun, targets, kept)


# ---- questions: positions in which some moves keep what others give away ----

MEGABYTES = 4
"""Memory for the solver's table; it fits in a core's cache."""


class Questions(NamedTuple):
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
        return joined(found)

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
