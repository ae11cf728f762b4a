"""The AEC environment wrapped as PettingZoo's classic games are, and the modules of the games."""

from __future__ import annotations

from typing import Any

import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.game import Game

ILLEGAL_REWARD = -1.0


class TerminateIllegal(wrappers.TerminateIllegalWrapper):
    """PettingZoo's wrapper, but always with the mask of the position as it is now.

    PettingZoo's keeps the mask of the last `observe`, which is out of date once a state was
    restored.
    """

    def step(self, action: Any) -> None:
        """Make a move; an illegal one ends the game, lost.

        Raises:
            IllegalActionError: the action is a truth value, which is a number to PettingZoo.
        """
        raw = self.env.unwrapped
        if isinstance(action, bool | np.bool_):
            raw.position.check_action(action)
        agent = raw.agent_selection
        self._prev_obs = {"action_mask": raw._masks[agent]}
        super().step(action)


class OrderEnforcing(wrappers.OrderEnforcingWrapper):
    """PettingZoo's wrapper, which also tells a `last` after the end, when all agents are gone."""

    def last(
        self, observe: bool = True
    ) -> tuple[dict[str, np.ndarray] | None, float, bool, bool, dict[str, Any]]:
        """What the agent to act sees, and how it stands, as PettingZoo has it."""
        try:
            return super().last(observe)
        except KeyError:  # asked for first, `agents` would be looked up through three wrappers
            if self.agents:
                raise
            raise self.unwrapped._nobody("last") from None

    def __str__(self) -> str:
        """The environment's name, as PettingZoo's wrapper gives it."""
        return str(self.env)


def wrap(raw: AECEnv[Any, Any, Any]) -> AECEnv[Any, Any, Any]:
    """A raw environment wrapped as PettingZoo's classic games are."""
    env = TerminateIllegal(raw, illegal_reward=ILLEGAL_REWARD)
    return OrderEnforcing(wrappers.AssertOutOfBoundsWrapper(env))


def environment_module(game: Game) -> tuple[Any, Any]:
    """The functions `env` and `raw_env` of a game's module."""

    def env(render_mode: str | None = None, **options: Any) -> AECEnv[Any, Any, Any]:
        return wrap(raw_env(render_mode=render_mode, **options))

    def raw_env(render_mode: str | None = None, **options: Any) -> RawEnv:
        return RawEnv(game, render_mode=render_mode, **options)

    env.__doc__ = (
        f"{game.title}, wrapped as PettingZoo's classic games are: an illegal move loses the game."
    )
    raw_env.__doc__ = (
        f"{game.title} without wrappers (`RawEnv`): an illegal move raises `IllegalActionError`."
    )
    return env, raw_env
