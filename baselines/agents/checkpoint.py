"""Networks on disk: weights as safetensors, everything else as JSON beside them.

`NAME.safetensors` holds the weights and `NAME.json`, the sidecar, describes them: game, version,
observation planes, options, network. Both are written under temporary names and renamed once both
are on the disk, the sidecar last. Reading them runs no code, and the size and nesting of the files
and the size of the network are checked against limits first.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch

from azumaya.baselines.agents.network import NETWORKS, OversizeError, check_size
from azumaya.baselines.files import is_count, read_bytes, read_json, write_together
from azumaya.baselines.version import version
from azumaya.envs import find_game
from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require
from azumaya.envs.game import Game

MOST_BYTES = 1 << 31
"""The largest weights file that is read, in bytes."""
_BRIEF = reprlib.Repr()


class CheckpointError(ValueError):
    """A checkpoint that is incomplete or does not fit the library or the game."""


@dataclass(frozen=True)
class Sidecar:
    """The description of a checkpoint's weights.

    Attributes:
        game: the environment id.
        num_actions: the number of actions.
        planes: the names of the observation planes, in order.
        network: a key of `NETWORKS`.
        sizes: the network's `width` and `depth`.
        options: the game's options in training.
        azumaya: the version of the library.
        notes: anything else worth keeping, such as the training's steps and seed.
    """

    game: str
    num_actions: int
    planes: tuple[str, ...]
    network: str
    sizes: dict[str, int]
    options: dict[str, Any] = field(default_factory=dict)
    azumaya: str = field(default_factory=version)
    notes: dict[str, Any] = field(default_factory=dict)


def describe(
    game: Game, num_actions: int, network: str, sizes: dict[str, int], **more: Any
) -> Sidecar:
    """The sidecar of a network for a game."""
    planes = tuple(plane.name for plane in game.observation.planes)
    return Sidecar(game.id, num_actions, planes, network, sizes, **more)


def build(sidecar: Sidecar) -> torch.nn.Module:
    """Build the network that a sidecar describes, with newly initialised weights.

    Raises:
        CheckpointError: this version's game or networks differ from the sidecar's.
    """
    try:
        game = find_game(sidecar.game)
    except OptionError as error:
        raise CheckpointError(f"checkpoint: {error}") from error
    planes = tuple(plane.name for plane in game.observation.planes)
    if planes != tuple(sidecar.planes):
        raise CheckpointError(
            f"checkpoint: made with azumaya {sidecar.azumaya} for other observation planes of "
            f"{game.title} than azumaya {version()} has; train it again"
        )
    if sidecar.network not in NETWORKS:
        raise CheckpointError(
            f"checkpoint: unknown network {_BRIEF.repr(sidecar.network)}; "
            f"known are {', '.join(NETWORKS)}"
        )
    try:
        check_size(sidecar.network, game, sidecar.num_actions, sidecar.sizes)
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
    return network


def contents(name: str, weights: Mapping[str, torch.Tensor], sidecar: Sidecar) -> dict[str, bytes]:
    """The contents of a checkpoint's files by file name, in the order in which to write them.

    Args:
        name: the checkpoint's name, without a suffix.
        weights: the tensors by name, as in `network.state_dict()`.
        sidecar: the description of the weights.
    """
    safetensors = require("safetensors.torch", "train")
    copies = {name: tensor.detach().contiguous().clone() for name, tensor in weights.items()}
    text = json.dumps(asdict(sidecar), indent=2, default=os.fspath)
    return {f"{name}.safetensors": safetensors.save(copies), f"{name}.json": text.encode()}


def save(path: str | Path, weights: Mapping[str, torch.Tensor], sidecar: Sidecar) -> Path:
    """Write a checkpoint; returns the path of the weights.

    Args:
        path: where to write; its suffix is replaced by `.safetensors` and `.json`.
        weights: the tensors by name, as in `network.state_dict()`.
        sidecar: the description of the weights.

    Raises:
        OSError: it cannot be written; no temporary file is left behind.
    """
    target = Path(path).with_suffix(".safetensors")
    target.parent.mkdir(parents=True, exist_ok=True)
    named = contents(target.stem, weights, sidecar)
    write_together({target.with_name(name): content for name, content in named.items()})
    return target


def read_sidecar(path: str | Path) -> Sidecar:
    """Read a checkpoint's sidecar.

    Raises:
        CheckpointError: the `.json` file is missing or malformed.
    """
    file = Path(path).with_suffix(".json")
    try:
        said = read_json(file)
    except OSError as error:
        raise _unreadable(file, error) from error
    except ValueError as error:  # also raised for a path with a null byte
        raise CheckpointError(f"checkpoint {file}: malformed: {error}") from error
    try:
        return sidecar_of(said)
    except CheckpointError as error:
        raise CheckpointError(f"checkpoint {file}: malformed: {error}") from error


def sidecar_of(said: Any) -> Sidecar:
    """Build a sidecar from a JSON value.

    Raises:
        CheckpointError: the value is not a valid sidecar.
    """
    problem = _wrong_with(said)
    if problem:
        raise CheckpointError(problem)
    return Sidecar(**{**said, "planes": tuple(said["planes"])})


def _unreadable(file: Path, error: OSError) -> CheckpointError:
    if isinstance(error, FileNotFoundError):
        return CheckpointError(f"checkpoint: {file} does not exist")
    return CheckpointError(f"checkpoint: {file} cannot be read: {error.strerror or error}")


def _wrong_with(said: Any) -> str:
    """Why a JSON value is not a sidecar; empty if it is one."""
    if not isinstance(said, dict):
        return f"must be an object with the fields {', '.join(FIELDS)}"
    needed = [item.name for item in fields(Sidecar) if item.default_factory is MISSING]
    missing, surplus = _without(needed, said), _without(said, FIELDS)
    if missing or surplus:
        parts = [f"no {', '.join(missing)}"] if missing else []
        parts += [f"unknown {', '.join(surplus)}"] if surplus else []
        return f"{' and '.join(parts)}; the fields are {', '.join(FIELDS)}"
    wrong = [name for name, value in said.items() if not FIELDS[name][1](value)]
    return "; ".join(
        f"{name} must be {FIELDS[name][0]}, not {_BRIEF.repr(said[name])}" for name in wrong
    )


def _without(names: Iterable[str], others: Container[str]) -> list[str]:
    """The names that are not among the others."""
    return [name for name in names if name not in others]


def _is_count(value: Any) -> bool:
    return is_count(value, least=1)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


FIELDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "game": ("an environment id", _is_text),
    "num_actions": ("a whole number from 1", _is_count),
    "planes": ("a list of names", lambda v: isinstance(v, list) and all(map(_is_text, v))),
    "network": ("a name", _is_text),
    "sizes": ("whole numbers by name", lambda v: _is_object(v) and all(map(_is_count, v.values()))),
    "options": ("an object", _is_object),
    "azumaya": ("a version", _is_text),
    "notes": ("an object", _is_object),
}
"""The fields of a sidecar: what each must be, in words and as a check."""


def load(path: str | Path) -> tuple[dict[str, torch.Tensor], Sidecar]:
    """Read a checkpoint's weights, of at most `MOST_BYTES`, and its sidecar.

    Raises:
        CheckpointError: a file is missing or malformed; the error says which.
    """
    safetensors = require("safetensors.torch", "train")
    source = Path(path).with_suffix(".safetensors")
    sidecar = read_sidecar(source)
    try:
        return safetensors.load(read_bytes(source, MOST_BYTES)), sidecar
    except OSError as error:
        raise _unreadable(source, error) from error
    except (TypeError, ValueError, require("safetensors", "train").SafetensorError) as error:
        raise CheckpointError(f"checkpoint {source}: malformed: {error}") from error


def load_network(path: str | Path) -> tuple[torch.nn.Module, Sidecar]:
    """The network of a checkpoint, ready to use.

    Raises:
        CheckpointError: a file is missing, malformed, or does not fit this version.
    """
    weights, sidecar = load(path)
    network = build(sidecar)
    problem = _misfit(network.state_dict(), weights)
    if problem:
        source = Path(path).with_suffix(".safetensors")
        raise CheckpointError(
            f"checkpoint {source}: {problem}; {source.with_suffix('.json').name} describes the "
            f"network {sidecar.network!r} with {sidecar.sizes}{_where_else(source)}"
        )
    network.load_state_dict(weights)
    return network.eval(), sidecar


def _misfit(wanted: Mapping[str, torch.Tensor], given: Mapping[str, torch.Tensor]) -> str:
    """How weights differ from those of a network, with one example; empty if they fit."""
    missing, surplus = _without(wanted, given), _without(given, wanted)
    if missing or surplus:
        few = [f"{len(missing)} weights missing, such as {missing[0]!r}"] if missing else []
        few += [f"{len(surplus)} unknown, such as {surplus[0]!r}"] if surplus else []
        return f"not the weights of its network: {', '.join(few)}"
    for name, tensor in wanted.items():
        if tensor.shape != given[name].shape:
            shapes = f"{tuple(given[name].shape)}, not {tuple(tensor.shape)}"
            return f"size mismatch: {name!r} has shape {shapes}"
    return ""


def _where_else(source: Path) -> str:
    """A hint at the agent of the run, if a folder has one and these are not its weights."""
    agent = source.with_name("policy.safetensors")
    if source == agent or not agent.is_file():
        return ""
    return f"; the agent of this run is {agent.with_suffix('')}"
