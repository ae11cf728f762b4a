"""Returns of both seats, and lengths, for the episodes of a vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorWrapper

from azumaya.envs.adapters.batch.batch import Batch
from azumaya.envs.adapters.batch.vector import AzumayaVectorEnv
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.setup import check_options


class SeatStatistics(CopiedDeeply, VectorWrapper):
    """Adds the returns of both seats to the infos when an episode ends.

    The rewards of a vector environment are those of the player who moved. Their sum, which
    Gymnasium's `RecordEpisodeStatistics` reports, mixes both seats: the winner moves last, so
    nearly every game gives +1. Here the returns are `(n, 2)`, one for each seat.

    Args:
        env: an Azumaya vector environment on the CPU, wrapped or not.

    Infos, like those of `RecordEpisodeStatistics`: `episode`, a dict of `r`, the returns
    `(n, 2)` float64 by seat, and `l`, the lengths `(n,)` int64, counting both players' moves; and
    `_episode`, `(n,)` bool: which games ended in this step. The rows of other games are 0.

    If anything but this wrapper changes games of the environment inside, by `set_state` or
    `rollout` for instance, the counts of all games begin anew from there.

    Raises:
        OptionError: `env` is not an Azumaya vector environment on the CPU.
    """

    def __init__(self, env: Any) -> None:
        inner = getattr(env, "unwrapped", None)
        # those on a device give tensors, which do not add up with arrays
        if not isinstance(inner, AzumayaVectorEnv) or type(inner.games) is not Batch:
            raise OptionError(f"env={brief(env)}: must be an Azumaya vector environment on the CPU")
        super().__init__(env)
        self._same_step = env.unwrapped.autoreset_mode is AutoresetMode.SAME_STEP
        self._returns = np.zeros((env.num_envs, 2))
        self._lengths = np.zeros(env.num_envs, np.int64)
        self._over = np.zeros(env.num_envs, np.bool_)
        self._changes = -1  # the first call looks which games are over

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes, with returns of 0."""
        self._follow()
        given = check_options(options)  # a copy, because wrappers inside may take keys out
        mask = given.get("reset_mask")
        results: tuple[Any, dict[str, Any]] = self.env.reset(seed=seed, options=given)
        self._changes = self.unwrapped.changes
        self._forget(np.ones(self.num_envs, np.bool_) if mask is None else mask)
        return results

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Play an action in every game.

        Raises:
            OptionError: a wrapper inside gives `episode` in its infos as well.
        """
        self._follow()
        seen, rewards, terminated, truncated, infos = self.env.step(actions)
        self._changes = self.unwrapped.changes
        was_over = self._over.copy()
        self._lengths += ~was_over  # a step that only begins a new game is not a move
        self._forget(was_over)
        self._returns += infos["rewards"]
        over = terminated | truncated
        ended = over & ~was_over
        returns = np.where(ended[:, None], self._returns, 0.0)
        episode = {"r": returns, "l": np.where(ended, self._lengths, 0)}
        if self._same_step:
            self._forget(ended)
        else:
            self._over = over
        if "episode" in infos:
            raise OptionError(
                "infos: a wrapper inside gives 'episode' as well, as RecordEpisodeStatistics does; "
                "leave it out, or let it use another key (stats_key)"
            )
        infos = {**infos, "episode": episode, "_episode": ended}
        return seen, rewards, terminated, truncated, infos

    @property
    def unwrapped(self) -> AzumayaVectorEnv:  # type: ignore[override]
        """The Azumaya environment inside."""
        inner: Any = self.env.unwrapped
        return inner

    def _follow(self) -> None:
        """Count anew if games have changed by anything but the calls of this wrapper."""
        inner = self.unwrapped
        if self._changes != inner.changes:
            self._forget(np.ones(self.num_envs, np.bool_))
            self._over[:] = inner.games.over
            self._changes = inner.changes

    def _forget(self, rows: np.ndarray) -> None:
        self._returns[rows], self._lengths[rows], self._over[rows] = 0.0, 0, False
