"""A network, its optimizer and games in progress as the arrays of a save, and back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import nn

from azumaya.baselines.agents.sidecar import CheckpointError, Sidecar, sidecar_of
from azumaya.baselines.system.files import is_count
from azumaya.baselines.training.command import TrainingError
from azumaya.baselines.training.saves import Save, prefixed

NETWORK, ADAM, GAMES = "network", "adam", "games"
"""Names of arrays in a save: weights, Adam's moments by parameter number, games."""


# ---- a network ----


def weight_arrays(prefix: str, network: nn.Module) -> dict[str, np.ndarray]:
    """Copies of a network's weights, with `prefix` before their names."""
    return prefixed(prefix, {name: _copy(t) for name, t in network.state_dict().items()})


def restore_weights(save: Save, prefix: str, network: nn.Module) -> None:
    """Give a network the weights that `weight_arrays` stored under a prefix.

    Raises:
        CheckpointError: weights are missing or do not fit; the network is unchanged.
    """
    weights = {
        name: torch.from_numpy(save.take(f"{prefix}.{name}", t.numpy().dtype, tuple(t.shape)))
        for name, t in network.state_dict().items()
    }
    network.load_state_dict(weights)


def is_finite(network: nn.Module) -> bool:
    """Whether all weights are finite."""
    return all(bool(torch.isfinite(parameter).all()) for parameter in network.parameters())


def check_weights(network: nn.Module, steps: int) -> None:
    """Check that all weights are finite; others are never saved.

    Raises:
        TrainingError: some are not finite.
    """
    if not is_finite(network):
        raise TrainingError(
            f"after {steps:,} steps the network's weights are no longer finite; start another run "
            "with a smaller --learning-rate"
        )


def agent_note(sidecar: Sidecar) -> Any:
    """A sidecar as JSON, the note `agent` of a save, from which `agent_files` makes the agent."""
    return json.loads(json.dumps(asdict(sidecar), default=os.fspath))


def check_agent(save: Save, sidecar: Sidecar) -> None:
    """Check that the agent of a save sees and plays what the sidecar says.

    Otherwise the same numbers would mean something else to the run that goes on from there.

    Raises:
        CheckpointError: it has another game, network, observation or kind of features.
    """
    before, now = sidecar_of(save.notes.get("agent")), sidecar_of(agent_note(sidecar))
    other = [
        name
        for name in ("game", "num_actions", "planes", "network", "sizes", "options")
        if getattr(before, name) != getattr(now, name)
    ]
    if before.notes.get("features") != now.notes.get("features"):
        other.append("features")
    if other:
        raise CheckpointError(
            f"the run was saved with azumaya {before.azumaya}, for other {', '.join(other)} than "
            f"azumaya {now.azumaya} has; start another run with --output"
        )


# ---- an optimizer ----


def adam_arrays(optimizer: torch.optim.Optimizer) -> dict[str, np.ndarray]:
    """Copies of Adam's moments; none before the first update."""
    arrays: dict[str, np.ndarray] = {}
    for index, moments in optimizer.state_dict()["state"].items():
        arrays |= prefixed(f"{ADAM}.{index}", {name: _copy(t) for name, t in moments.items()})
    return arrays


def restore_adam(save: Save, optimizer: torch.optim.Optimizer) -> None:
    """Give Adam the moments that `adam_arrays` stored.

    Raises:
        CheckpointError: they do not fit the parameters.
    """
    optimizer.load_state_dict({**optimizer.state_dict(), "state": _moments(save, optimizer)})


def _copy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().clone().numpy()


def _moments(save: Save, optimizer: torch.optim.Optimizer) -> dict[int, dict[str, torch.Tensor]]:
    """Adam's state by parameter number; raises `CheckpointError`."""
    found: dict[str, dict[str, torch.Tensor]] = {}
    for key, array in save.part(ADAM).items():
        index, _, name = key.partition(".")
        found.setdefault(index, {})[name] = torch.from_numpy(array)
    if not found:  # saved before the first update
        return {}
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for number, parameter in enumerate(parameters):
        shapes = {name: tuple(t.shape) for name, t in found.get(str(number), {}).items()}
        shape = tuple(parameter.shape)
        if shapes != {"step": (), "exp_avg": shape, "exp_avg_sq": shape}:
            raise CheckpointError(f"{ADAM}.{number}: must be moments of a parameter {shape}")
    if len(found) != len(parameters):
        raise CheckpointError(f"{ADAM}: {len(found)} moments for {len(parameters)} parameters")
    return {index: found[str(index)] for index in range(len(parameters))}


# ---- games ----


def game_arrays(games: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of an environment's state, as bytes."""
    return prefixed(GAMES, {name: _as_bytes(array) for name, array in games.items()})


def game_layouts(games: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The dtypes of these arrays, the note `layouts` of a save."""
    return {name: _layout(array.dtype) for name, array in games.items()}


def saved_games(save: Save, own: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state of an environment in a save.

    Args:
        save: the save.
        own: the present state of the environment, for its shapes and dtypes.

    Raises:
        CheckpointError: the save has other games; the environment may still refuse their content.
    """
    games, layouts = {}, save.notes.get("layouts")
    for name, array in own.items():
        if not isinstance(layouts, dict) or layouts.get(name) != _layout(array.dtype):
            raise CheckpointError(f"{GAMES}.{name}: saved by another version of the game")
        stored = save.take(f"{GAMES}.{name}", np.uint8, (len(array), array.dtype.itemsize))
        games[name] = np.frombuffer(stored.tobytes(), array.dtype)
    return games


def _as_bytes(array: np.ndarray) -> np.ndarray:
    return np.frombuffer(array.tobytes(), np.uint8).reshape(len(array), -1)


def _layout(dtype: np.dtype[Any]) -> str:
    return str(np.dtype(dtype.descr))


# ---- counters ----


def saved_count(save: Save, name: str) -> int:
    """A counter in the notes of a save.

    Raises:
        CheckpointError: it is missing or not a whole number from 0.
    """
    value = save.notes.get(name)
    if not is_count(value):
        raise CheckpointError(f"{name}: must be a whole number from 0, not {value!r}")
    return int(value)  # type: ignore[arg-type]
