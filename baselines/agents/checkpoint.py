"""Networks on disk: weights as safetensors, everything else as JSON beside them.

`NAME.safetensors` holds the weights and `NAME.json` what they are weights of: game, version,
observation planes, options, network. Both are written to temporary names and renamed, the
sidecar last, so that a reader never sees half a checkpoint. Neither can run code when read.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from azumaya import __version__
from azumaya.baselines.agents.network import NETWORKS
from azumaya.envs import find_game
from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require
from azumaya.envs.game import Game


class CheckpointError(ValueError):
    """A checkpoint that is incomplete or does not fit the library or the game."""


@dataclass(frozen=True)
class Sidecar:
    """What a checkpoint's weights are weights of.

    Attributes:
        game: the environment id.
        num_actions: the actions the logits are for.
        planes: the names of the observation planes, in order.
        network: a key of `NETWORKS`.
        sizes: the network's `width` and `depth`.
        options: the options the network was trained with.
        azumaya: the version of the library.
        notes: anything else worth keeping, such as steps and seed of the training.
    """

    game: str
    num_actions: int
    planes: tuple[str, ...]
    network: str
    sizes: dict[str, int]
    options: dict[str, Any] = field(default_factory=dict)
    azumaya: str = __version__
    notes: dict[str, Any] = field(default_factory=dict)


def describe(
    game: Game, num_actions: int, network: str, sizes: dict[str, int], **more: Any
) -> Sidecar:
    """The sidecar of a network for a game."""
    planes = tuple(plane.name for plane in game.planes)
    return Sidecar(game.id, num_actions, planes, network, sizes, **more)


def build(sidecar: Sidecar) -> torch.nn.Module:
    """The network a sidecar describes, with fresh weights.

    Raises:
        CheckpointError: this version's game or networks differ from the sidecar's.
    """
    try:
        game = find_game(sidecar.game)
    except OptionError as error:
        raise CheckpointError(f"checkpoint: {error}") from error
    planes = tuple(plane.name for plane in game.planes)
    if planes != tuple(sidecar.planes):
        raise CheckpointError(
            f"checkpoint: made by azumaya {sidecar.azumaya} for other observation planes of "
            f"{game.title} than those of {__version__}; train it anew"
        )
    if sidecar.network not in NETWORKS:
        raise CheckpointError(
            f"checkpoint: unknown network {sidecar.network!r}; known are {', '.join(NETWORKS)}"
        )
    network: torch.nn.Module = NETWORKS[sidecar.network](game, sidecar.num_actions, **sidecar.sizes)
    return network


def save(path: str | Path, weights: dict[str, torch.Tensor], sidecar: Sidecar) -> Path:
    """Write a checkpoint; returns the path of the weights.

    Args:
        path: where; the suffix is replaced by `.safetensors` and `.json`.
        weights: the tensors by name, as of `network.state_dict()`.
        sidecar: what they are.
    """
    safetensors = require("safetensors.torch", "train")
    target = Path(path).with_suffix(".safetensors")
    target.parent.mkdir(parents=True, exist_ok=True)
    copies = {name: tensor.detach().contiguous().clone() for name, tensor in weights.items()}
    _replace(target, safetensors.save(copies))
    _replace(target.with_suffix(".json"), json.dumps(asdict(sidecar), indent=2).encode())
    return target


def _replace(target: Path, content: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(target)


def load(path: str | Path) -> tuple[dict[str, torch.Tensor], Sidecar]:
    """Read a checkpoint's weights and sidecar.

    Raises:
        CheckpointError: a file is missing or malformed.
    """
    safetensors = require("safetensors.torch", "train")
    source = Path(path).with_suffix(".safetensors")
    try:
        sidecar = Sidecar(**json.loads(source.with_suffix(".json").read_text("utf-8")))
        return safetensors.load_file(source), sidecar
    except FileNotFoundError as error:
        raise CheckpointError(f"checkpoint: {error.filename} does not exist") from error
    except (TypeError, ValueError, require("safetensors", "train").SafetensorError) as error:
        raise CheckpointError(f"checkpoint {source}: malformed: {error}") from error


def load_network(path: str | Path) -> tuple[torch.nn.Module, Sidecar]:
    """The network of a checkpoint, ready to use.

    Raises:
        CheckpointError: a file is missing, malformed, or does not fit this version.
    """
    weights, sidecar = load(path)
    network = build(sidecar)
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(f"checkpoint {path}: {error}") from error
    return network.eval(), sidecar
