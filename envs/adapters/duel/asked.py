"""What agents and searches are asked: checks of positions and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import state_kind
from azumaya.envs.position import MAX_SEED, Position, check_seed


def check_asked(
    positions: Any, keys: Any, *, alike: bool = True
) -> tuple[Sequence[Position], list[int]]:
    """Check the arguments of `act(positions, keys)`, which may also be arrays.

    Args:
        positions: running positions.
        keys: a key for each position.
        alike: whether the positions must be of one game with one number of actions.

    Returns:
        The positions, and the keys as ints.

    Raises:
        OptionError: an argument is no sequence, a position is over or none at all, a key is not a
            whole number from 0 to 2**64 - 1, there are more or fewer keys than positions, or
            positions differ that must be alike.
    """
    asked, given = check_sequence(positions, "positions"), check_sequence(keys, "keys")
    for i, position in enumerate(asked):
        check_running(position, i)
    if alike and len(asked) > 1:
        _check_alike(asked)
    if len(given) != len(asked):
        raise OptionError(
            f"keys={brief(keys)}: {len(given)} for {len(asked)} positions; one key for each "
            "position is needed"
        )
    seeds = [
        key if type(key) is int and 0 <= key <= MAX_SEED else check_seed(key, f"keys[{i}]")
        for i, key in enumerate(given)
    ]
    return asked, seeds


def check_position(given: Any, name: str = "position") -> None:
    """Raise `OptionError`, calling the argument `name`, for anything but a position."""
    if not isinstance(given, Position):
        raise OptionError(f"{name}={brief(given)}: a Position is needed")


def check_running(given: Any, place: int | None = None) -> None:
    """Raise `OptionError` for anything but a running position.

    Args:
        given: the argument `position`.
        place: its place in the argument `positions`, if it is one of several.
    """
    if isinstance(given, Position) and not given.is_over:
        return
    name = "position" if place is None else f"positions[{place}]"
    check_position(given, name)
    raise OptionError(f"{name}: the game is over; a running position is needed")


def check_sequence(given: Any, name: str) -> Sequence[Any]:
    """An argument of several values as a sequence; `OptionError` if it is none."""
    if type(given) is list:  # the usual case, which the tests below would slow down
        return given
    values = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise OptionError(f"{name}={brief(given)}: a list of {name} is needed")
    return values


def _check_alike(positions: Sequence[Position]) -> None:
    first = positions[0]
    for i, position in enumerate(positions):
        if position.game is not first.game or position.num_actions != first.num_actions:
            raise OptionError(
                f"positions[{i}]: of {_kind(position)}; all must be of {_kind(first)}, as the first"
            )


def _kind(position: Position) -> str:
    return state_kind(position.game, position.num_actions)
