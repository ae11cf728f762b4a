"""One seat as a Gymnasium environment."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from azumaya.baselines.agents import GreedyAgent, RandomAgent
from azumaya.envs import GAMES, OptionError
from azumaya.wrappers import SingleAgentEnv


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_and_sb3_accept_it(game: str) -> None:
    check_env(SingleAgentEnv(game, render_mode=None), skip_render_check=True)
    sb3_check_env(SingleAgentEnv(game, RandomAgent()))


def episode(env: SingleAgentEnv, seed: int | None = None) -> list[float]:
    """The rewards of an episode of random legal actions."""
    _, info = env.reset(seed=seed)
    generator, rewards, over = np.random.default_rng(0), [], False
    while not over:
        action = int(generator.choice(np.flatnonzero(info["action_mask"])))
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        over = terminated or truncated
    return rewards


@pytest.mark.parametrize("game", GAMES)
def test_the_learner_sees_its_losses(game: str) -> None:
    """A random learner against greedy loses most games, and is told so."""
    env = SingleAgentEnv(game, GreedyAgent())
    results = [sum(episode(env, seed=5 if i == 0 else None)) for i in range(30)]
    assert set(results) <= {-1.0, 0.0, 1.0}
    assert results.count(-1.0) > results.count(1.0)


def test_the_last_reward_is_the_return() -> None:
    env = SingleAgentEnv("sudoku_moyo", GreedyAgent(), seat=1)
    for _ in range(10):
        rewards = episode(env)
        assert not any(rewards[:-1])
        assert rewards[-1] == env.position.returns()[1]


@pytest.mark.parametrize(("seat", "seats"), [(0, {0}), (1, {1}), ("alternating", {0, 1})])
def test_seats(seat: int | str, seats: set[int]) -> None:
    env = SingleAgentEnv("abalone", seat=seat)
    taken = [env.reset(seed=3 if i == 0 else None)[1]["seat"] for i in range(6)]
    assert set(taken) == seats
    if seat == "alternating":
        assert taken == [0, 1, 0, 1, 0, 1]


def test_random_seats_come_from_the_seed() -> None:
    envs = [SingleAgentEnv("abalone", seat="random") for _ in range(2)]
    seats = [[env.reset(seed=9 if i == 0 else None)[1]["seat"] for i in range(20)] for env in envs]
    assert seats[0] == seats[1]
    assert set(seats[0]) == {0, 1}


def test_an_illegal_action_loses_the_game() -> None:
    env = SingleAgentEnv("sudoku_moyo", seat=0)
    _, info = env.reset(seed=1)
    before = str(env.position)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "rule" in info["illegal"]
    assert str(env.position) == before


def test_same_seed_same_episode() -> None:
    envs = [SingleAgentEnv("sudoku_tiles", GreedyAgent(), seat="random") for _ in range(2)]
    assert episode(envs[0], seed=2) == episode(envs[1], seed=2)
    assert str(envs[0].position) == str(envs[1].position)


@pytest.mark.parametrize("seat", [2, -1, True, "both", None])
def test_bad_seats(seat: object) -> None:
    with pytest.raises(OptionError, match="seat="):
        SingleAgentEnv("abalone", seat=seat)  # type: ignore[arg-type]
