"""SB3's own model files, which run code when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from azumaya.envs.extras import require


class UntrustedFileError(ValueError):
    """A file that could run code was to be read without the user's word that it is trusted."""


def load_sb3_zip(path: str | Path, *, trusted: bool = False) -> Any:
    """A MaskablePPO model of sb3-contrib from its zip file.

    The file holds pickles, and reading a pickle runs whatever code its author put there. Prefer
    the `.safetensors` beside it (`PolicyAgent.load`).

    Args:
        path: the zip file, as the training script's `model.zip`.
        trusted: say True for files you made yourself or whose author you trust.

    Raises:
        UntrustedFileError: `trusted` is not True.
    """
    if trusted is not True:
        raise UntrustedFileError(
            f"{path}: reading SB3's format can run code; if you trust the file, say trusted=True"
        )
    return require("sb3_contrib", "train").MaskablePPO.load(path, device="cpu")
