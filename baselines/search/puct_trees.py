"""The trees of PUCT searches, with and without AMAF."""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.baselines.search.amaf_kernels import AMAF_NODE, HISTORY, simulate_amaf_kernel
from azumaya.baselines.search.evaluation import Evaluation, own_evaluation, own_value_kernel
from azumaya.baselines.search.game_kernels import GameKernels
from azumaya.baselines.search.puct_hidden import simulate_hidden_kernel
from azumaya.baselines.search.puct_kernels import simulate_kernel
from azumaya.baselines.search.tree import PRIOR_NODE
from azumaya.baselines.search.uct import MEGABYTES, Tree
from azumaya.envs import OptionError, Position
from azumaya.envs.game import as_states

TEMPERATURE = 0.1

Settings = tuple[float, float, float, int]
"""Exploration, temperature, rollouts and delay of a search."""


def new_lists(kernels: GameKernels) -> tuple[np.ndarray, ...]:
    """Room for a row of words, and for the moves, values and scores of every action."""
    most = 64 * kernels.words
    words, moves = np.zeros(kernels.words, np.uint64), np.zeros(most, np.int64)
    return words, moves, np.zeros(most), np.zeros(most)


class PUCTTree(Tree):
    """A PUCT search and its memory, which can be reused for the next search.

    Args:
        kernels: the game's kernels.
        megabytes: memory for nodes.
        evaluation: the evaluation; None means the game's own.

    Raises:
        OptionError: the memory cannot hold the moves of one position.
    """

    layout = PRIOR_NODE

    def __init__(
        self,
        kernels: GameKernels,
        megabytes: float = MEGABYTES,
        evaluation: Evaluation | None = None,
    ) -> None:
        if evaluation is not None:
            evaluation.check(kernels.game)
        self.evaluation = evaluation
        super().__init__(kernels, megabytes)
        self._child = kernels.new_states(1)
        self._lists: tuple[Any, ...] = ()
        if kernels.hidden_draws:
            self._lists = new_lists(kernels)
        self._temperature, self._rollouts, self._delay = TEMPERATURE, 0.0, 0
        self._scratch = evaluation.new_scratch() if evaluation else np.zeros(0, np.uint64)
        self._weights = np.zeros(0, np.float32)

    def _made(self, kernels: GameKernels) -> Any:
        make = simulate_hidden_kernel if kernels.hidden_draws else simulate_kernel
        return make(kernels, self._value(kernels))

    def _value(self, kernels: GameKernels) -> Any:
        return self.evaluation.value if self.evaluation else own_value_kernel(kernels)

    def start(self, position: Position, key: int, settings: Settings) -> None:
        """Set up a search, without simulations yet."""
        self._weight, self._temperature, self._rollouts, self._delay = settings
        self._weights = (self.evaluation or own_evaluation(position)).weights
        self._restart(position, key)

    def _restart(self, position: Position, key: int) -> None:
        super()._restart(position, key)
        self.nodes["pending"][0], self._mean[0] = 0, 0.0

    def advance(self, steps: int) -> int:
        """Make up to `steps` more simulations; returns the number made."""
        done, steps = int(self._stats["simulations"][0]), min(steps, self.simulations_left)
        return int(
            self._simulate(
                done, done + steps, self._key, self._weight, self._temperature, self._rollouts,
                self._delay, self._root, self._trial, self._child, self._words, *self._lists,
                self.nodes, self._mean, self._reach, self._stats, self._path, self._weights,
                self._scratch,
            )
        )  # fmt: skip


def check_breadth(kernels: GameKernels, breadth: int) -> None:
    """Refuse a breadth above 0 in games with hidden draws."""
    if kernels.hidden_draws:
        raise OptionError(
            f"breadth={breadth}: {kernels.game.id} has hidden draws; there it must be 0"
        )


class AMAFTree(PUCTTree):
    """A PUCT search with AMAF and its memory, which can be reused for the next search.

    Args:
        kernels: the game's kernels.
        megabytes: memory for nodes.
        evaluation: the evaluation; None means the game's own.
        breadth: the moves of a node below the root that are evaluated at first.

    Raises:
        OptionError: the memory cannot hold the moves of one position, or the game has hidden draws.
    """

    layout = AMAF_NODE

    def __init__(
        self,
        kernels: GameKernels,
        megabytes: float = MEGABYTES,
        evaluation: Evaluation | None = None,
        breadth: int = 8,
    ) -> None:
        check_breadth(kernels, breadth)
        super().__init__(kernels, megabytes, evaluation)
        history = as_states(np.zeros((2, 64 * kernels.words), HISTORY))
        played = np.zeros((2, kernels.words), np.uint64)
        self._history = history
        self._lists = (breadth, played, history)

    def _made(self, kernels: GameKernels) -> Any:
        return simulate_amaf_kernel(kernels, self._value(kernels))

    def _restart(self, position: Position, key: int) -> None:
        super()._restart(position, key)
        self._history[:] = np.zeros(1, HISTORY)
