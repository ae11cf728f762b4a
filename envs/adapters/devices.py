"""Where the games of a batch are stepped: on the CPU, or on a CUDA device."""

from __future__ import annotations

from typing import Any

from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import Game

DEVICES = ("cpu", "cuda")


def vector_env(
    game: Game | str, num_envs: int = 1, *, device: str = "cpu", **arguments: Any
) -> AzumayaVectorEnv:
    """Many games at once, on a device; arguments and errors as the class of that device.

    Raises:
        OptionError: `device` is none that is known.
        DeviceError: it is not there.
    """
    if not isinstance(device, str) or device not in DEVICES:
        raise OptionError(f"device={brief(device)}: must be one of {', '.join(DEVICES)}")
    if device == "cuda":
        from azumaya.envs.adapters.cuda.vector import CudaVectorEnv  # noqa: PLC0415 - loads numba.cuda

        return CudaVectorEnv(game, num_envs, **arguments)
    return AzumayaVectorEnv(game, num_envs, **arguments)
