"""The descriptions of checkpoints: which game, options and network the weights belong to.

A checkpoint is a pair of files. `NAME.safetensors` holds the weights and `NAME.json`, the sidecar,
describes them. Reading a sidecar runs no code, and its size and nesting are limited.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from azumaya.baselines.system.files import is_count, read_bytes, read_json
from azumaya.baselines.system.machine import version
from azumaya.envs import find_game
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.registry import OWN_GAMES

SUFFIXES = (".safetensors", ".json")
"""What the names of a checkpoint's files end in: its weights and its sidecar."""
MOST_BYTES = 1 << 31
"""The largest file of weights that is read, in bytes."""
SHAPING = "shaping"
"""The note that says how much gains in the game's evaluation counted in what values learned."""


class CheckpointError(ValueError):
    """A checkpoint that is incomplete or does not fit the library or the game."""


@dataclass(frozen=True)
class Sidecar:
    """The description of a checkpoint's weights.

    Attributes:
        game: the environment id.
        num_actions: the number of actions.
        planes: the names of the observation planes, in order.
        network: a key of `NETWORKS`, or `value` for a compiled value.
        sizes: the network's `width` and, if it has one, `depth`.
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
    """The sidecar of a network for a game.

    Args:
        game: the game.
        num_actions: the number of actions, which depends on the options.
        network: a key of `NETWORKS`.
        sizes: what the network was built with, its `width` and `depth`.
        more: further fields of `Sidecar`, such as `options` and `notes`.
    """
    planes = tuple(plane.name for plane in game.observation.planes)
    return Sidecar(game.id, num_actions, planes, network, sizes, **more)


def game_of_sidecar(sidecar: Sidecar) -> Game:
    """The game that a checkpoint plays.

    Raises:
        CheckpointError: there is no such game, or its observation has changed.
    """
    try:
        game = find_game(sidecar.game)
    except OptionError as error:
        raise CheckpointError(f"checkpoint: {error}; {OWN_GAMES}") from error
    planes = tuple(plane.name for plane in game.observation.planes)
    if planes != tuple(sidecar.planes):
        raise CheckpointError(
            f"checkpoint: made with azumaya {sidecar.azumaya} for other observation planes of "
            f"{game.title} than azumaya {version()} has; train it again"
        )
    return game


def checkpoint_file(path: str | Path, suffix: str) -> Path:
    """The file of a checkpoint that has this suffix, `.safetensors` or `.json`.

    It is the one with the suffix in upper case if only that one is there.

    Args:
        path: the path of either file, or without a suffix. What else follows a dot is part of the
            name: `lr-0.1` and `lr-0.01` are two checkpoints.
        suffix: the suffix.

    Raises:
        ValueError: the path has no name.
    """
    file = Path(path).with_name(checkpoint_name(path) + suffix)
    upper = file.with_suffix(suffix.upper())
    return upper if upper.is_file() and not file.is_file() else file


def checkpoint_files(path: str | Path) -> tuple[Path, ...]:
    """Both files of a checkpoint."""
    return tuple(checkpoint_file(path, suffix) for suffix in SUFFIXES)


def checkpoint_name(path: str | Path) -> str:
    """The name of a checkpoint: that of either file without its suffix."""
    path = Path(path)
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def is_checkpoint(path: str | Path) -> bool:
    """Whether a checkpoint has this path; False, too, for a name that no file can have."""
    try:
        return any(file.is_file() for file in checkpoint_files(path))
    except (OSError, ValueError):
        return False


def read_sidecar(path: str | Path) -> Sidecar:
    """Read a checkpoint's sidecar.

    Raises:
        CheckpointError: the `.json` file is missing or malformed.
    """
    file = checkpoint_file(path, ".json")
    try:
        return sidecar_of(read_json(file))
    except OSError as error:
        raise unreadable(file, error) from error
    except ValueError as error:  # also raised for a path with a null byte
        raise CheckpointError(f"checkpoint {file}: malformed: {error}") from error


def sidecar_text(sidecar: Sidecar) -> bytes:
    """The content of a sidecar's file."""
    return json.dumps(asdict(sidecar), indent=2, default=os.fspath).encode()


def read_tensors(source: Path, kind: str, extra: str) -> dict[str, Any]:
    """The tensors in a file of weights, of at most `MOST_BYTES`, by name.

    Args:
        source: the `.safetensors` file.
        kind: what the tensors become, `torch` or `numpy`.
        extra: the extra of this package that brings safetensors.

    Raises:
        CheckpointError: the file is missing or malformed.
        MissingExtraError: safetensors is not installed.
    """
    package, arrays = require("safetensors", extra), require(f"safetensors.{kind}", extra)
    try:
        found: dict[str, Any] = arrays.load(read_bytes(source, MOST_BYTES))
    except OSError as error:
        raise unreadable(source, error) from error
    except KeyError as error:  # a dtype that torch or NumPy does not have
        raise CheckpointError(
            f"checkpoint {source}: numbers of the unknown type {error}"
        ) from error
    except (TypeError, ValueError, package.SafetensorError) as error:
        raise CheckpointError(f"checkpoint {source}: malformed: {error}") from error
    return found


def sidecar_of(said: Any) -> Sidecar:
    """Build a sidecar from a JSON value.

    Raises:
        CheckpointError: the value is not a valid sidecar.
    """
    problem = _wrong_with(said)
    if problem:
        raise CheckpointError(problem)
    return Sidecar(**{**said, "planes": tuple(said["planes"])})


def unreadable(file: Path, error: OSError) -> CheckpointError:
    """The error for a file that cannot be opened or read."""
    if isinstance(error, FileNotFoundError):
        return CheckpointError(f"checkpoint: {file} does not exist")
    return CheckpointError(f"checkpoint: {file} cannot be read: {error.strerror or error}")


def _wrong_with(said: Any) -> str:
    """Why a JSON value is not a sidecar; empty if it is one."""
    if not isinstance(said, dict):
        return f"must be an object with the fields {', '.join(FIELDS)}"
    needed = [item.name for item in fields(Sidecar) if item.default_factory is MISSING]
    missing, surplus = without(needed, said), without(said, FIELDS)
    if missing or surplus:
        parts = [f"no {', '.join(missing)}"] if missing else []
        parts += [f"unknown {', '.join(surplus)}"] if surplus else []
        return f"{' and '.join(parts)}; the fields are {', '.join(FIELDS)}"
    wrong = [name for name, value in said.items() if not FIELDS[name][1](value)]
    return "; ".join(f"{name} must be {FIELDS[name][0]}, not {brief(said[name])}" for name in wrong)


def without(names: Iterable[str], others: Container[str]) -> list[str]:
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


@contextlib.contextmanager
def plain_tensors() -> Iterator[None]:
    """Within this, new tensors are float32 on the CPU, whatever the user's program has set.

    The dtype is set for all threads. A device context slows every call of torch: it is entered only
    where the default is another device.
    """
    torch = require("torch", "train")
    kind, device = torch.get_default_dtype(), torch.empty(0).device
    torch.set_default_dtype(torch.float32)
    try:
        with contextlib.nullcontext() if device.type == "cpu" else torch.device("cpu"):
            yield
    finally:
        torch.set_default_dtype(kind)
