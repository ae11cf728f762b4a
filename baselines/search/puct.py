"""PUCT: tree search guided by a compiled evaluation, on one position or many."""

from __future__ import annotations

from azumaya.baselines.search.arguments import check_exploration, check_number, check_temperature
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.evaluation import Evaluation, check_evaluation
from azumaya.baselines.search.trees import MEGABYTES, ThreadedSearch
from azumaya.baselines.search.walks import Terms
from azumaya.envs import OptionError, Position
from azumaya.envs.whole import whole_number

EXPLORATION, TEMPERATURE = 2.0, 0.1
ROLLOUTS = 0.5
"""The share of random rollouts with the game's own evaluation."""
DELAY = 8
"""The visits before a node is expanded, with rollouts."""


class PUCT(ThreadedSearch):
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
        self.evaluation = check_evaluation(evaluation)
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
        settings = {"guided": True, "evaluation": evaluation, "amaf": self.breadth > 0}
        super().__init__(budget, megabytes, threads, **settings)

    def check(self, position: Position) -> None:
        """Raise `OptionError` if the evaluation or `breadth` does not suit a position's game."""
        if self.evaluation is not None:
            self.evaluation.check(position.game)
        if self.breadth and position.game.rules.resample is not None:
            raise OptionError(
                f"breadth={self.breadth}: {position.game.id} has hidden draws; there it must be 0"
            )

    def _terms(self) -> Terms:
        return Terms(self.exploration, self.temperature, self.rollouts, self.delay, self.breadth)
