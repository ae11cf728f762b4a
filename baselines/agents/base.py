"""The interface of agents: a function from positions to actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeGuard

import numpy as np

from azumaya.baselines.agents.sidecar import Sidecar
from azumaya.envs import Position
from azumaya.envs.game import Game


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


# ---- many positions in one compiled call ----


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
