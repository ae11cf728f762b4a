"""Networks on disk: weights as safetensors, everything else as JSON beside them.

`NAME.safetensors` holds the weights and `NAME.json`, the sidecar, describes them: game, version,
observation planes, options, network. Both are written under temporary names and renamed once both
are on the disk, the sidecar last. Reading them runs no code, and the size and nesting of the files
and the size of the network are checked against limits first.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from azumaya.baselines.agents.network import NETWORKS, OversizeError, check_size
from azumaya.baselines.agents.sidecar import (
    CheckpointError,
    Sidecar,
    checkpoint_file,
    game_of_sidecar,
    read_sidecar,
    read_tensors,
    sidecar_text,
    without,
)
from azumaya.baselines.system.files import write_together
from azumaya.envs.errors import brief
from azumaya.envs.extras import require


def build(sidecar: Sidecar) -> torch.nn.Module:
    """Build the network that a sidecar describes, with newly initialised weights.

    It is on the CPU in float32, whatever torch's default device and dtype are.

    Raises:
        CheckpointError: this version's game or networks differ from the sidecar's.
    """
    game = game_of_sidecar(sidecar)
    if sidecar.network not in NETWORKS:
        raise CheckpointError(
            f"checkpoint: unknown network {brief(sidecar.network)}; known are {', '.join(NETWORKS)}"
        )
    try:
        check_size(sidecar.network, game, sidecar.num_actions, sidecar.sizes)
        with torch.device("cpu"):
            network: torch.nn.Module = NETWORKS[sidecar.network](
                game, sidecar.num_actions, **sidecar.sizes
            )
    except OversizeError as error:
        raise CheckpointError(f"checkpoint: {error}") from error
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"checkpoint: no network {sidecar.network!r} for {game.title} has "
            f"num_actions={sidecar.num_actions} and sizes={sidecar.sizes}: {error}"
        ) from error
    return network.float()  # setting the default dtype would disturb other threads


def contents(name: str, weights: Mapping[str, torch.Tensor], sidecar: Sidecar) -> dict[str, bytes]:
    """The contents of a checkpoint's files by file name, in the order in which to write them.

    Args:
        name: the checkpoint's name, without a suffix.
        weights: the tensors by name, as in `network.state_dict()`.
        sidecar: the description of the weights.
    """
    safetensors = require("safetensors.torch", "train")
    copies = {name: tensor.detach().contiguous().clone() for name, tensor in weights.items()}
    return {f"{name}.safetensors": safetensors.save(copies), f"{name}.json": sidecar_text(sidecar)}


def save(path: str | Path, weights: Mapping[str, torch.Tensor], sidecar: Sidecar) -> Path:
    """Write a checkpoint; returns the path of the weights.

    Args:
        path: where to write; `.safetensors` and `.json` are added, or replace one another.
        weights: the tensors by name, as in `network.state_dict()`.
        sidecar: the description of the weights.

    Raises:
        OSError: it cannot be written; no temporary file is left behind.
    """
    target = checkpoint_file(path, ".safetensors")
    target.parent.mkdir(parents=True, exist_ok=True)
    named = contents(target.stem, weights, sidecar)
    write_together({target.with_name(name): content for name, content in named.items()})
    return target


def load(path: str | Path) -> tuple[dict[str, torch.Tensor], Sidecar]:
    """Read a checkpoint's weights and its sidecar.

    Raises:
        CheckpointError: a file is missing or malformed; the error says which.
    """
    source = checkpoint_file(path, ".safetensors")
    sidecar = read_sidecar(source)
    return read_tensors(source, "torch", "train"), sidecar


def load_network(path: str | Path) -> tuple[torch.nn.Module, Sidecar]:
    """The network of a checkpoint, ready to use.

    Raises:
        CheckpointError: a file is missing, malformed, or does not fit this version.
    """
    weights, sidecar = load(path)
    network = build(sidecar)
    problem = _misfit(network.state_dict(), weights)
    if problem:
        source = checkpoint_file(path, ".safetensors")
        raise CheckpointError(
            f"checkpoint {source}: {problem}; {source.with_suffix('.json').name} describes the "
            f"network {sidecar.network!r} with {sidecar.sizes}{_where_else(source)}"
        )
    network.load_state_dict(weights)
    return network.eval(), sidecar


def _misfit(wanted: Mapping[str, torch.Tensor], given: Mapping[str, torch.Tensor]) -> str:
    """How weights differ from those of a network, with one example; empty if they fit."""
    missing, surplus = without(wanted, given), without(given, wanted)
    if missing or surplus:
        few = [f"{len(missing)} weights missing, such as {missing[0]!r}"] if missing else []
        few += [f"{len(surplus)} unknown, such as {surplus[0]!r}"] if surplus else []
        return f"not the weights of its network: {', '.join(few)}"
    for name, tensor in wanted.items():
        found = given[name]
        if tensor.shape != found.shape:
            shapes = f"{tuple(found.shape)}, not {tuple(tensor.shape)}"
            return f"size mismatch: {name!r} has shape {shapes}"
        if not found.is_floating_point():
            return f"{name!r} must have floating-point numbers, not {found.dtype}"
        if not found.float().isfinite().all():  # small kinds of numbers have no isfinite
            return f"{name!r} must have finite numbers"
    return ""


def _where_else(source: Path) -> str:
    """A hint at the agent of the run, if a folder has one and these are not its weights."""
    agent = source.with_name("policy.safetensors")
    if source == agent or not agent.is_file():
        return ""
    return f"; the agent of this run is {agent.with_suffix('')}"
