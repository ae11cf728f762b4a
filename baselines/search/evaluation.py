"""Evaluations of positions, compiled, so that search can call them at full speed."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import is_jitted

from azumaya.baselines.search.choice import choose_kernel
from azumaya.baselines.search.game_kernels import (
    GameKernels,
    kernels_of,
    legal_kernel,
    payoff_bound,
)
from azumaya.baselines.search.table import UNIT
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_position
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import RUNNING, Game
from azumaya.envs.kernels.compile import INTERPRETED, kernel
from azumaya.envs.position import episode_key
from azumaya.envs.setup import POSITION, Setup, prepare
from azumaya.envs.whole import as_whole

GAMES, MOST_PLIES = 64, 1024
"""The random games from which the scale of a game's own evaluation is found."""
ORDER_UNIT = 1 << 20
"""The score of a point of payoff in alpha-beta's move ordering, which shifts scores to the left."""
SCALES = tuple(2.0**k for k in range(-3, 4))
"""The scales tried, as multiples of the average size of the game's own evaluation."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluation of positions, as a kernel and its weights.

    Attributes:
        value: kernel `value(state, weights, scratch)`: the expected final payoff of player_0 (the
            sum of the rewards so far and to come), for a running position. It must not change
            `state` or `weights`.
        weights: `(n,)` float32, in one piece of writable memory. They are passed at each call, so
            they may be changed between searches without compiling anything anew.
        scratch_words: the length of `scratch`, a uint64 array that the kernel may write to; each
            thread has its own.
        name: the evaluation's name, shown in the names of agents.
        game: the only game whose positions it can evaluate; None means any.

    Raises:
        OptionError: an attribute is not of its type.
    """

    value: Any
    weights: np.ndarray
    scratch_words: int = 0
    name: str = "evaluation"
    game: Game | None = None

    def __post_init__(self) -> None:
        if not (callable(self.value) if INTERPRETED else is_jitted(self.value)):
            raise OptionError(
                f"value={brief(self.value)}: a kernel is needed, a function that "
                "azumaya.envs.kernels.compile.kernel has compiled"
            )
        weights = self.weights
        if (
            not isinstance(weights, np.ndarray)
            or weights.dtype != np.float32
            or weights.ndim != 1
            or not weights.flags.carray
        ):
            raise OptionError(
                f"weights={brief(weights)}: a writable, contiguous array (n,) of float32 is needed"
            )
        words = as_whole(self.scratch_words)
        if words is None or words < 0:
            raise OptionError(
                f"scratch_words={brief(self.scratch_words)}: a whole number from 0 is needed"
            )
        if self.game is not None and not isinstance(self.game, Game):
            raise OptionError(f"game={brief(self.game)}: a Game or None is needed, see find_game")

    def check(self, game: Game) -> None:
        """Raise `OptionError` if it cannot evaluate the positions of a game."""
        if self.game is not None and self.game is not game:
            raise OptionError(
                f"evaluation {self.name}: is of {self.game.id} and cannot evaluate {game.id}"
            )

    def new_scratch(self) -> np.ndarray:
        """Scratch space for one thread."""
        return np.zeros(self.scratch_words, np.uint64)


def check_evaluation(evaluation: Any) -> Evaluation | None:
    """An evaluation or None; `OptionError` for anything else."""
    if evaluation is not None and not isinstance(evaluation, Evaluation):
        raise OptionError(f"evaluation={brief(evaluation)}: an Evaluation or None is needed")
    return evaluation


def own_evaluation(position: Position) -> Evaluation:
    """The game's own `evaluate` as an expected payoff: `payoff + stake * x / (|x| + scale)`.

    Stake and scale are fitted to the results of random games with the position's options. They do
    not depend on the position itself, nor on options that name files.

    Raises:
        OptionError: it is not a position.
    """
    check_position(position)
    game = position.game
    left_out = {POSITION, *(option.name for option in game.options if option.reads_files)}
    # lists as tuples: only hashable options are prepared once, and their evaluation fitted once
    given = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in position.options.items()
        if name not in left_out
    }
    try:
        setup = prepare(game, given)
    except ValueError:  # these options allow only the start that the position's text gave
        lasting = {name: value for name, value in given.items() if name in position.setup.lasting}
        setup = prepare(game, lasting)
    return _fitted(kernels_of(position), setup, payoff_bound(position))


@functools.lru_cache(maxsize=64)
def _fitted(kernels: GameKernels, setup: Setup, bound: int) -> Evaluation:
    left, scores = random_games(kernels, setup)
    usual, best = max(float(np.abs(scores).mean()), 1.0), (np.inf, 0.0, 1.0)
    for factor in SCALES:
        shape = scores / (np.abs(scores) + factor * usual)
        stake = float(left @ shape) / max(float(shape @ shape), 1e-9)
        stake = min(max(stake, 0.0), float(bound))
        error = float(np.square(left - stake * shape).sum())
        best = min(best, (error, stake, factor * usual))
    # Rounded, so that sums which differ in the last bit give the same weights everywhere.
    found = [float(f"{number:.3g}") for number in best[1:]]
    return Evaluation(own_value_kernel(kernels), np.array(found, np.float32), 0, "own")


def random_games(kernels: GameKernels, setup: Setup) -> tuple[np.ndarray, np.ndarray]:
    """What player_0 gained from each position of some random games on, and its evaluation.

    Returns:
        Two arrays `(n,)` float64, over the positions of all games.
    """
    states = kernels.game.new_states(1)
    words, scores = np.zeros(kernels.words, np.uint64), np.zeros((2, MOST_PLIES))
    left, found = [], []
    play_out = score_kernel(kernels)
    for seed in range(GAMES):
        key = episode_key(seed, 0, 0)
        kernels.game.rules.reset(states, 0, setup.starts, key)
        plies = play_out(states, words, key, scores)
        left.append(float(states["payoff"][0]) - scores[1, :plies])
        found.append(scores[0, :plies].copy())
    return np.concatenate(left), np.concatenate(found)


@functools.cache
def score_kernel(kernels: GameKernels) -> Any:
    """The kernel `score(trial, words, key, scores)`: play randomly, and evaluate each position.

    It writes evaluations and payoffs so far to `scores`, `(2, n)`. It plays at most `n` moves and
    returns their number.
    """
    play, legal, choose = kernels.rules.play, legal_kernel(kernels), choose_kernel(kernels.words)
    evaluate = kernels.rules.evaluate

    @kernel
    def score(trial, words, key, scores):
        plies = 0
        while trial[0].over == RUNNING and plies < scores.shape[1]:
            scores[0, plies] = evaluate(trial[0], 0)
            scores[1, plies] = trial[0].payoff
            legal(trial[0], words)
            play(trial[0], choose(words, key, plies))
            plies += 1
        return plies

    return score


@functools.cache
def own_value_kernel(kernels: GameKernels) -> Any:
    """The kernel `value` of `own_evaluation`; its weights are the stake and the scale."""
    evaluate = kernels.rules.evaluate

    @kernel
    def value(state, weights, scratch):
        score = np.float64(evaluate(state, 0))
        return state.payoff + weights[0] * score / (abs(score) + weights[1])

    return value


@kernel
def within(value, bound):
    """A value limited to the payoff bound; NaN counts as the lowest."""
    if not value >= -bound:
        return np.float64(-bound)
    return min(np.float64(value), np.float64(bound))


@functools.cache
def horizon_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel `estimate(state, bound, weights, scratch)`: the value of a position not searched.

    `value` is the kernel of an `Evaluation`; None stands for the game's `evaluate`. The result is
    below the payoff bound, so that a proven win is worth more than a hoped-for one.
    """
    evaluate = kernels.rules.evaluate

    @kernel
    def estimate(state, bound, weights, scratch):
        if value is None:
            return UNIT * np.int64(state.payoff) + np.int64(evaluate(state, 0))
        most = UNIT * bound - 1
        found = within(value(state, weights, scratch), bound)
        return min(max(np.int64(found * UNIT), -most), most)

    return estimate


@functools.cache
def order_kernel(kernels: GameKernels, value: Any) -> Any:
    """The kernel `order(state, sign, bound, weights, scratch)`: a score for move ordering.

    It is the evaluation for the player with this sign. `value` is as for `horizon_kernel`.
    """
    evaluate = kernels.rules.evaluate

    @kernel
    def order(state, sign, bound, weights, scratch):
        if value is None:
            return np.int64(evaluate(state, 0 if sign > 0 else 1))
        found = within(value(state, weights, scratch), bound)
        return sign * np.int64(found * ORDER_UNIT)

    return order
