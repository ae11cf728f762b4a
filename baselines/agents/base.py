"""The interface of agents: a function from positions to actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from azumaya.baselines.agents.sidecar import Sidecar
from azumaya.envs import Position


class Agent(ABC):
    """Chooses actions. Agents are stateless: an answer must not depend on earlier calls.

    Any object with a method `act` is accepted as an agent; one without a `name` goes by the name of
    its class.

    Attributes:
        name: the agent's name in tables and records.
        sidecar: for agents made from a checkpoint, the description of its weights.
        files: the files that it has read, such as its weights. In a league an agent with other
            files is another one. Agents without this attribute have none.
    """

    name: str
    sidecar: Sidecar | None = None
    files: Sequence[str | Path] = ()

    def check(self, position: Position) -> None:  # noqa: B027 - most agents play anything
        """Check that the agent can play a position's game with its options.

        Raises:
            ValueError: it cannot; the error says what it can play.
        """

    @abstractmethod
    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """Choose an action in each position.

        Args:
            positions: unfinished positions of one game, in which the caller has resampled whatever
                is hidden from the players.
            keys: one per position. Random choices depend only on the key (see
                `azumaya.envs.kernels.rng`): the same position and key give the same action,
                whatever other positions are passed with it. (Torch may round differently in
                another batch, which can decide between moves whose logits differ by less than
                1e-6.)

        Returns:
            A legal action for each position.

        Raises:
            OptionError: an agent of the library was given something else.
        """
