"""Search as agents: `uct:1000` and its like."""

from __future__ import annotations

from collections.abc import Sequence

from azumaya.baselines.agents import Agent
from azumaya.baselines.search.alphabeta import AlphaBeta, check_open
from azumaya.baselines.search.budget import Budget
from azumaya.baselines.search.game_kernels import kernels_of
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


class AlphaBetaAgent(Agent):
    """Plays the move that alpha-beta with iterative deepening finds best.

    It does not play games with draws that are hidden from the players.

    Args:
        nodes: positions looked at, for each move; or
        milliseconds: for each move.
        megabytes: as for `AlphaBeta`.
        threads: as for `AlphaBeta`.

    Raises:
        OptionError: an argument has a value it cannot take.
    """

    def __init__(
        self,
        nodes: int | None = None,
        milliseconds: float | None = None,
        **settings: float,
    ) -> None:
        budget = Budget(nodes, milliseconds)
        self.alphabeta = AlphaBeta(budget, **settings)  # type: ignore[arg-type]
        self.name = f"alphabeta:{budget}"

    def check(self, position: Position) -> None:
        """Refuse games with hidden draws; raises `HiddenDrawsError`."""
        check_open(kernels_of(position))

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The best move found in each position; all cores search positions at once."""
        return [found.best for found in self.alphabeta.search(positions, keys)]
