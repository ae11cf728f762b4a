"""Flat observations for other libraries."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

from azumaya.envs import OptionError, make, raw
from azumaya.wrappers import FlatObservations
from tests.cases import TESTED


@pytest.mark.parametrize("name", TESTED)
@pytest.mark.parametrize("maker", [raw, make])
def test_observations_are_flat_rows_of_planes_and_mask(name: str, maker: Any) -> None:
    """Of the player asked about, in the space that is declared, while games are played."""
    plain, flat = maker(name), FlatObservations(maker(name), key="obs")
    rng = np.random.default_rng(1)
    plain.reset(seed=3)
    flat.reset(seed=3)
    for agent in flat.possible_agents:
        assert flat.observation_space(agent) is flat.observation_space("player_0")
    for _ in range(12):
        for agent in plain.agents:
            seen, there = flat.observe(agent), plain.observe(agent)
            assert flat.observation_space(agent).contains(seen)
            assert np.array_equal(seen["obs"], there["observation"].ravel())
            assert np.array_equal(seen["action_mask"], there["action_mask"])
        last, *rest = flat.last()
        assert np.array_equal(last["obs"], plain.last()[0]["observation"].ravel())
        assert rest[:3] == list(plain.last()[1:4])
        assert rest[3].keys() == plain.last()[4].keys()
        assert flat.last(observe=False)[0] is None
        action = int(rng.choice(np.flatnonzero(last["action_mask"])))
        plain.step(action)
        flat.step(action)
        if any(flat.terminations.values()):
            break


def test_both_ways_to_ask_for_spaces_agree() -> None:
    env = FlatObservations(raw("vierer_dominari"))
    spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    assert env.observation_spaces == spaces
    with pytest.raises(OptionError, match="agent='nobody': must be one of player_0, player_1"):
        env.observation_space("nobody")


def test_a_copy_has_a_game_of_its_own() -> None:
    env = FlatObservations(raw("vierer_dominari"))
    env.reset(seed=1)
    other, before = copy(env), str(env.unwrapped.position)
    other.step(0)
    assert str(env.unwrapped.position) == before != str(other.unwrapped.position)


def test_other_environments_and_keys_are_refused() -> None:
    with pytest.raises(OptionError, match='action_mask="observation", its default'):
        FlatObservations(raw("vierer_dominari", action_mask="info"))
    with pytest.raises(OptionError, match="env=7"):
        FlatObservations(7)
    with pytest.raises(OptionError, match="key='action_mask': must be a text other than"):
        FlatObservations(raw("vierer_dominari"), key="action_mask")
    flat = FlatObservations(raw("vierer_dominari"))
    with pytest.raises(AttributeError, match="key"):
        flat.key = "planes"  # type: ignore[misc]
