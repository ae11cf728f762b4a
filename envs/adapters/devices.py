"""Vector environments on the CPU or on a CUDA device."""

from __future__ import annotations

from typing import Any

from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.game import Game, one_of

DEVICES = ("cpu", "cuda")


def vector_env(
    game: Game | str, num_envs: int = 1, *, device: str = "cpu", **arguments: Any
) -> AzumayaVectorEnv:
    """Make a vector environment on a device; the other arguments are those of that device's class.

    Raises:
        OptionError: `device` is not a known device, or as that class.
        DeviceError: the device is not available.
    """
    if one_of("device", *DEVICES)(device) == "cuda":
        from azumaya.envs.adapters.cuda.vector import CudaVectorEnv  # noqa: PLC0415 - loads numba.cuda

        return CudaVectorEnv(game, num_envs, **arguments)
    return AzumayaVectorEnv(game, num_envs, **arguments)
