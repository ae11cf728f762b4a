"""Random transforms: one from a key, and one for each episode of a series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from azumaya.envs.engine.checks import check_flag
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import Game
from azumaya.envs.geometry.symmetry import Factor, Group, Symmetry, identity
from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.rng import random_below
from azumaya.envs.position import Position, check_seed
from azumaya.envs.registry import find_game
from azumaya.wrappers.transform import Transform, in_order, in_place

KEYS = 2**63


def check_group(game: Game, group: Any) -> Group:
    """A group as factors with members, which fit the board of a game; raises `OptionError`."""
    try:
        factors = tuple(tuple(factor) for factor in group)
    except TypeError:
        factors = ((),)
    if (
        isinstance(group, str)
        or not all(factors)
        or not all(isinstance(s, Symmetry) for factor in factors for s in factor)
    ):
        raise OptionError(
            f"group={brief(group)}: factors are needed, tuples of Symmetry, as in "
            "game.symmetries.group"
        )
    cells = game.observation.cells
    for member in (member for factor in factors for member in factor):
        if len(member.cells) != cells:
            raise OptionError(
                f"group: {member.name!r} is of a board of {len(member.cells)} cells; the planes of "
                f"{game.title} have {cells}"
            )
    return factors


def random_transform(
    game: Game | str,
    key: int,
    position: Position | None = None,
    *,
    group: Sequence[Factor] | None = None,
    rename: bool = True,
) -> Transform:
    """A random transform, uniformly distributed and determined by a key.

    Args:
        game: the game or its name.
        key: from 0 to 2**64 - 1.
        position: where the transform will be used first. It gives the settings, whether the
            order of players and numbers is fixed there and must be kept, and which cells have to
            keep their place.
        group: the factors to draw from; None means all of the game's.
        rename: whether to rename numbers as well.

    Raises:
        OptionError: the key is not in its range, the position is of another game, `rename` is not
            True or False, or the group does not consist of factors of this board's symmetries, or
            has one without a member that may be drawn in this position.
    """
    game, rename = find_game(game), check_flag("rename", rename)
    if position is not None and not (isinstance(position, Position) and position.game is game):
        raise OptionError(f"position={brief(position)}: must be a position of {game.title}")
    word = U64(check_seed(key, "key"))
    data, fixed = game.symmetries, position is not None and in_order(position)
    place = None if position is None else in_place(position)
    symmetry, draws = identity(game.observation.cells), 0
    for factor in data.group if group is None else check_group(game, group):
        allowed = [s for s in factor if not (fixed and s.swaps) and (not place or place.kept_by(s))]
        if not allowed:
            raise OptionError(
                f"group: none of {', '.join(repr(s.name) for s in factor)} keeps what is fixed in "
                "this stage of the game; the factor must have a member that does, like the identity"
            )
        symmetry = symmetry.then(allowed[int(random_below(word, draws, len(allowed)))])
        draws += 1
    renaming = list(range(data.numbers))
    for k in range(len(renaming) - 1, 0, -1) if rename and not fixed else ():
        j = int(random_below(word, draws, k + 1))
        renaming[k], renaming[j] = renaming[j], renaming[k]
        draws += 1
    settings = None if position is None else position.setup.settings
    return Transform(game, symmetry, renaming, settings)


class Draws:
    """The transforms of a series of episodes.

    Args:
        game: the game.
        group: the factors to draw from; None: all of the game's.
        rename: whether numbers are renamed as well.

    Raises:
        OptionError: the group does not consist of factors of this board's symmetries, or `rename`
            is not True or False.
    """

    def __init__(self, game: Game, group: Sequence[Factor] | None, rename: bool) -> None:
        self.group = None if group is None else check_group(game, group)
        self.rename = check_flag("rename", rename)
        self.rng = np.random.default_rng()

    def next(self, position: Position, seed: int | None) -> Transform:
        """The transform of an episode that begins with a position; a seed begins a new series."""
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        key = int(self.rng.integers(KEYS))
        game = position.game
        return random_transform(game, key, position, group=self.group, rename=self.rename)
