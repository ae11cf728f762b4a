"""The environments. Importing this package registers them with PettingZoo and Gymnasium.

from azumaya.envs import make
env = make("sudoku_moyo")
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import gymnasium

from azumaya.envs import registry
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
from azumaya.envs.game import Game
from azumaya.envs.games._shima.territory import Territory
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
    "Territory",
    "UnknownOptionError",
    "find_game",
    "make",
    "make_vec",
    "raw",
    "register_game",
]


def make(name: Game | str, render_mode: str | None = None, **options: Any) -> OrderEnforcing:
    """A game as a PettingZoo environment, wrapped as PettingZoo's classic games are.

    Args:
        name: the game or its name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        **options: `action_mask`, see `azumaya.envs.adapters.aec.raw_env.RawEnv`, and the game's
            options.

    Raises:
        OptionError: the game or an option is unknown, or an option has an invalid value.
    """
    return wrap(raw(name, render_mode=render_mode, **options))


def raw(name: Game | str, render_mode: str | None = None, **options: Any) -> RawEnv:
    """A game as a PettingZoo environment without wrappers; arguments as `make`."""
    return RawEnv(name, render_mode=render_mode, **options)


@typing.overload
def make_vec(
    name: Game | str, num_envs: int = 1, *, device: Literal["cpu"] = "cpu", **arguments: Any
) -> AzumayaVectorEnv: ...
# with a device, perhaps tensors, which the annotations of the class do not say
@typing.overload
def make_vec(name: Game | str, num_envs: int = 1, *, device: str, **arguments: Any) -> Any: ...
def make_vec(name: Game | str, num_envs: int = 1, *, device: str = "cpu", **arguments: Any) -> Any:
    """Many games at once, as a Gymnasium vector environment.

    Args:
        name: as for `make`.
        num_envs: how many games.
        device: `"cpu"`, or `"cuda"`: everything on a GPU, as torch tensors.
        **arguments: `threads`, `observation`, `copy`, `autoreset_mode`, `illegal` and the game's
            options, see `azumaya.envs.adapters.batch.vector.AzumayaVectorEnv`; on a GPU
            `check_actions`, see `azumaya.envs.adapters.cuda.vector.CudaVectorEnv`.

    Raises:
        OptionError: the game or an option is unknown, or an option has an invalid value.
        DeviceError: there is no GPU that can be used.
        MissingExtraError: what a GPU needs is not installed.
    """
    return vector_env(name, num_envs, device=device, **arguments)


def register_game(game: Game) -> None:
    """Make a game of your own known by its name, everywhere a name is taken.

    `make`, `make_vec`, `Position`, records, agents, the arena and training find it by its name,
    PettingZoo and Gymnasium by its `id`. It is not added to `GAMES`. It replaces a game of the same
    name that was registered before.

    Args:
        game: its record; `docs/guides/adding-a-game.md` explains how to write one.

    Raises:
        OptionError: this is not a `Game`, its name is malformed (it must be a letter, and perhaps
            more letters, digits, `_` and `-`), or another game is found by this name. Then nothing
            has been registered.
    """
    registrar = sys._getframe(1).f_globals.get("__name__")
    registry.register_game(game, registrar)
    _announce(game, partial(make, game.id))


def _announce(game: Game, entry_point: str | Callable[..., Any]) -> None:
    """Make a game known to PettingZoo and Gymnasium, unless it is already."""
    _announce_to_pettingzoo(game, entry_point)
    if game.id not in gymnasium.registry:
        gymnasium.register(
            game.id,
            entry_point="azumaya.wrappers.single_agent:SingleAgentEnv",
            vector_entry_point="azumaya.envs.adapters.devices:vector_env",
            kwargs={"game": game.id},  # not its name, by which a later version may be found
        )


def _announce_to_pettingzoo(game: Game, entry_point: str | Callable[..., Any]) -> None:
    try:
        from pettingzoo.env_registry.registration import aec_registry, register  # noqa: PLC0415 - not everywhere there
    except ModuleNotFoundError:  # PettingZoo before 1.27 has no registry
        return
    if game.id not in aec_registry:
        register("aec", game.id, entry_point)


for _game in GAMES.values():
    _announce(_game, f"azumaya.envs.{_game.name}_v{_game.version}:env")
