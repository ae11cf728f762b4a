"""Observations as flat rows of float32, as many libraries' networks take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper

from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.errors import OptionError, brief

MASK = "action_mask"


class FlatObservations(CopiedDeeply, BaseWrapper[str, Any, int]):
    """An AEC environment whose observations are a flat row of planes and a row for the mask.

    Args:
        env: an Azumaya environment with masks in its observations, as `raw` and `make` give it.
        key: the name of the planes in the observation; that of the mask stays `action_mask`.
            RLlib's masking module, for example, asks for `observations`.

    Observations are `Dict({key: Box(float32, (planes * cells,)), "action_mask": Box(float32,
    (actions,))})`, the same for both players. RLlib needs the mask as float32; PettingZoo's
    `api_test`, which asks for integers, refuses it.

    Raises:
        OptionError: `env` has other observations, or `key` is `action_mask`.
    """

    def __init__(self, env: Any, key: str = "observations") -> None:
        try:
            seen = env.observation_space(env.possible_agents[0])
            planes, mask = seen["observation"], seen[MASK]
        except (AttributeError, KeyError, TypeError) as error:
            raise OptionError(
                f"env={brief(env)}: must be an Azumaya environment with "
                f'action_mask="observation", its default'
            ) from error
        if not isinstance(key, str) or key == MASK:
            raise OptionError(f"key={brief(key)}: must be a text other than {MASK!r}")
        super().__init__(env)
        self._key = key
        size = int(np.prod(planes.shape))
        self._space = spaces.Dict(
            {
                key: spaces.Box(planes.low.min(), planes.high.max(), (size,), np.float32),
                MASK: spaces.Box(0, 1, mask.shape, np.float32),
            }
        )

    @property
    def key(self) -> str:
        """The name of the planes; it cannot be set, because spaces are made with it."""
        return self._key

    @property
    def observation_spaces(self) -> dict[str, spaces.Dict]:
        """The space of each player."""
        return dict.fromkeys(self.possible_agents, self._space)

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same space for both players; raises `OptionError` for others."""
        self.env.observation_space(agent)
        return self._space

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """The planes and the mask of a player, as new rows of float32."""
        seen = self.env.observe(agent)
        return {
            self._key: seen["observation"].astype(np.float32).ravel(),
            MASK: seen[MASK].astype(np.float32),
        }

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As the environment's `last`, with this wrapper's observation."""
        _, *rest = self.env.last(observe=False)
        agent = self.env.agent_selection
        return (self.observe(agent) if observe else None, *rest)
