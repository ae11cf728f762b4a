"""Every game in a batch behaves, step by step, as its PettingZoo environment does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from azumaya.baselines.cli.contract import (
    BATCH_SEEDS,
    check_batch,
    check_row,
    check_step,
    is_over,
)
from azumaya.envs.adapters.aec.raw_env import RawEnv
from tests.cases import Case
from tests.vector.cases import EACH_NIGHTLY, EVERY_GAME, PLIES, SOME, pick, vector

SEEDS = [*BATCH_SEEDS]


@pytest.mark.parametrize("case", SOME, ids=lambda case: case.label)
def test_next_step_mode(case: Case) -> None:
    """The step after the end of a game resets it, whatever the action."""
    check_batch(case.game, case.options, random.Random(1), PLIES)


@EACH_NIGHTLY
@pytest.mark.parametrize("mode", ["SameStep", "Disabled"])
def test_other_modes(case: Case, mode: str) -> None:
    """The step that ends a game resets it and shows its end in the infos, or only `reset` does."""
    rng, ends = np.random.default_rng(2), 0
    games, envs = vector(case, 3, autoreset_mode=mode), [case.raw() for _ in SEEDS]
    observations, infos = games.reset(seed=SEEDS)
    for env, seed in zip(envs, SEEDS, strict=True):
        env.reset(seed=seed)
    for _ in range(PLIES + 1):  # so that the last end is followed by a reset
        actions = pick(observations["action_mask"], rng)
        results = games.step(actions)
        observations, infos = results[0], results[-1]
        for row, env in enumerate(envs):
            mover = env.agent_selection
            env.step(int(actions[row]))
            check_step(row, env, mover, results)
        over = np.array([is_over(env) for env in envs])
        ends += int(over.sum())
        if mode == "SameStep":
            check_finals(envs, np.flatnonzero(over).tolist(), infos)
        else:
            check_rows(envs, observations, infos)
            if over.any():
                observations, infos = games.reset(options={"reset_mask": over})
        for row in np.flatnonzero(over):
            envs[row].reset()
        check_rows(envs, observations, infos)
    assert ends or PLIES < 400


def check_rows(envs: list[RawEnv], observations: Any, infos: Any) -> None:
    """Each row of a batch is that of its environment."""
    for row, env in enumerate(envs):
        check_row(row, env, observations, infos)


def check_finals(envs: list[RawEnv], over: list[int], infos: Any) -> None:
    """The infos show the ends of the games that are over, and of no others."""
    assert ("final_obs" in infos) == bool(over)
    if not over:
        return
    assert np.flatnonzero(infos["_final_obs"]).tolist() == over
    assert np.flatnonzero(infos["_final_info"]).tolist() == over
    final = infos["final_info"]
    for row in over:
        assert final["rewards"][row].tolist() == infos["rewards"][row].tolist()
        seen = {name: {row: array} for name, array in infos["final_obs"][row].items()}
        check_row(row, envs[row], seen, final)


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
