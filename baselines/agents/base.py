"""What an agent is: a function from positions to actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from azumaya.envs import Position


class Agent(ABC):
    """Chooses actions; has no memory, so any position can be put to it at any time.

    Wherever an agent is wanted, any object with a method `act` will do; without a `name` it is
    called by its class.

    Attributes:
        name: how tables and records call the agent.
    """

    name: str

    def check(self, position: Position) -> None:  # noqa: B027 - most agents play anything
        """Make sure that the agent can play a position's game with its options.

        Raises:
            ValueError: it cannot; the error says what it is for.
        """

    @abstractmethod
    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """Choose an action in each position.

        Args:
            positions: running positions of one game; what is hidden from the players has been
                drawn anew by the caller.
            keys: one for each position. All chance in a choice comes from its key (see
                `azumaya.envs.kernels.rng`): the same position and key give the same action,
                however many positions are passed at once.

        Returns:
            A legal action for each position.
        """
