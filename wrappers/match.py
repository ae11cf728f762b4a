"""The rematch rule of Sudoku Moyo as an environment."""

from __future__ import annotations

from typing import Any

from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.games.sudoku_moyo.game import MOYO
from azumaya.envs.games.sudoku_moyo_match.game import MATCH


class Match(RawEnv):
    """Two games of Sudoku Moyo on the same puzzle, with the roles swapped in the second.

    Both games are scored by points. Only the end of the second gives rewards: +1 to the player with
    the larger sum of points and -1 to the other, or 0 to both if the sums are equal.

    Args:
        env: a raw Sudoku Moyo environment; the match uses its options and render mode.

    The match is an environment of its own (`unwrapped` is the match). Its observation has
    additional planes for the puzzle and the first game's result, its `position` has additional
    fields, and `reset(options=...)` takes the options of Sudoku Moyo.

    Example:
        >>> from azumaya.envs import sudoku_moyo_v0
        >>> from azumaya.wrappers import Match
        >>> match = Match(sudoku_moyo_v0.raw_env())
        >>> match.reset(seed=1)

    Raises:
        OptionError: `env` is not a raw Sudoku Moyo environment.
    """

    def __init__(self, env: Any) -> None:
        if not isinstance(env, RawEnv) or env.game is not MOYO:
            raise OptionError(
                f"env={brief(env)}: must be a raw Sudoku Moyo environment, "
                "sudoku_moyo_v0.raw_env(...)"
            )
        super().__init__(
            MATCH,
            render_mode=env.render_mode,
            action_mask=env.mask_place,
            **env.options,
        )
