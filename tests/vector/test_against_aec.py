"""Every game in a batch behaves, step by step, as its PettingZoo environment does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from azumaya.baselines.cli.contract import (
    BATCH_SEEDS,
    check_batch,
    check_row,
    check_step,
    is_over,
)
from tests.cases import Case
from tests.vector.cases import EACH_NIGHTLY, EVERY_GAME, PLIES, SOME, pick, vector

SEEDS = [*BATCH_SEEDS]


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.label)
def test_next_step_mode(case: Case) -> None:
    """The step after the end of a game resets it, whatever the action."""
    check_batch(case.game, case.options, random.Random(1), PLIES)


@EACH_NIGHTLY
def test_same_step_mode(case: Case) -> None:
    """The step that ends a game resets it; the final observation is in the infos."""
    rng = np.random.default_rng(2)
    games = vector(case, 3, autoreset_mode=AutoresetMode.SAME_STEP)
    envs, ends = [case.raw() for _ in SEEDS], 0
    observations, infos = games.reset(seed=SEEDS)
    for row, env in enumerate(envs):
        env.reset(seed=SEEDS[row])
    for _ in range(PLIES):
        actions = pick(observations["action_mask"], rng)
        results = games.step(actions)
        observations, infos = results[0], results[-1]
        over = []
        for row, env in enumerate(envs):
            mover = env.agent_selection
            env.step(int(actions[row]))
            check_step(row, env, mover, results)
            if is_over(env):
                over.append(row)
                final = infos["final_info"]
                assert final["rewards"][row].tolist() == infos["rewards"][row].tolist()
                masks = {"action_mask": {row: infos["final_obs"][row]["action_mask"]}}
                seen = {"observation": {row: infos["final_obs"][row]["observation"]}}
                check_row(row, env, {**seen, **masks}, final)
                env.reset()
            check_row(row, env, observations, infos)
        assert ("final_obs" in infos) == bool(over)
        if over:
            assert np.flatnonzero(infos["_final_obs"]).tolist() == over
            assert np.flatnonzero(infos["_final_info"]).tolist() == over
        ends += len(over)
    assert ends or PLIES < 400


@EACH_NIGHTLY
def test_disabled_mode(case: Case) -> None:
    """Only `reset` starts new games, and a reset mask selects them."""
    rng = np.random.default_rng(3)
    games = vector(case, 3, autoreset_mode="Disabled")
    envs, ends = [case.raw() for _ in SEEDS], 0
    observations, _ = games.reset(seed=SEEDS)
    for row, env in enumerate(envs):
        env.reset(seed=SEEDS[row])
    for _ in range(PLIES + 1):  # so that the last end is followed by a reset
        over = np.array([is_over(env) for env in envs])
        if over.any():
            ends += int(over.sum())
            observations, infos = games.reset(options={"reset_mask": over})
            for row in np.flatnonzero(over):
                envs[row].reset()
            for row, env in enumerate(envs):
                check_row(row, env, observations, infos)
        actions = pick(observations["action_mask"], rng)
        results = games.step(actions)
        observations, infos = results[0], results[-1]
        for row, env in enumerate(envs):
            mover = env.agent_selection
            env.step(int(actions[row]))
            check_step(row, env, mover, results)
            check_row(row, env, observations, infos)
    assert ends or PLIES < 400


@EVERY_GAME
def test_one_seed_seeds_all_games(case: Case) -> None:
    """Game 0 equals the environment with the same seed in every episode; other games differ."""
    games, env = vector(case, 4), case.raw()
    for episode in range(3):
        observations, infos = games.reset(seed=11 if not episode else None)
        env.reset(seed=11 if not episode else None)
        check_row(0, env, observations, infos)
    series = games.get_state()[1]
    assert len(set(series["key"].tolist())) == 4


@EACH_NIGHTLY
def test_packed_observations_unpack_to_planes(case: Case) -> None:
    """Packed observations unpack to planes and masks, with NumPy and with torch."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    planes, packed = vector(case, 3), vector(case, 3, observation="packed")
    masks = vector(case, 3, observation="none")
    seen, words, only = (games.reset(seed=7)[0] for games in (planes, packed, masks))
    for _ in range(PLIES // 4):
        assert np.array_equal(only["action_mask"], seen["action_mask"])
        assert list(only) == ["action_mask"]
        unpacked = packed.unpack(words)
        tensors = packed.unpack({name: torch.from_numpy(array) for name, array in words.items()})
        for name, array in seen.items():
            assert unpacked[name].dtype == np.int8
            assert tensors[name].dtype == torch.int8
            assert np.array_equal(unpacked[name], array)
            assert np.array_equal(tensors[name].numpy(), array)
        actions = pick(seen["action_mask"], rng)
        seen, words, only = (games.step(actions)[0] for games in (planes, packed, masks))
