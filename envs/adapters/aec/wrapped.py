"""The AEC environment wrapped like PettingZoo's classic games; functions of the games' modules."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from pettingzoo.utils import wrappers

from azumaya.envs.adapters.aec.moments import EnvState
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.engine.checks import ILLEGAL_REWARD
from azumaya.envs.game import Game
from azumaya.envs.setup import POSITION


class TerminateIllegal(wrappers.TerminateIllegalWrapper):
    """PettingZoo's wrapper, but always with the mask of the current position.

    PettingZoo's keeps the mask of the last `observe`, which is out of date once a state has been
    restored, and which the user may have changed.
    """

    def step(self, action: Any) -> None:
        """Play an action; an illegal one loses the game.

        Raises:
            IllegalActionError: the action is a bool, which PettingZoo would accept as a number.
        """
        raw = self.env.unwrapped
        if isinstance(action, bool | np.bool_):
            raw.position.check_action(action)
        now = raw.games
        self._prev_obs = {"action_mask": now.mask(now.to_move)}
        # not `_terminated`, which stays set when a state before the illegal move is restored
        was_over = any(raw.terminations.values())
        super().step(action)
        if not was_over and any(raw.terminations.values()):
            raw.lose()  # the episode is over, so nothing is legal


class OrderEnforcing(CopiedDeeply, wrappers.OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's wrapper, with a clear error from `last` when all agents are gone."""

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The observation, reward, termination, truncation and info of the agent to act."""
        try:
            seen, gained, ended, cut, _ = super().last(observe)
        except KeyError:  # looking up `agents` before the call would go through three wrappers
            if self.agents:
                raise
            raise self.unwrapped._nobody("last") from None
        raw = self.unwrapped
        return seen, gained, ended, cut, raw._own_info(raw.agent_selection, seen)

    def set_state(self, moment: EnvState) -> None:
        """As the environment's `set_state`; like `reset`, it begins an episode."""
        self.env.set_state(moment)
        self._has_reset = self._has_updated = True

    @property
    def unwrapped(self) -> RawEnv:
        """The environment without wrappers."""
        raw: RawEnv = self.env.unwrapped
        return raw

    def __str__(self) -> str:
        """The environment's name, as PettingZoo's wrapper gives it."""
        return str(self.env)


def wrap(raw: RawEnv) -> OrderEnforcing:
    """Wrap a raw environment like PettingZoo's classic games."""
    env = TerminateIllegal(raw, illegal_reward=ILLEGAL_REWARD)
    return OrderEnforcing(wrappers.AssertOutOfBoundsWrapper(env))


def environment_module(
    game: Game,
) -> tuple[Callable[..., OrderEnforcing], Callable[..., RawEnv]]:
    """The functions `env` and `raw_env` of a game's module."""

    def env(render_mode: str | None = None, **options: Any) -> OrderEnforcing:
        return wrap(raw_env(render_mode=render_mode, **options))

    def raw_env(render_mode: str | None = None, **options: Any) -> RawEnv:
        return RawEnv(game, render_mode=render_mode, **options)

    _describe(
        env,
        game,
        f"{game.title}, wrapped like PettingZoo's classic games: an illegal move loses the game.",
    )
    _describe(
        raw_env,
        game,
        f"{game.title} without wrappers (`RawEnv`): an illegal move raises `IllegalActionError`.",
    )
    return env, raw_env


def _describe(function: Callable[..., Any], game: Game, what: str) -> None:
    """Make `help` and editors show a function as part of its game's module, with its keywords."""
    function.__module__ = f"azumaya.envs.{game.name}_v{game.version}"
    function.__qualname__ = function.__name__
    own = list(inspect.signature(RawEnv).parameters.values())[1:-1]  # without `game` and `options`
    keywords = [parameter.replace(annotation=parameter.empty) for parameter in own]
    keywords += [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
        for option in game.options
    ]
    keywords.append(inspect.Parameter(POSITION, inspect.Parameter.KEYWORD_ONLY, default=None))
    function.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    lines = [
        f"    {option.name}: {option.values}. {option.meaning}".rstrip() for option in game.options
    ]
    function.__doc__ = "\n".join(
        [
            what,
            "",
            "Args:",
            '    render_mode: `"human"` (a window), `"rgb_array"`, `"ansi"` or None.',
            '    action_mask: where masks appear: in the `"observation"`, or in `"info"` only.',
            *lines,
            f"    {POSITION}: a position text to start every episode from.",
            "",
            "Raises:",
            "    OptionError: an option is unknown or has an invalid value.",
            "    PositionError: the position text is malformed or impossible, or the game is over "
            "in it.",
        ]
    )
