"""The environments. Importing this package registers them with PettingZoo and Gymnasium.

from azumaya.envs import make
env = make("sudoku_moyo")
"""

from __future__ import annotations

from typing import Any

import gymnasium

from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.aec.wrapped import OrderEnforcing, wrap
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.devices import vector_env
from azumaya.envs.errors import (
    DeviceError,
    IllegalActionError,
    MoveNameError,
    OptionError,
    PositionError,
    RecordError,
    UnknownOptionError,
)
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES, find_game

__all__ = [
    "GAMES",
    "DeviceError",
    "IllegalActionError",
    "MoveNameError",
    "OptionError",
    "Position",
    "PositionError",
    "RecordError",
    "UnknownOptionError",
    "find_game",
    "make",
    "make_vec",
    "raw",
]


def make(name: str, render_mode: str | None = None, **options: Any) -> OrderEnforcing:
    """A game as a PettingZoo environment, wrapped as PettingZoo's classic games are.

    Args:
        name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        **options: `action_mask`, see `azumaya.envs.adapters.aec.raw_env.RawEnv`, and the game's
            options.

    Raises:
        OptionError: there is no such game or option, or it has a value it cannot take.
    """
    return wrap(raw(name, render_mode=render_mode, **options))


def raw(name: str, render_mode: str | None = None, **options: Any) -> RawEnv:
    """A game as a PettingZoo environment without wrappers; arguments as `make`."""
    return RawEnv(find_game(name), render_mode=render_mode, **options)


def make_vec(
    name: str, num_envs: int = 1, *, device: str = "cpu", **arguments: Any
) -> AzumayaVectorEnv:
    """Many games at once, as a Gymnasium vector environment.

    Args:
        name: as for `make`.
        num_envs: how many games.
        device: `"cpu"`, or `"cuda"`: everything on a GPU, as torch tensors.
        **arguments: `threads`, `observation`, `copy`, `autoreset_mode`, `illegal` and the game's
            options,
            see `azumaya.envs.adapters.batch.vector.AzumayaVectorEnv`; on a GPU `check_actions`, see
            `azumaya.envs.adapters.cuda.vector.CudaVectorEnv`.

    Raises:
        OptionError: there is no such game or option, or it has a value it cannot take.
        DeviceError: there is no GPU that can be used.
        MissingExtraError: what a GPU needs is not installed.
    """
    return vector_env(find_game(name), num_envs, device=device, **arguments)


try:
    from pettingzoo.env_registry.registration import aec_registry, register
except ModuleNotFoundError:  # PettingZoo before 1.27 has no registry
    pass
else:
    for _game in GAMES.values():
        if _game.id not in aec_registry:
            register("aec", _game.id, f"azumaya.envs.{_game.name}_v{_game.version}:env")

for _game in GAMES.values():
    if _game.id not in gymnasium.registry:
        gymnasium.register(
            _game.id,
            entry_point="azumaya.wrappers.single_agent:SingleAgentEnv",
            vector_entry_point="azumaya.envs.adapters.devices:vector_env",
            kwargs={"game": _game.name},
        )
