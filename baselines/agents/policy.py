"""The agent that plays by a network's logits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from azumaya.baselines.agents.base import Agent
from azumaya.baselines.agents.checkpoint import load_network
from azumaya.baselines.agents.sidecar import (
    CheckpointError,
    Sidecar,
    checkpoint_files,
    checkpoint_name,
)
from azumaya.baselines.search.arguments import check_number, check_temperature
from azumaya.envs import Position
from azumaya.envs.adapters.duel.asked import check_asked
from azumaya.envs.kernels.rng import random_word


class PolicyAgent(Agent):
    """Plays by the logits of a network, with illegal actions masked out.

    Args:
        network: maps planes `(B, C, rows, columns)` int8 to logits `(B, A)` and values `(B,)`.
        name: the agent's name in tables.
        temperature: 0 plays the most likely action, 1 samples from the policy.
        sidecar: the checkpoint's description of the network, if known; positions that do not fit
            are refused.

    Raises:
        OptionError: the temperature is not 0 or a finite number above it, or it is too small.
    """

    def __init__(
        self,
        network: torch.nn.Module,
        name: str = "policy",
        temperature: float = 0.0,
        sidecar: Sidecar | None = None,
    ) -> None:
        self.temperature = check_number("temperature", temperature)
        if self.temperature:
            check_temperature(temperature)
        self.network, self.name, self.sidecar = network, name, sidecar

    @classmethod
    def load(cls, path: str | Path, temperature: float = 0.0) -> PolicyAgent:
        """Load an agent from a checkpoint, a pair of `.safetensors` and `.json` files.

        Args:
            path: the path of either file, or without a suffix.
            temperature: as for the class.

        Raises:
            CheckpointError: the checkpoint is incomplete or does not fit.
            OptionError: the temperature is invalid, as for the class.
        """
        network, sidecar = load_network(path)
        agent = cls(network, checkpoint_name(path), temperature, sidecar)
        agent.files = checkpoint_files(path)
        return agent

    def check(self, position: Position) -> None:
        """Check that the network can play a position's game with its options.

        Raises:
            CheckpointError: the network is for another game or another number of actions.
        """
        if self.sidecar is None:
            return
        if position.game.id != self.sidecar.game:
            raise CheckpointError(
                f"agent {self.name}: was trained on {self.sidecar.game} and cannot play "
                f"{position.game.id}"
            )
        if position.num_actions != self.sidecar.num_actions:
            raise CheckpointError(
                f"agent {self.name}: its network has {self.sidecar.num_actions} actions, but "
                f"{position.game.title} with {position.options or 'its defaults'} has "
                f"{position.num_actions}; it was trained with "
                f"{self.sidecar.options or 'the defaults'}"
            )

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """Choose an action in each position.

        The same positions and keys give the same actions. In another batch the logits of a position
        may differ by less than 1e-6, because torch rounds differently there.

        Raises:
            CheckpointError: the network does not fit the game or the options of the positions.
            OptionError: a position or a key is invalid.
        """
        positions, keys = check_asked(positions, keys)
        if not positions:
            return []
        self.check(positions[0])
        planes = np.stack([p.observation(p.to_move) for p in positions])
        masks = np.stack([p.action_mask() for p in positions]).astype(bool)
        return self.choose(planes, masks, keys).tolist()

    def choose(self, planes: np.ndarray, masks: np.ndarray, keys: Sequence[int]) -> np.ndarray:
        """Actions `(B,)` from planes `(B, C, rows, columns)` and masks `(B, A)`."""
        logits = outputs(self.network, planes)[0].double().numpy()
        if self.temperature:
            logits = logits / self.temperature + gumbel_noise(keys, logits.shape[1])
        # last, because nothing that is done to -inf may make it a number again, or NaN
        return np.where(masks, logits, -np.inf).argmax(1)


def outputs(network: torch.nn.Module, planes: np.ndarray) -> list[torch.Tensor]:
    """What a network, on any device, finds in planes `(B, C, rows, columns)`, on the CPU."""
    first = next(network.parameters(), torch.empty(0))  # on its device are all
    with torch.inference_mode():
        return [each.cpu() for each in network(torch.from_numpy(planes).to(first.device))]


def gumbel_noise(keys: Sequence[int], actions: int) -> np.ndarray:
    """Gumbel noise from keys, `(B, actions)` float64: added to logits, it makes argmax a sample."""
    noise = np.empty((len(keys), actions))
    for row, key in zip(noise, keys, strict=True):
        words = np.array([random_word(np.uint64(key), a) for a in range(actions)], np.uint64)
        uniform = ((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        row[:] = -np.log(-np.log(uniform))
    return noise
