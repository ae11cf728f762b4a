"""Snapshots of an AEC environment, and the check that one fits an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from azumaya.envs.adapters.aec.single import SingleGame
from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.checksum import checksum_key
from azumaya.envs.position import MAX_SEED
from azumaya.envs.setup import Setup

AGENTS = ("player_0", "player_1")


@dataclass(frozen=True)
class EnvState:
    """A snapshot of an environment, for search: see `raw_env.RawEnv.get_state`."""

    states: np.ndarray
    start: np.ndarray
    setup: Setup
    seed: int | None
    episode: int
    last_action: int | None
    selection: str
    skip_selection: str | None
    agents: tuple[str, ...]
    terminations: Mapping[str, bool]
    truncations: Mapping[str, bool]
    rewards: Mapping[str, float]
    cumulative_rewards: Mapping[str, float]
    checksum: int = 0

    def sealed(self, now: SingleGame) -> EnvState:
        """The same snapshot, of the environment of a game, with its checksum."""
        return replace(self, checksum=self.checksum_for(now))

    def checksum_for(self, now: SingleGame) -> int:
        """The checksum of everything in the snapshot, for the game and action space of `now`."""
        rest = (
            self.setup.origin, self.seed, self.episode, self.last_action, self.selection,
            self.skip_selection, self.agents, self.terminations, self.truncations, self.rewards,
            self.cumulative_rewards,
        )  # fmt: skip
        return now.checksum(self.states, self.start) ^ int(checksum_key(repr(rest)))


def check_moment(moment: Any, now: SingleGame) -> None:
    """Reject anything that `get_state` of an environment like that of `now` did not return.

    Raises:
        OptionError: this is not such a snapshot, or it was changed.
    """
    game = now.game
    if not isinstance(moment, EnvState) or not _are_states(
        game.rules.state, moment.states, moment.start
    ):
        raise OptionError(f"moment: must be a state that get_state() of {game.title} returned")
    setup = moment.setup
    if not isinstance(setup, Setup) or setup.num_actions != now.num_actions:
        raise OptionError("moment: it comes from an environment with another action space")
    whole = (
        _is_whole(moment)
        and setup.starts.dtype == game.rules.state
        and (moment.last_action is None or 0 <= moment.last_action < setup.num_actions)
        and _is_sealed(moment, now)
    )
    if not whole:
        raise OptionError("moment: it was changed after get_state() returned it")


def _is_sealed(moment: EnvState, now: SingleGame) -> bool:
    try:
        return moment.checksum == moment.checksum_for(now)
    except ValueError:  # a reward of 5,000 digits, which Python does not write
        return False


def _are_states(kind: np.dtype[Any], *states: Any) -> bool:
    return all(isinstance(s, np.ndarray) and s.shape == (1,) and s.dtype == kind for s in states)


def _is_whole(moment: EnvState) -> bool:
    """Whether the fields of a moment, apart from its states, have their types and fit together."""
    flags, gains = (moment.terminations, moment.truncations), (
        moment.rewards, moment.cumulative_rewards,
    )  # fmt: skip
    numbers, action = (moment.seed, moment.episode, moment.checksum), moment.last_action
    return (
        all(type(number) is int and 0 <= number <= MAX_SEED for number in numbers)
        and (action is None or type(action) is int)
        and _is_agent(moment.selection)
        and (moment.skip_selection is None or _is_agent(moment.skip_selection))
        and isinstance(moment.agents, tuple)
        and all(map(_is_agent, moment.agents))
        and all(_is_by_agent(named, moment.agents, bool) for named in flags)
        and all(_is_by_agent(named, moment.agents, int | float) for named in gains)
    )


def _is_agent(name: Any) -> bool:
    return isinstance(name, str) and name in AGENTS


def _is_by_agent(named: Any, agents: tuple[str, ...], kind: Any) -> bool:
    """Whether a mapping has a value of a kind for each of the agents, and no unknown keys."""
    return (
        isinstance(named, Mapping)
        and set(agents) <= named.keys() <= set(AGENTS)
        and all(isinstance(value, kind) for value in named.values())
    )
