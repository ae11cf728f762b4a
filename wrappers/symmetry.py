"""Data augmentation: in each episode the learner plays a transformed game.

The rules of a game do not change when its board is transformed by one of `game.symmetries` or its
numbers are renamed, but a learner does not know that. These wrappers draw a transform for every
episode, show the learner the transformed game, and map its actions back, so that what it learns in
one form applies to all.

In games with regions, the regions move with the cells, so the learner sees territories that the
environment was not made with. `group=lines_within(GRID)` of `azumaya.envs.geometry` leaves every
block in place, and so every territory that consists of blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from pettingzoo.utils.wrappers import BaseWrapper

from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.adapters.copying import CopiedDeeply
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.geometry.symmetry import Factor
from azumaya.envs.position import Position
from azumaya.envs.whole import as_whole
from azumaya.wrappers.draws import Draws
from azumaya.wrappers.single_agent import SingleAgentEnv
from azumaya.wrappers.transform import Transform


def _check_shown(env: Any, seen: Any, original: Any) -> None:
    """Refuse an environment whose observations another wrapper has changed; `OptionError`."""
    if seen != original:
        raise OptionError(
            f"env={brief(env)}: its observations are not those of the game; augment the "
            "environment first, then wrap it in what changes observations"
        )


def _shown(transform: Transform, seen: Any) -> Any:
    """An observation in the transformed game; without its mask if that is in the infos alone."""
    if not isinstance(seen, dict):
        return transform.observation(seen)
    return {
        "observation": transform.observation(seen["observation"]),
        "action_mask": transform.mask(seen["action_mask"]),
    }


def _original(transform: Transform, action: Any, space: Any) -> Any:
    """An action of the original game; as it is if the environment is to say what is wrong with it.

    Spaces do not contain all that environments take as an action, like scalars of torch.
    """
    number = as_whole(action)
    known = number is not None and 0 <= number < space.n
    return transform.inverse.action(number) if known else action


class Augmented(CopiedDeeply, gymnasium.Wrapper[Any, int, Any, int]):
    """A single-agent environment in which every episode has its own transform.

    Args:
        env: a `SingleAgentEnv`, wrapped or not.
        group: factors to draw symmetries from; None: all of the game's.
        rename: whether numbers are renamed as well.

    Observations, `action_masks()` and `info["action_mask"]` are those of the transformed game, and
    `step` takes its actions. Everything else is as without the wrapper: rewards, spaces,
    `info["seat"]`, `position`, `render`, and the opponent, which sees the original game, and whose
    moves there are in `info["opponent_moves"]`. `transform` is the transform of the current
    episode. The seed of `reset` also determines the transforms.

    Example:
        >>> from azumaya.wrappers import Augmented, SingleAgentEnv
        >>> env = Augmented(SingleAgentEnv("vierer_dominari"))
        >>> observation, info = env.reset(seed=1)

    Raises:
        OptionError: `env` is not a `SingleAgentEnv`, a wrapper has changed its observations, or
            `group` is not one of this board.
    """

    def __init__(
        self, env: Any, *, group: Sequence[Factor] | None = None, rename: bool = True
    ) -> None:
        if not isinstance(getattr(env, "unwrapped", None), SingleAgentEnv):
            raise OptionError(f"env={brief(env)}: must be a SingleAgentEnv")
        _check_shown(env, env.observation_space, env.unwrapped.observation_space)
        super().__init__(env)
        self.single: SingleAgentEnv = env.unwrapped
        self._draws = Draws(self.single.env.game, group, rename)
        self.transform = Transform(self.single.env.game)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, and draw its transform."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.transform = self._draws.next(self.single.position, seed)
        return _shown(self.transform, observation), self._seen(info)

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Play an action of the transformed game.

        If a wrapper inside begins the next episode, as Gymnasium's `Autoreset` does, its transform
        is drawn here.
        """
        episode = self.single.episodes
        played = _original(self.transform, action, self.action_space)
        observation, reward, terminated, truncated, info = self.env.step(played)
        if self.single.episodes != episode:
            self.transform = self._draws.next(self.single.position, None)
        seen = _shown(self.transform, observation)
        return seen, reward, terminated, truncated, self._seen(info)

    def _seen(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "action_mask": self.transform.mask(info["action_mask"])}

    @property
    def position(self) -> Position:
        """The current position of the original game."""
        return self.single.position

    def action_masks(self) -> np.ndarray:
        """The learner's legal actions in the transformed game, `(num_actions,)` bool."""
        mask: np.ndarray = self.transform.mask(self.single.action_masks())
        return mask


class AugmentedAEC(CopiedDeeply, BaseWrapper[str, Any, int]):
    """An AEC environment in which every episode has its own transform.

    Args:
        env: an Azumaya environment, wrapped or raw.
        group: factors to draw symmetries from; None: all of the game's.
        rename: whether numbers are renamed as well.

    Both agents see the transformed game and its masks, and play its actions. Each keeps its name
    and its rewards: if the transform swaps the players, player_0 sees what player_1 of the
    transformed game would see. `unwrapped`, `position` and pictures show the original game.
    `transform` is the transform of the current episode. The seed of `reset` also determines the
    transforms.

    Raises:
        OptionError: `env` is not an Azumaya environment, a wrapper has changed its observations,
            or `group` is not one of this board.
    """

    def __init__(
        self, env: Any, *, group: Sequence[Factor] | None = None, rename: bool = True
    ) -> None:
        if not isinstance(getattr(env, "unwrapped", None), RawEnv):
            raise OptionError(f"env={brief(env)}: must be an Azumaya environment")
        agent = AGENTS[0]
        _check_shown(env, env.observation_space(agent), env.unwrapped.observation_space(agent))
        super().__init__(env)
        self._draws = Draws(env.unwrapped.game, group, rename)
        self.transform = Transform(env.unwrapped.game)
        self._masks: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode, and draw its transform."""
        super().reset(seed=seed, options=options)
        self.transform = self._draws.next(self.unwrapped.position, seed)
        self._masks = {}

    def _mask(self, agent: str, mask: np.ndarray) -> np.ndarray:
        """A mask of the infos in the transformed game; the same array until that one is new."""
        if agent not in self._masks or self._masks[agent][0] is not mask:
            self._masks[agent] = mask, self.transform.mask(mask)
        return self._masks[agent][1]

    def observe(self, agent: str) -> Any:
        """What an agent sees of the transformed game, and its action mask there."""
        return _shown(self.transform, super().observe(agent))

    @property
    def infos(self) -> dict[str, dict[str, Any]]:
        """The infos, with the masks of the transformed game."""
        return {
            agent: {**info, "action_mask": self._mask(agent, info["action_mask"])}
            for agent, info in self.env.infos.items()
        }

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As the environment's `last`, with what the agent sees of the transformed game."""
        _, gained, ended, cut, _ = self.env.last(observe=False)  # fails if there is no agent
        agent = self.agent_selection
        return self.observe(agent) if observe else None, gained, ended, cut, self.infos[agent]

    def state(self) -> np.ndarray:
        """The transformed position as player_0 sees it."""
        planes: np.ndarray = self.transform.observation(super().state())
        return planes

    def step(self, action: int | None) -> None:
        """Play an action of the transformed game; None if the agent's game is over."""
        super().step(_original(self.transform, action, self.action_space(AGENTS[0])))
