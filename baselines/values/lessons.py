"""What expert iteration adds: values that a search finds, and questions that the solver answers.

A question is a position in which some moves keep what others give away.
"""

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
from azumaya.baselines.values.learning import (
    Choices,
    adam_kernel,
    add_kernel,
    joined,
    offsets_of,
    touch,
)
from azumaya.baselines.values.network import (
    F32,
    Shape,
    forward_kernel,
    value_kernel,
)
from azumaya.envs import Position
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import cells_of, word_count
from azumaya.envs.kernels.borrow import borrow
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


# ---- questions ----

TEMPERATURE, VALUE_SHARE = F32(0.5), F32(1)
"""How sharply a question prefers the right moves, and what the values after its moves count."""
SURE, LEAST = F32(0.99999), F32(1e-20)
"""The largest value that is told from a sure one, and the least chance of the right moves."""
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


# ---- learning from questions ----


class Moves(NamedTuple):
    """The moves of questions, as a kernel takes them.

    Attributes:
        firsts: where the moves of each question begin, and where the last ones end, `(Q + 1,)`.
        right: as in `Choices`.
        signs: 1 where the player who made the move is to move again, else -1, `(N,)` float32.
        scores: room for the moves of a question, float32.
    """

    firsts: np.ndarray
    right: np.ndarray
    signs: np.ndarray
    scores: np.ndarray

    @classmethod
    def of(cls, choices: Choices) -> Moves:
        """The moves of at least one question."""
        signs = np.where(choices.again, F32(1), F32(-1))
        scores = np.zeros(choices.moves.max(), np.float32)
        return cls(offsets_of(choices.moves), choices.right, signs, scores)


@functools.cache
def judge_kernel(shape: Shape) -> Any:
    """The kernel `judge(first, end, moves, examples, weights, hidden)`: the best-valued of moves.

    It writes the network's values after the moves from `first` to `end`, before the `tanh` and for
    the player who moves, to `moves.scores`. A position without features is over, and counts as its
    target.
    """
    forward = forward_kernel(shape)

    @kernel
    def judge(first, end, moves, examples, weights, hidden):
        best, scores = first, moves.scores
        for i in range(first, end):
            features = examples.features[examples.offsets[i] : examples.offsets[i + 1]]
            value = examples.targets[i]
            if features.shape[0] > 0:
                heuristic = examples.heuristic[i]
                value = forward(features, features.shape[0], heuristic, weights, hidden)
            scores[i - first] = moves.signs[i] * np.arctanh(min(max(value, -SURE), SURE))
            if scores[i - first] > scores[best - first]:
                best = i
        return best

    return judge


@kernel
def weigh(first, end, right, scores, highest):
    """Turn scores into chances, not normalised yet; returns the sums of all, and of right ones."""
    total, good = F32(0), F32(0)
    for i in range(first, end):
        scores[i - first] = np.exp((scores[i - first] - highest) / TEMPERATURE)
        total += scores[i - first]
        if right[i]:
            good += scores[i - first]
    return total, max(good, LEAST)


@functools.cache
def prefer_kernel(shape: Shape) -> Any:
    """The kernel that learns which moves are right, and returns how often the best-valued one was.

    The network's values after the moves, before the `tanh`, become probabilities by a softmax with
    a temperature of `TEMPERATURE`; what is to become less is the negative logarithm of the
    probability of the right moves together, and `VALUE_SHARE` of the squared error of the values.

    `prefer(order, batch, rate, moves, examples, learner)`: `order` are the questions, `moves` a
    `Moves` and `examples` the positions after the moves; the others are as for `learn_kernel`.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)
    judge = judge_kernel(shape)

    @kernel
    def pull(first, end, seen, sums, moves, examples, learner):
        total, good = sums
        hidden, signs, right = learner.hidden, moves.signs, moves.right
        for i in range(first, end):
            features = examples.features[examples.offsets[i] : examples.offsets[i + 1]]
            heuristic = examples.heuristic[i]
            if features.shape[0] == 0:
                continue
            seen = touch(features, learner.touched, learner.marks, seen)
            value = forward(features, features.shape[0], heuristic, learner.weights, hidden)
            chance = moves.scores[i - first]
            # half of the derivative, as in `learn`: Adam's steps have the same length
            slope = signs[i] * (chance / total - (chance / good if right[i] else F32(0)))
            slope *= F32(0.5) / TEMPERATURE
            off = (value - examples.targets[i]) * (F32(1) - value * value)
            slope += VALUE_SHARE / F32(end - first) * off
            add(features, heuristic, slope, learner.weights, learner.gradient, hidden)
        return seen

    @kernel
    def prefer(order, batch, rate, moves, examples, learner):
        learner, examples = borrow(learner), borrow(examples)
        hits = 0
        for at in range(0, order.shape[0], batch):
            until, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, until):
                first, end = moves.firsts[order[k]], moves.firsts[order[k] + 1]
                best = judge(first, end, moves, examples, learner.weights, learner.hidden)
                hits += moves.right[best]
                highest = moves.scores[best - first]
                sums = weigh(first, end, moves.right, moves.scores, highest)
                seen = pull(first, end, seen, sums, moves, examples, learner)
            step(until - at, seen, rate, learner)
        return hits / max(order.shape[0], 1)

    return prefer
