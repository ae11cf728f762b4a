"""Search as agents: `uct:1000` and its like."""

from __future__ import annotations

from collections.abc import Sequence

from azumaya.baselines.agents import Agent
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.uct import UCT
from azumaya.envs import Position


class UCTAgent(Agent):
    """Plays the move that UCT prefers.

    Args:
        simulations: for each move; or
        milliseconds: for each move.
        exploration: as for `UCT`.
        cut: as for `UCT`.
        megabytes: as for `UCT`.
        threads: as for `UCT`.

    Raises:
        OptionError: an argument has a value it cannot take.
    """

    def __init__(
        self,
        simulations: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(simulations, milliseconds)
        self.uct = UCT(budget, **settings)  # type: ignore[arg-type]
        self.name = f"uct:{budget}"

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The preferred move of each position; all cores search positions at once."""
        return [outcome.best for outcome in self.uct.search(positions, keys)]
