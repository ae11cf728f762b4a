"""A save of a training run: one file with everything needed to resume it.

It is a safetensors file with named arrays, and with a JSON object in its metadata. The file is
replaced in one step, so weights, counters, generators and games always belong to the same moment
of the run. Reading it runs no code; a digest detects damage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors import numpy as safetensors

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.system.files import is_count, parse_json, read_bytes

KEY = "azumaya_run"
"""The key of the JSON object in the metadata."""
MOST_BYTES, MOST_HEADER = 1 << 33, 1 << 26
"""The largest file and the largest header that are read, in bytes."""
LARGEST_MEASURED = 1 << 62
"""The largest magnitude of a number in a measurement, so that every curve can be drawn."""
_LENGTH = 8
"""Bytes at the start of the file that give the length of the header."""


@dataclass(frozen=True)
class Save:
    """Everything needed to resume a run from one moment.

    Attributes:
        steps: the number of actions that the learner has taken.
        curve: the measurements so far, each with its steps and the win rate by opponent.
        metrics: the number of lines of metrics so far.
        notes: anything else, as JSON.
        arrays: the numbers of weights, Adam's moments, generators and games, by name.
    """

    steps: int
    curve: list[dict[str, float]]
    metrics: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)

    def part(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose names begin with `prefix` and a dot, by the rest of their names."""
        start = f"{prefix}."
        return {n.removeprefix(start): a for n, a in self.arrays.items() if n.startswith(start)}

    def take(self, name: str, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Get a required array and check its dtype and shape.

        Raises:
            CheckpointError: it is missing or has another dtype or shape.
        """
        array = self.arrays.get(name)
        if array is None or array.dtype != dtype or array.shape != shape:
            there = "missing" if array is None else f"{array.dtype} {array.shape}"
            raise CheckpointError(f"{name}: must be {np.dtype(dtype)} {shape}, but is {there}")
        return array

    def contents(self) -> bytes:
        """The content of the file.

        Raises:
            ValueError: a number outside the arrays is NaN or infinite; such a file could not be
                read, so it must not replace an earlier one.
        """
        arrays = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in self.arrays.items()}
        said = {
            "steps": self.steps,
            "curve": self.curve,
            "metrics": self.metrics,
            "notes": self.notes,
        }
        head = {"digest": _digest(said, arrays), **said}
        return safetensors.save(arrays, {KEY: json.dumps(head, allow_nan=False)})


def read_save(path: Path) -> Save:
    """The save in a file.

    Raises:
        CheckpointError: the file is missing, damaged, or not a save of this version.
    """
    try:
        content = read_bytes(path, MOST_BYTES)
        arrays = safetensors.load(content)
        head = _head(content)
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"checkpoint {path}: malformed: {error}") from error
    digest = head.pop("digest", "")
    if digest != _digest(head, arrays):
        raise CheckpointError(f"checkpoint {path}: damaged: its content does not match its digest")
    problem = _wrong_with(head)
    if problem:
        raise CheckpointError(f"checkpoint {path}: malformed: {problem}")
    return Save(**head, arrays=arrays)


def _head(content: bytes) -> dict[str, Any]:
    """The JSON object in the metadata; raises `ValueError`."""
    length = int.from_bytes(content[:_LENGTH], "little")
    if length > MOST_HEADER:
        raise ValueError(f"its header has {length:,} bytes; the most is {MOST_HEADER:,}")
    metadata = parse_json(content[_LENGTH : _LENGTH + length]).get("__metadata__", {})
    if KEY not in metadata:
        raise ValueError("not a save of this version of the library, so it cannot be resumed")
    head = parse_json(metadata[KEY].encode())
    if not isinstance(head, dict):
        raise ValueError("its metadata must be an object")
    return head


def _digest(said: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()


def _wrong_with(head: Mapping[str, Any]) -> str:
    """Why a JSON object is not the head of a save; empty if it is one."""
    kinds = {"steps": int, "curve": list, "metrics": int, "notes": dict}
    if head.keys() != kinds.keys():
        return f"must have the fields {', '.join(kinds)}"
    for name, kind in kinds.items():
        if not isinstance(head[name], kind) or isinstance(head[name], bool):
            return f"{name} must be {kind.__name__}"
        if kind is int and head[name] < 0:
            return f"{name} must not be negative"
    return "" if is_curve(head["curve"]) else "curve must be a list of measurements"


def is_curve(value: Any) -> bool:
    """Whether a JSON value is a list of measurements: steps, and rates that can be drawn."""
    return isinstance(value, list) and all(map(_is_measurement, value))


def _is_measurement(point: Any) -> bool:
    if not isinstance(point, dict):
        return False
    if not is_count(point.get("steps")):
        return False
    return all(type(v) in (int, float) and abs(v) <= LARGEST_MEASURED for v in point.values())
