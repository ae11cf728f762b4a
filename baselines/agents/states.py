"""Positions as state records, for agents that choose many moves in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np

from azumaya.envs.game import Game


@dataclass(frozen=True)
class GameStates:
    """Running positions of one game.

    `states`, `(n,)` state records, are copies in which what is hidden from the players has been
    drawn anew.
    """

    game: Game
    num_actions: int
    states: np.ndarray


class ActsOnStates(Protocol):
    """An agent with a fast path, which matches use instead of `act`."""

    def act_states(self, positions: GameStates, keys: np.ndarray) -> np.ndarray:
        """Choose an action in each position, the same that `act` would choose.

        Args:
            positions: `n` positions.
            keys: `(n,)` uint64, as for `act`.

        Returns:
            Legal actions, `(n,)` int64.
        """


def acts_on_states(agent: Any) -> TypeGuard[ActsOnStates]:
    """Whether an agent has a fast path that belongs to its `act`.

    A subclass that overrides `act` alone does not: the fast path that it inherits would choose
    other moves.
    """
    if "act" in getattr(agent, "__dict__", ()):
        return False
    for kind in type(agent).__mro__:
        if "act_states" in vars(kind):
            return True
        if "act" in vars(kind):
            return False
    return False
