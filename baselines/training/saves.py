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
from safetensors import SafetensorError, safe_open
from safetensors import numpy as safetensors

from azumaya.baselines.agents.sidecar import CheckpointError
from azumaya.baselines.system.files import UnusableFileError, is_special

KEY = "azumaya_run"
"""The key of the JSON object in the metadata."""
MOST_BYTES = 1 << 33
"""The largest file that the options of a run may ask for."""


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
        """The content of the file."""
        arrays = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in self.arrays.items()}
        said = {
            "steps": self.steps,
            "curve": self.curve,
            "metrics": self.metrics,
            "notes": self.notes,
        }
        head = {"digest": _digest(said, arrays), **said}
        return safetensors.save(arrays, {KEY: json.dumps(head)})


def read_save(path: Path) -> Save:
    """The save in a file.

    Raises:
        CheckpointError: the file is missing, damaged, or not a save of this version.
    """
    try:
        if is_special(path):
            raise UnusableFileError("not a regular file")
        with safe_open(path, "numpy") as file:
            metadata = file.metadata() or {}
            if KEY not in metadata:
                raise ValueError("no save of this version of the library, so it cannot be resumed")
            head = json.loads(metadata[KEY])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if head.pop("digest", "") != _digest(head, arrays):
            raise ValueError("its content does not match its digest")
        return Save(**head, arrays=arrays)
    except OSError as error:
        raise CheckpointError(f"checkpoint: {path} cannot be read: {error}") from error
    except (TypeError, ValueError, SafetensorError) as error:
        raise CheckpointError(f"checkpoint {path}: malformed: {error}") from error


def _digest(said: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}\n".encode())
        digest.update(array.data)
    return digest.hexdigest()
