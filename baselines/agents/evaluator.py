"""The networks of checkpoints as evaluators for search."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import torch

from azumaya.baselines.agents.checkpoint import load_network
from azumaya.baselines.agents.policy import PolicyAgent, outputs
from azumaya.baselines.agents.sidecar import SHAPING, Sidecar
from azumaya.envs import Position


class NetworkEvaluator:
    """Evaluates positions by a network, for PUCT.

    Args:
        network: maps planes `(B, C, rows, columns)` int8 to logits `(B, A)` and values `(B,)`, what
            the player to move still gains.
        name: the name shown in the names of agents.
        sidecar: the checkpoint's description of the network, if known; positions that do not fit
            are refused.
    """

    def __init__(
        self, network: torch.nn.Module, name: str = "network", sidecar: Sidecar | None = None
    ) -> None:
        self.network, self.name, self.sidecar = network, name, sidecar

    @classmethod
    def load(cls, path: str | Path) -> NetworkEvaluator:
        """Load the network of a checkpoint.

        Warns:
            UserWarning: its values are not what a player still gains, as shaping counts in them.

        Raises:
            CheckpointError: the checkpoint is incomplete or does not fit.
        """
        network, sidecar = load_network(path)
        if sidecar.notes.get(SHAPING):
            warnings.warn(
                f"checkpoint {path}: its values include shaping, so they mislead a search; train "
                "with --shaping 0",
                stacklevel=2,
            )
        return cls(network, str(path), sidecar)

    def check(self, position: Position) -> None:
        """Check that the network can evaluate a position.

        Raises:
            CheckpointError: the network is for another game or another number of actions.
        """
        PolicyAgent(self.network, self.name, sidecar=self.sidecar).check(position)

    def evaluate(self, planes: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits `(B, A)` and values `(B,)` of planes `(B, C, rows, columns)`."""
        logits, values = outputs(self.network, planes)
        return logits.float().numpy(), values.double().numpy()
