"""Loading of SB3's own model files, which can run code when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from azumaya.baselines.agents.sidecar import plain_tensors
from azumaya.envs.extras import require


class UntrustedFileError(ValueError):
    """A file that can run code was about to be read, and the user has not said it is trusted."""


def load_sb3_zip(path: str | Path, *, trusted: bool = False) -> Any:
    """Load a MaskablePPO model of sb3-contrib from its zip file.

    The file contains pickles, and reading a pickle runs whatever code its author put there. Prefer
    the `.safetensors` file beside it (`PolicyAgent.load`).

    Args:
        path: the zip file, such as the training script's `model.zip`.
        trusted: pass True for files that you made yourself or whose author you trust.

    Raises:
        UntrustedFileError: `trusted` is not True.
    """
    if trusted is not True:
        raise UntrustedFileError(
            f"{path}: reading SB3's format can run code; if you trust the file, pass trusted=True"
        )
    algorithm = require("sb3_contrib", "train").MaskablePPO
    with plain_tensors():
        return algorithm.load(path, device="cpu")
