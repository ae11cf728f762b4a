"""UCT: Monte Carlo tree search with random rollouts, on one position or many."""

from __future__ import annotations

from azumaya.baselines.search.arguments import check_cut, check_exploration
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.trees import MEGABYTES, TreeSearch
from azumaya.baselines.search.walks import Terms

EXPLORATION = 0.8
"""Exploration weight, for results from -1 to 1."""


class UCT(TreeSearch):
    """UCT search with fixed settings; one object can search any number of positions.

    Args:
        budget: simulations or time per searched position.
        exploration: exploration weight for results from -1 to 1; for larger payoffs it is scaled
            by the range of the results so far and 0.
        cut: plies after which a rollout is cut off and scored by the game's `evaluate`, for payoffs
            above 1 as `own_evaluation` does; 0 means rollouts go to the end.
        megabytes: memory for the nodes of each thread.
        threads: positions searched in parallel; None means one per core.

    Raises:
        OptionError: an argument is invalid.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        exploration: float = EXPLORATION,
        cut: int = 0,
        megabytes: float = MEGABYTES,
        threads: int | None = None,
    ) -> None:
        super().__init__(budget, megabytes, threads)
        self.exploration, self.cut = check_exploration(exploration), check_cut(cut)

    def _terms(self) -> Terms:
        return Terms(self.exploration, cut=self.cut)
