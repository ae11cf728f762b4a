"""Snapshots of an AEC environment, and the check that one is whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.kernels.checksum import checksum_key
from azumaya.envs.setup import Setup

AGENTS = ("player_0", "player_1")


_CHECKED = ("states", "series", "setup", "checksum")


@dataclass(frozen=True)
class EnvState:
    """A snapshot of an environment, for search: see `raw_env.RawEnv.get_state`.

    `states` and `series` are those of its game, as a vector environment of one game saves them; the
    rest is what PettingZoo adds.
    """

    states: np.ndarray
    series: np.ndarray
    setup: Setup
    last_action: int | None
    selection: str
    skip_selection: str | None
    agents: tuple[str, ...]
    terminations: Mapping[str, bool]
    truncations: Mapping[str, bool]
    rewards: Mapping[str, float]
    cumulative_rewards: Mapping[str, float]
    checksum: int = 0

    def sealed(self) -> EnvState:
        """The same snapshot with its checksum."""
        return replace(self, checksum=self._sum())

    def is_sealed(self) -> bool:
        """Whether the snapshot is as it was when it was sealed."""
        try:
            given = self.checksum
            return isinstance(self.setup, Setup) and type(given) is int and given == self._sum()
        except ValueError:  # a reward of 5,000 digits, which Python does not write
            return False

    def _sum(self) -> int:
        """The checksum of everything but the states, which the series have one of."""
        rest = [getattr(self, name) for name in _REST]
        return int(checksum_key(repr((self.setup.origin, np.asarray(self.series).tobytes(), rest))))


_REST = tuple(field.name for field in fields(EnvState) if field.name not in _CHECKED)


def check_moment(moment: Any, title: str) -> None:
    """Reject anything that `get_state` of an environment did not return.

    Raises:
        OptionError: this is no snapshot of a game with this title, or it was changed.
    """
    if not isinstance(moment, EnvState):
        raise OptionError(f"moment: must be a state that get_state() of {title} returned")
    if not moment.is_sealed():
        raise OptionError("moment: it was changed after get_state() returned it")
