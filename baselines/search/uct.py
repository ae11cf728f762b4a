"""UCT: Monte Carlo tree search with random rollouts, on positions or along one game."""

from __future__ import annotations

from azumaya.baselines.search.arguments import check_cut, check_exploration
from azumaya.baselines.search.budget import Budget, check_budget, spend
from azumaya.baselines.search.game_kernels import kernels_of
from azumaya.baselines.search.outcome import Outcome, outcome_of
from azumaya.baselines.search.trees import MEGABYTES, ThreadedSearch, TreeRoom
from azumaya.baselines.search.walks import Terms
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_position, check_running
from azumaya.envs.position import check_seed

EXPLORATION = 0.8
"""Exploration weight, for results from -1 to 1."""


class UCT(ThreadedSearch):
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


class KeptUCT:
    """UCT that follows one game and keeps the part of its tree that still matters.

    A search starts with the simulations that earlier searches made through the moves played since,
    and adds its whole budget to them. The result depends only on the first position, the settings
    and the sequence of keys and moves: it is deterministic like that of `UCT`, but not the same as
    that of a search from scratch. In games with hidden draws every search starts from scratch.

    Args:
        position: the position to begin with; it is copied.
        budget: new simulations, or time, for each search.
        exploration: as for `UCT`.
        cut: as for `UCT`.
        megabytes: as for `UCT`.

    Raises:
        OptionError: an argument is invalid, or the memory cannot hold the moves of one position.
    """

    def __init__(
        self,
        position: Position,
        budget: Budget,
        *,
        exploration: float = EXPLORATION,
        cut: int = 0,
        megabytes: float = MEGABYTES,
    ) -> None:
        check_position(position)
        self.budget, self._position = check_budget(budget), position.copy()
        self._terms = Terms(check_exploration(exploration), cut=check_cut(cut))
        self._room = TreeRoom(kernels_of(position), megabytes)

    @property
    def position(self) -> Position:
        """The current position; a copy."""
        return self._position.copy()

    def play(self, move: str | int) -> None:
        """Make a move of either player, by its name or as an action.

        Raises:
            MoveNameError: a text names no move; nothing changes.
            IllegalActionError: the move is not legal; nothing changes.
        """
        action = self._position.action(move)
        self._position.play(action)
        if self._room.setups:
            self._room.advance([(action, self._position)])

    def search(self, key: int = 0) -> Outcome:
        """Search the current position; the key, a whole number from 0, seeds the draws.

        Raises:
            OptionError: the game is over, or the key is invalid.
        """
        key = check_seed(key, "key")
        check_running(self._position)
        room = self._room
        room.start(self._position, key, self._terms, not room.kernels.hidden_draws)
        spend(room, self.budget)
        room.end([self._position])
        return outcome_of(room.tree)
