"""Reward shaping: extra rewards for improving the game's own evaluation.

Under random play, some games rarely reach a decisive end, so a learner rewarded only at the end
gets no signal: nearly every random game of Abalone is truncated without a winner. The evaluation
used for one-step lookahead, `game.rules.evaluate`, shows progress much earlier.
"""

from __future__ import annotations

import functools
from numbers import Real
from typing import Any

import numpy as np

from azumaya.envs.adapters.batch.batch import Batch
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import TERMINATED, Game
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.setup import Setup

SAMPLE_GAMES, SAMPLE_ROUNDS, SAMPLE_PLIES = 64, 32, 5
"""Sample for the evaluation's spread: games, samples per game, and plies between samples."""

MAX_WEIGHT = 1_000_000


@functools.cache
def _evaluation_kernel(game: Game) -> Any:
    evaluate = game.rules.evaluate

    @kernel
    def evaluate_all(states, players, out):
        """Evaluate each running or truncated game for a player; leave the others unchanged."""
        for i in range(states.shape[0]):
            if states[i].over != TERMINATED:
                out[i] = evaluate(states[i], players[i])

    return evaluate_all


class Shaping:
    """Rewards changes in `game.rules.evaluate` over a learner's move and the replies.

    The unit is the root mean square of the evaluation over random play, so that weights are
    comparable across games. A step that ends a game by its rules gets no shaping reward, because
    the rules already reward it.

    Args:
        game: the game.
        setup: its validated options.
        weight: the reward for a gain of one unit, from 0 to a million.

    Raises:
        OptionError: the weight is not a number in this range.
    """

    def __init__(self, game: Game, setup: Setup, weight: float) -> None:
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= MAX_WEIGHT:
            raise OptionError(
                f"shaping={brief(weight)}: a number from 0 to {MAX_WEIGHT:,} is needed"
            )
        self._game, self._evaluate = game, _evaluation_kernel(game)
        self._factor = float(weight) / _spread(game, setup) if weight else 0.0

    def __getstate__(self) -> tuple[Game, float]:
        """The data from which the rest, including kernels, is rebuilt."""
        return self._game, self._factor

    def __setstate__(self, saved: tuple[Game, float]) -> None:
        self._game, self._factor = saved
        self._evaluate = _evaluation_kernel(self._game)

    def __bool__(self) -> bool:
        return self._factor > 0

    def evaluations(
        self, states: np.ndarray, players: np.ndarray, before: np.ndarray
    ) -> np.ndarray:
        """Evaluations for one player per game, `(n,)` int64; `before` for terminated games."""
        found = before.copy()
        self._evaluate(states, players, found)
        return found

    def gains(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """The rewards for a change in evaluation, `(n,)` float32."""
        return ((after - before) * self._factor).astype(np.float32)


def _spread(game: Game, setup: Setup) -> float:
    """The root mean square of the evaluation over random play from fixed keys, at least 1."""
    games = Batch(game, setup, SAMPLE_GAMES, form="none", threads=1)
    games.begin(0)
    players, total = np.zeros(SAMPLE_GAMES, np.int64), 0.0
    found = np.zeros(SAMPLE_GAMES, np.int64)
    for _ in range(SAMPLE_ROUNDS):
        games.rollout(SAMPLE_PLIES)
        _evaluation_kernel(game)(games.states, players, found)
        total += float((found.astype(np.float64) ** 2).mean())
    return max(1.0, float(np.sqrt(total / SAMPLE_ROUNDS)))
