"""Snapshots of an AEC environment, and the check that one fits an environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.envs.adapters.aec.single import SingleGame
from azumaya.envs.errors import OptionError
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
    checksum: int


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
    agents, by_agent = moment.agents, (
        moment.terminations, moment.truncations, moment.rewards, moment.cumulative_rewards,
    )  # fmt: skip
    whole = (
        moment.checksum == now.checksum(moment.states, moment.start)
        and setup.starts.dtype == game.rules.state
        and moment.selection in AGENTS
        and moment.skip_selection in (None, *AGENTS)
        and set(agents) <= set(AGENTS)
        and all(set(agents) <= set(named) <= set(AGENTS) for named in by_agent)
    )
    if not whole:
        raise OptionError("moment: it was changed after get_state() returned it")


def _are_states(kind: np.dtype[Any], *states: Any) -> bool:
    return all(isinstance(s, np.ndarray) and s.shape == (1,) and s.dtype == kind for s in states)
