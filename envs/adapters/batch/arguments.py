"""Validation of what only vector environments are given: modes, keywords, packed observations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium.vector import AutoresetMode

from azumaya.envs.errors import OptionError, UnknownOptionError, brief
from azumaya.envs.game import Game, one_of
from azumaya.envs.setup import option_names

WORDS = ("uint64", "int64")
"""The valid dtypes of packed observations."""


def check_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode, given as such or by its name or value; raises `OptionError`."""
    for known in AutoresetMode:
        if mode is known or (isinstance(mode, str) and mode in (known.value, known.name)):
            return known
    modes = [known.value for known in AutoresetMode]
    raise OptionError(f"autoreset_mode={brief(mode)}: must be one of {modes}")


def check_flag(name: str, value: Any) -> bool:
    """A value that must be True or False, not merely truthy or falsy; raises `OptionError`."""
    return bool(one_of(name, True, False)(value))


def explain_misplaced(game: Game, options: Mapping[str, Any]) -> None:
    """Reject arguments that only `gymnasium.make` accepts, and say what to use instead."""
    elsewhere = options.keys() - set(option_names(game))
    for name in sorted(elsewhere & {"opponent", "seat"}):
        raise UnknownOptionError(
            f"unexpected keyword argument {name!r}: make_vec plays both seats, and every action "
            "is that of the player to move. For one seat of many games, against opponents, use "
            "azumaya.wrappers.sb3.AzumayaVecEnv or "
            f"gymnasium.make_vec({game.id!r}, vectorization_mode='sync', {name}=...)"
        )
    if "render_mode" in elsewhere:
        raise UnknownOptionError(
            "unexpected keyword argument 'render_mode': a vector environment does not draw; "
            "position(row) returns one game's position, with draw() and svg()"
        )


def packed_words(observations: Any, name: str, width: int) -> Any:
    """The words under a name in packed observations; raises `OptionError`."""
    words: Any = observations.get(name) if isinstance(observations, Mapping) else None
    shaped = tuple(getattr(words, "shape", ()))[-1:] == (width,)
    if not shaped or str(getattr(words, "dtype", None)).removeprefix("torch.") not in WORDS:
        raise OptionError(
            f"observations[{name!r}]: must be an array of 64-bit words, (..., {width}), as "
            "returned by an environment with observation='packed'"
        )
    return words
