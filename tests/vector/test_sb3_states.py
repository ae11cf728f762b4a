"""States of the SB3 vector environment: a restored state continues as the original did."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.wrappers.sb3 import AzumayaVecEnv
from tests.vector.cases import first_legal, last_legal

BOTH = {"random": 0.5, "greedy": 0.5}
ARRAYS = ("states", "series", "seats")


def made(game: str = "sudoku_moyo", count: int = 5, **arguments: Any) -> AzumayaVecEnv:
    return AzumayaVecEnv(game, count, opponent=BOTH, **arguments)


def played(env: AzumayaVecEnv, steps: int) -> list[np.ndarray]:
    """All results of steps with the first legal actions."""
    seen = []
    for _ in range(steps):
        observations, rewards, dones, _ = env.step(env.action_masks().argmax(axis=1))
        seen += [observations.copy(), rewards, dones, env.action_masks().copy()]
    return seen


@pytest.mark.parametrize("game", ["sudoku_moyo", "sudoku_tiles"])
def test_a_restored_state_continues_as_before(game: str) -> None:
    """Also across the ends of episodes, with seats and opponents."""
    env, other = made(game, shaping=0.1, seed=3), made(game, shaping=0.1, seed=4)
    env.reset()
    other.reset()
    played(env, 7)
    state = env.get_state()
    expected = played(env, 60)
    assert any(dones.any() for dones in expected[2::4])
    observations = other.set_state(state)
    np.testing.assert_array_equal(observations, other.duel.planes)
    for seen, wanted in zip(played(other, 60), expected, strict=True):
        np.testing.assert_array_equal(seen, wanted)
    fresh = made(game, shaping=0.1)
    fresh.set_state(state)  # before any reset
    np.testing.assert_array_equal(played(fresh, 1)[0], expected[0])


def test_gains_before_the_learners_first_turn_are_part_of_a_state() -> None:
    """The first reward after `set_state` includes them, as it would have without."""
    env, other = (made("sudoku_tiles", seat=1, reward="points", seed=3 + i) for i in range(2))
    env.reset()
    other.reset()
    assert any(position.returns()[1] for position in env.env_method("position"))
    other.set_state(env.get_state())
    _, rewards, dones, _ = played(other, 1)
    gained = [position.returns()[1] for position in other.env_method("position")]
    assert not dones.any()
    assert rewards.tolist() == gained
    np.testing.assert_array_equal(rewards, played(env, 1)[1])


def test_states_that_do_not_fit_change_nothing() -> None:
    env = made(seed=1)
    with pytest.raises(ResetNeeded, match="get_state"):
        env.get_state()
    env.reset()
    state = env.get_state()
    wrong: list[Any] = [None, (), {}, {**state, "more": 1}]
    wrong += [{**state, name: state[name][:-1]} for name in ARRAYS]
    wrong += [{**state, name: np.zeros(5)} for name in state]
    wrong += [{**state, "opponents": {0: first_legal}}, {**state, "opponents": {2: "greedy"}}]
    wrong += [{**state, "opponents": {"2": first_legal}}]
    for field, value in (("seat", 1 - state["seats"]["seat"]), ("opponent", 7)):
        seats = state["seats"].copy()
        seats[field] = value
        wrong.append({**state, "seats": seats})
    over = state["states"].copy()
    over["over"] = 1
    wrong.append({**state, "states": over})
    for each in wrong:
        with pytest.raises(OptionError):
            env.set_state(each)
        now = env.get_state()
        assert all(now[name].tobytes() == state[name].tobytes() for name in ARRAYS)
        assert now["opponents"] == state["opponents"] == {}
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.set_state(state)


@pytest.mark.parametrize("others", [[last_legal, first_legal], "random", [first_legal]])
def test_games_go_on_against_their_own_opponents(others: Any) -> None:
    """Whatever opponents the other environment has, and in whatever order it was given them."""
    given = [(first_legal, 1), (last_legal, 1)]
    env = AzumayaVecEnv("vierer_dominari", 6, opponent=given, seed=1)
    env.reset()
    assert len(set(env.get_state()["seats"]["opponent"].tolist())) == 2
    state = env.get_state()
    expected = played(env, 12)
    ended = next((i for i, dones in enumerate(expected[2::4]) if dones.any()), 12)
    weights = others if isinstance(others, str) else [(other, 1) for other in others]
    other = AzumayaVecEnv("vierer_dominari", 6, opponent=weights, seed=2)
    for saved in (state, pickle.loads(pickle.dumps(state))):
        other.set_state(saved)
        assert {*other.get_state()["opponents"].values()} == {first_legal, last_legal}
        for seen, wanted in zip(played(other, ended), expected, strict=False):
            np.testing.assert_array_equal(seen, wanted)


def test_opponents_of_restored_games_are_not_kept_for_ever() -> None:
    env = AzumayaVecEnv("vierer_dominari", 3, opponent=first_legal, seed=1)
    env.reset()
    state = env.get_state()
    env.set_opponent("random")
    for _ in range(3):
        env.set_state({**state, "opponents": {2: lambda planes, masks: masks.argmax(axis=1)}})
    assert len(env.duel.opponents.others) == 1
    played(env, 1)


def test_a_state_without_its_opponent_is_refused() -> None:
    env = AzumayaVecEnv("vierer_dominari", 3, opponent=first_legal, seed=1)
    env.reset()
    with pytest.raises(OptionError, match="an opponent that is not among the state's opponents"):
        env.set_state({**env.get_state(), "opponents": {}})


def test_actions_are_played_once_and_as_they_were_when_stored() -> None:
    env = made(seed=1)
    env.reset()
    with pytest.raises(IllegalActionError, match="call step_async first"):
        env.step_wait()
    actions = env.action_masks().argmax(axis=1)
    env.step_async(actions)
    actions[:] = -1
    env.step_wait()
    with pytest.raises(IllegalActionError, match="call step_async first"):
        env.step_wait()


def test_masks_belong_to_the_user() -> None:
    """Writing into masks does not change those returned later."""
    env = made(seed=1)
    env.reset()
    before = env.action_masks()
    for masks in (env.action_masks(), *env.env_method("action_masks")):
        masks[:] = 2
    assert (env.action_masks() == before).all()
    assert (np.array(env.env_method("action_masks")) == before).all()
