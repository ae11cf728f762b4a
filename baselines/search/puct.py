"""PUCT: tree search guided by a compiled evaluation, on one position or many."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.search.budget import Budget, Rooms, share, spend
from azumaya.baselines.search.evaluation import (
    Evaluation,
    check_evaluation,
    own_evaluation,
    own_value_kernel,
)
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.search.puct_kernels import simulate_hidden_kernel, simulate_kernel
from azumaya.baselines.search.tree import PRIOR_NODE
from azumaya.baselines.search.uct import MEGABYTES, Outcome, Tree, check_running
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.errors import OptionError, brief

EXPLORATION = 1.0
TEMPERATURE = 0.1


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
        self.evaluation = evaluation
        super().__init__(kernels, megabytes)
        self._child = kernels.new_states(1)
        self._extra: tuple[np.ndarray, ...] = ()
        if kernels.hidden_draws:
            most = 64 * kernels.words
            self._extra = np.zeros_like(self._words), np.zeros(most, np.int64), np.zeros(most)
        self._temperature, self._rollouts = TEMPERATURE, 0.0
        self._scratch = np.zeros(evaluation.scratch_words if evaluation else 0, np.uint64)
        self._weights = np.zeros(0, np.float32)

    def _made(self, kernels: GameKernels) -> Any:
        given = self.evaluation
        value = own_value_kernel(kernels) if given is None else given.value
        make = simulate_hidden_kernel if kernels.hidden_draws else simulate_kernel
        return make(kernels, value)

    def start(
        self, position: Position, key: int, weight: float, temperature: float, rollouts: float
    ) -> None:
        """Set up a search, without simulations yet."""
        self._weight, self._temperature = float(weight), float(temperature)
        self._rollouts = float(rollouts)
        self._weights = (self.evaluation or own_evaluation(position)).weights
        self._restart(position, key)
        self.nodes["pending"][0], self._mean[0] = 0, 0.0

    def advance(self, steps: int) -> int:
        """Make up to `steps` more simulations; returns the number made."""
        done = int(self._stats["simulations"][0])
        return int(
            self._simulate(
                done, done + steps, self._key, self._weight, self._temperature,
                self._rollouts, self._root, self._trial, self._child, self._words, *self._extra, self.nodes, self._mean, self._reach,
                self._stats, self._path, self._weights, self._scratch,
            )
        )  # fmt: skip


class PUCT:
    """PUCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        evaluation: the evaluation of positions; None means the game's own.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far.
        temperature: how much the priors are spread over the moves, for results from -1 to 1;
            scaled in the same way.
        megabytes: memory for the nodes of each thread.
        threads: positions searched in parallel; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        budget: Budget,
        evaluation: Evaluation | None = None,
        *,
        exploration: float = EXPLORATION,
        temperature: float = TEMPERATURE,
        rollouts: float = 0.0,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        if not 0 <= exploration < math.inf:
            raise OptionError(f"exploration={brief(exploration)}: a number from 0 is needed")
        if not 0 < temperature < math.inf:
            raise OptionError(f"temperature={brief(temperature)}: a number above 0 is needed")
        self.budget, self.exploration, self.temperature = budget, exploration, temperature
        self.rollouts = rollouts
        self.evaluation = check_evaluation(evaluation)
        self.megabytes, self.threads = megabytes, check_threads(threads)
        make = functools.partial(PUCTTree, megabytes=megabytes, evaluation=evaluation)
        self.rooms = Rooms(make, self.threads)

    def search(
        self, positions: Sequence[Position], keys: Sequence[int], *, lines: bool = True
    ) -> list[Outcome]:
        if not positions:
            return []
        check_running(positions)

        def work(i: int, room: PUCTTree, stopped: Callable[[], bool]) -> Outcome:
            room.start(
                positions[i], int(keys[i]), self.exploration, self.temperature, self.rollouts
            )
            spend(room, self.budget, stopped)
            return room.outcome(lines)

        return share(
            work, len(positions), self.rooms.take(kernels_of(positions[0]), len(positions))
        )
