"""States of the SB3 vector environment: a restored state continues as the original did."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.wrappers.sb3 import AzumayaVecEnv

BOTH = {"random": 0.5, "greedy": 0.5}


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
    wrong += [{**state, name: array[:-1]} for name, array in state.items()]
    wrong += [{**state, name: np.zeros(5)} for name in state]
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
        for name, array in env.get_state().items():
            assert array.tobytes() == state[name].tobytes()
    env.close()
    with pytest.raises(ClosedEnvironmentError):
        env.set_state(state)


def first_legal(planes: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """A policy."""
    return masks.argmax(axis=1)


def last_legal(planes: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Another policy."""
    return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def test_a_state_never_names_an_opponent_that_was_given_later() -> None:
    env = AzumayaVecEnv("vierer_dominari", 3, opponent=first_legal, seed=1)
    env.reset()
    state = env.get_state()
    for opponent in ("random", last_legal):
        env.set_opponent(opponent)
        env.reset()
    with pytest.raises(OptionError, match="an opponent that does not play here"):
        env.set_state(state)
    same = AzumayaVecEnv("vierer_dominari", 3, opponent=first_legal, seed=2)
    same.set_state(state)


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
