"""A best response: a value network that learns to win against one fixed agent.

The agent plays one seat, the response the other: the move after which it values the position most,
and now and then a random one. From the games it learns TD(lambda) returns, as
`azumaya.baselines.training.value` does from those of a network against itself. Only positions after
the response's own moves are learned, as it looks at no others, so that what the agent does there is
a part of the game to it. Its values are what can be won from this agent, not from a perfect one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.agents.asking import name_of
from azumaya.baselines.agents.base import GameStates
from azumaya.baselines.arena.kernels import play_kernel
from azumaya.baselines.arena.rounds import Rounds, StartSet, both_seats
from azumaya.baselines.values.champion import CHAMPION, value_to_begin_with
from azumaya.baselines.values.learning import (
    Examples,
    Learner,
    joined,
    learn_kernel,
    update_average,
    viewed,
)
from azumaya.baselines.values.network import F32
from azumaya.baselines.values.self_play import look_back
from azumaya.baselines.values.value import Value, ValueAgent, untrained
from azumaya.envs import OptionError
from azumaya.envs.adapters.duel.opponents import Opponent
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.bits import word_count

RESPONSE = "response"
"""The name of a best response."""
UNTRAINED = "untrained"
"""The `start` of a response that begins with small random weights."""
STARTS = 32
"""Starts played in both seats between two updates."""
WIDTH, BATCH, EXPLORE = 16, 64, 0.05
DECAY, AVERAGING = F32(0.8), 0.98
"""Hyperparameters, as `azumaya.baselines.training.value` explains them."""


class Plies(NamedTuple):
    """Moves of a response.

    Attributes:
        after: the positions after them, `(n,)` states.
        values: the values of the best moves for the response, as fractions of the largest payoff,
            `(n,)` float32.
        random: whether a random move was made instead, `(n,)` bool.
    """

    after: np.ndarray
    values: np.ndarray
    random: np.ndarray


class Explorer(ValueAgent):
    """Plays a value's best moves, and random ones with probability `EXPLORE`.

    Attributes:
        last: the moves of the last call.
    """

    last: Plies

    def __init__(self, value: Value, seed: int) -> None:
        super().__init__(value, RESPONSE)
        self._random, self._draws = RandomAgent(), np.random.default_rng(seed)

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """A move in each position."""
        best, values = self.best_moves(positions, keys)
        random = self._draws.random(len(keys)) < EXPLORE
        actions = np.where(random, self._random.act_states(positions, keys), best)
        after, rows = positions.states.copy(), np.arange(len(keys))
        words = np.zeros(word_count(positions.num_actions), np.uint64)
        play_kernel(positions.game)(after, rows, actions, words, positions.num_actions)
        self.last = Plies(after, values, random)
        return actions


class BestResponse:
    """Learns to win against an agent.

    Args:
        opponent: the agent, which stays as it is; None for its own agent, which learns with it.
        starts: where the games start.
        value: the value to begin with.
        seed: the seed of explored moves and of the order of learning.

    Attributes:
        opponent: the agent of the next update.
        agent: plays with an average of the weights of the last updates.
        games: the games that it has learned from.
    """

    def __init__(
        self, opponent: Opponent | None, starts: StartSet, value: Value, seed: int
    ) -> None:
        self._starts, self._seed = starts, seed
        self._value = replace(value, weights=value.weights.copy())
        self._learner = Learner.new(value.shape, self._value.weights)
        self._explorer = Explorer(self._value, seed)
        self._average = replace(value, weights=value.weights.copy())
        self.agent = ValueAgent(self._average, RESPONSE)
        self.opponent: Opponent = opponent or self.agent
        self.games = 0

    def update(self, rate: float) -> None:
        """Play games from the next `STARTS` starts in both seats, and learn from them once."""
        games = both_seats(self._starts, STARTS, self.games // 2)
        rows, plies = self._play(games)
        value, learner = self._value, self._learner
        results = games.gains() / value.weights[value.shape.bound]
        targets = returns(rows, plies, results)
        again = plies.after["to_move"] == games.first_seats[rows]
        running = plies.after["over"] == RUNNING
        seen = viewed(
            value.game, value.shape, plies.after[running],
            np.where(again, targets, -targets)[running], value.weights,
        )  # fmt: skip
        order = np.random.default_rng((self._seed, self.games)).permutation(len(seen.targets))
        learn_kernel(value.shape)(order, BATCH, rate, Examples.of(seen), learner)
        self.games += 2 * STARTS
        updates = self.games // (2 * STARTS)
        update_average(self._average.weights, learner, value.shape, updates, AVERAGING)

    def _play(self, games: Rounds) -> tuple[np.ndarray, Plies]:
        """Play games; returns the game of each of the response's moves, in order, and the moves."""
        players = self._explorer, self.opponent
        names, rows, plies = (RESPONSE, name_of(self.opponent)), [], []
        while len(games.running):
            movers = games.states["to_move"][games.running]
            mine = games.running[movers == games.first_seats[games.running]]
            games.play_round(players, names)
            if len(mine):
                rows.append(mine)
                plies.append(self._explorer.last)
        played = np.concatenate(rows)
        order = np.argsort(played, kind="stable")  # game by game, the moves of each in their order
        return played[order], Plies(*(each[order] for each in joined(plies)))


def returns(rows: np.ndarray, plies: Plies, results: np.ndarray) -> np.ndarray:
    """The TD(lambda) returns for the response after each of its moves, `(n,)` float32.

    They are cut off at the random moves that follow.

    Args:
        rows: the game of each move, game by game, `(n,)`.
        plies: the moves.
        results: what the response gains in each game as a fraction of the largest payoff, `(G,)`.
    """
    targets, notes = np.zeros(len(rows), np.float32), np.zeros((len(rows), 3), np.float32)
    notes[:, 0] = 1
    notes[:-1, 1], notes[:-1, 2] = plies.values[1:], plies.random[1:]  # those of the next move
    ends = np.append(np.flatnonzero(np.diff(rows)) + 1, len(rows))
    notes[ends - 1, 1:] = 0
    first = 0
    for end in ends:
        result = F32(results[rows[first]])
        look_back(notes[first:end], end - first, result, DECAY, targets[first:end])
        first = end
    return targets


def first_value(game: Game, options: Mapping[str, Any], seed: int, start: str) -> tuple[str, Value]:
    """What a response begins with, and its value; arguments and errors as for `exploit`."""
    if start == UNTRAINED:
        return start, untrained(game, WIDTH, seed, options)
    name = start or CHAMPION
    try:
        return name, value_to_begin_with(name, game, options)
    except OptionError:
        if start:
            raise
    return first_value(game, options, seed, UNTRAINED)  # there is no champion for these payoffs
