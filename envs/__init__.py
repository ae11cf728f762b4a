"""The environments. Importing this package registers them with PettingZoo.

from azumaya.envs import make
env = make("sudoku_moyo")
"""

from __future__ import annotations

from typing import Any

from azumaya.envs.adapters.aec import RawEnv, wrap
from azumaya.envs.errors import (
    IllegalActionError,
    MoveNameError,
    OptionError,
    PositionError,
    RecordError,
)
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES, find_game
from pettingzoo import AECEnv
from pettingzoo.env_registry.registration import aec_registry, register

__all__ = [
    "GAMES",
    "IllegalActionError",
    "MoveNameError",
    "OptionError",
    "Position",
    "PositionError",
    "RecordError",
    "find_game",
    "make",
    "raw",
]


def make(name: str, render_mode: str | None = None, **options: Any) -> AECEnv[Any, Any, Any]:
    """A game as a PettingZoo environment, wrapped as PettingZoo's classic games are.

    Args:
        name: `sudoku_moyo`, `sudoku_moyo_v0` or `azumaya/sudoku_moyo-v0`.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"` or None.
        **options: the game's options.

    Raises:
        OptionError: there is no such game or option, or it has a value it cannot take.
    """
    return wrap(raw(name, render_mode=render_mode, **options))


def raw(name: str, render_mode: str | None = None, **options: Any) -> RawEnv:
    """A game as a PettingZoo environment without wrappers; arguments as `make`."""
    return RawEnv(find_game(name), render_mode=render_mode, **options)


for _game in GAMES.values():
    if _game.id not in aec_registry:
        register("aec", _game.id, f"azumaya.envs.{_game.name}_v{_game.version}:env")
