"""PUCT: tree search guided by a compiled evaluation, on one position or many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from azumaya.baselines.search.arguments import (
    check_exploration,
    check_megabytes,
    check_number,
    check_temperature,
)
from azumaya.baselines.search.budget import Budget, Rooms, check_budget, spend
from azumaya.baselines.search.evaluation import Evaluation, check_evaluation
from azumaya.baselines.search.outcome import Outcome
from azumaya.baselines.search.puct_trees import TEMPERATURE, AMAFTree, PUCTTree
from azumaya.baselines.search.uct import MEGABYTES
from azumaya.envs import OptionError, Position
from azumaya.envs.adapters.batch.workers import check_threads
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.whole import whole_number

EXPLORATION = 2.0
ROLLOUTS = 0.5
"""The share of random rollouts with the game's own evaluation."""
DELAY = 8
"""The visits before a node is expanded, with rollouts."""


class PUCT:
    """PUCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        evaluation: the evaluation of positions; None means the game's own.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far and 0.
        temperature: how widely the priors are spread over the moves, for values from -1 to 1;
            scaled in the same way.
        rollouts: the share of a random rollout in the result of a simulation, from 0 to 1; the rest
            is the evaluation's. None means `ROLLOUTS` with the game's own evaluation, otherwise 0.
        delay: the visits after which all moves of a node are evaluated, as that takes time. Before,
            a rollout is mixed with the mean of the results of the node so far, of which the first
            was mixed with its evaluation; in games with hidden draws always with the evaluation.
            None means `DELAY` with rollouts, otherwise 0.
        breadth: the moves of a node below the root that are evaluated at first, those whose players
            did best in the rollouts so far; others follow as the node is visited more often. The
            value of a move then also takes in the simulations in which its player made it later
            (AMAF). 0 means all moves at once, without AMAF. It needs rollouts, and a game without
            hidden draws.
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
        breadth: int = 0,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        self.budget, self.evaluation = check_budget(budget), check_evaluation(evaluation)
        self.exploration = check_exploration(exploration)
        self.temperature = check_temperature(temperature)
        if rollouts is None:
            rollouts = ROLLOUTS if evaluation is None else 0.0
        self.rollouts = check_number("rollouts", rollouts, most=1.0)
        if delay is None:
            delay = DELAY if rollouts else 0
        self.delay = whole_number(delay, "delay", 0, 1 << 30)
        self.breadth = whole_number(breadth, "breadth", 0, 1 << 30)
        if breadth and not self.rollouts:
            raise OptionError(f"breadth={breadth}: it needs rollouts, and rollouts is 0")
        self.megabytes, self.threads = check_megabytes(megabytes), check_threads(threads)
        kind = functools.partial(AMAFTree, breadth=breadth) if breadth else PUCTTree
        make = functools.partial(kind, megabytes=megabytes, evaluation=evaluation)
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
            OptionError: a position or a key is invalid, or the memory cannot hold the moves of a
                position.
        """
        positions, keys = check_asked(positions, keys)
        settings = self.exploration, self.temperature, self.rollouts, self.delay

        def work(i: int, room: PUCTTree, stopped: Callable[[], bool]) -> Outcome:
            room.start(positions[i], keys[i], settings)
            spend(room, self.budget, stopped)
            return room.outcome(lines)

        return self.rooms.each(positions, work)
