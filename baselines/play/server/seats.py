"""Players as the server's own process needs them: their names, and which of them are people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from azumaya.baselines.agents import Agent
from azumaya.baselines.arena.entrants import HUMAN, Entrant
from azumaya.envs import Position

FRIEND = "friend"
"""A person at another device, who plays by a link."""
PEOPLE = frozenset({HUMAN, FRIEND})
"""The names of players who are people."""


class Absent(Agent):
    """An agent as this process needs it, where nobody asks it: a name at the table.

    Processes that search find the agent itself by the name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> NoReturn:
        """Raises: the moves come from elsewhere."""
        raise NotImplementedError(f"agent {self.name}: only processes that search ask it")


def seated(name: str) -> Entrant:
    """The player of a name at a table of this process."""
    return Entrant(name, None if name in PEOPLE else Absent(name))
