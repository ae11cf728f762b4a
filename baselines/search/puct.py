"""PUCT: tree search guided by a compiled evaluation, on one position or many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azumaya.baselines.search.budget import Budget, Rooms, share, spend
from azumaya.baselines.search.evaluation import (
    Evaluation,
    check_evaluation,
    check_number,
    own_evaluation,
    own_value_kernel,
)
from azumaya.baselines.search.game_kernels import GameKernels, kernels_of
from azumaya.baselines.search.outcome import Outcome
from azumaya.baselines.search.puct_hidden import simulate_hidden_kernel
from azumaya.baselines.search.puct_kernels import simulate_kernel
from azumaya.baselines.search.tree import PRIOR_NODE
from azumaya.baselines.search.uct import MEGABYTES, Tree, check_running
from azumaya.envs import Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.whole import whole_number

EXPLORATION, TEMPERATURE = 2.0, 0.1
ROLLOUTS = 0.5
"""The share of random rollouts with the game's own evaluation."""
DELAY = 8
"""The visits before a node is expanded, with rollouts."""

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
        self._lists: tuple[np.ndarray, ...] = ()
        if kernels.hidden_draws:
            self._lists = new_lists(kernels)
        self._temperature, self._rollouts, self._delay = TEMPERATURE, 0.0, 0
        self._scratch = np.zeros(evaluation.scratch_words if evaluation else 0, np.uint64)
        self._weights = np.zeros(0, np.float32)

    def _made(self, kernels: GameKernels) -> Any:
        given = self.evaluation
        value = own_value_kernel(kernels) if given is None else given.value
        make = simulate_hidden_kernel if kernels.hidden_draws else simulate_kernel
        return make(kernels, value)

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
        done = int(self._stats["simulations"][0])
        return int(
            self._simulate(
                done, done + steps, self._key, self._weight, self._temperature, self._rollouts,
                self._delay, self._root, self._trial, self._child, self._words, *self._lists,
                self.nodes, self._mean, self._reach, self._stats, self._path, self._weights,
                self._scratch,
            )
        )  # fmt: skip


class PUCT:
    """PUCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        evaluation: the evaluation of positions; None means the game's own.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far.
        temperature: how widely the priors are spread over the moves, for values from -1 to 1;
            scaled in the same way.
        rollouts: the share of a random rollout in the result of a simulation, from 0 to 1; the rest
            is the evaluation's. None means `ROLLOUTS` with the game's own evaluation, otherwise 0.
        delay: the visits after which all moves of a node are evaluated; before, only its own
            evaluation and rollouts count, which takes less time. None means `DELAY` with rollouts,
            otherwise 0.
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
        rollouts: float | None = None,
        delay: int | None = None,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        self.budget, self.evaluation = budget, check_evaluation(evaluation)
        self.exploration = check_number("exploration", exploration)
        self.temperature = check_number("temperature", temperature, above=True)
        if rollouts is None:
            rollouts = ROLLOUTS if evaluation is None else 0.0
        self.rollouts = check_number("rollouts", rollouts, most=1.0)
        if delay is None:
            delay = DELAY if rollouts else 0
        self.delay = whole_number(delay, "delay", 0, 1 << 30)
        self.megabytes, self.threads = megabytes, check_threads(threads)
        make = functools.partial(PUCTTree, megabytes=megabytes, evaluation=evaluation)
        self.rooms = Rooms(make, self.threads)

    def search(
        self, positions: Sequence[Position], keys: Sequence[int], *, lines: bool = True
    ) -> list[Outcome]:
        """Search running positions of the same game; each position's key seeds its draws.

        With a budget in simulations, the result depends only on position, key, settings and the
        evaluation's weights.

        Args:
            positions: the positions.
            keys: one for each position.
            lines: whether to find the lines of best moves; without them `line` is empty.

        Raises:
            OptionError: a position is over, or the memory cannot hold its moves.
        """
        if not positions:
            return []
        check_running(positions)
        settings = self.exploration, self.temperature, self.rollouts, self.delay

        def work(i: int, room: PUCTTree, stopped: Callable[[], bool]) -> Outcome:
            room.start(positions[i], int(keys[i]), settings)
            spend(room, self.budget, stopped)
            return room.outcome(lines)

        return share(
            work, len(positions), self.rooms.take(kernels_of(positions[0]), len(positions))
        )
