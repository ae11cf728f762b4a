"""The rematch rule of Sudoku Moyo as an environment."""

from __future__ import annotations

from typing import Any

from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.errors import OptionError
from azumaya.envs.games.shima.record import MATCH, MOYO


class Match(RawEnv):
    """Two games of Sudoku Moyo on the same puzzle, with the roles swapped in the second.

    Both are scored by points; only the end of the second gives rewards: +1 and -1 to the player
    with more and fewer points in sum, 0 for equal sums.

    Args:
        env: a raw Sudoku Moyo environment, whose options and render mode the match takes over.

    The match is an environment of its own (`unwrapped` is the match): observation planes for the
    puzzle and the first game's result are added, `position` has the match's own words, and
    `reset(options=...)` takes the options of the game.

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
                f"env={env}: a raw Sudoku Moyo environment is needed, sudoku_moyo_v0.raw_env(...)"
            )
        super().__init__(
            MATCH,
            render_mode=env.render_mode,
            action_mask=env.mask_place,
            **env.options,
        )
