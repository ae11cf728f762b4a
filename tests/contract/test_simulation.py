"""Random games of every variant of every game, checked at every ply."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import pytest

from azumaya.baselines.cli.contract import (
    PLY_CHECKS,
    check_seeds,
    is_over,
    legal_of,
    play_checked,
    play_out,
)
from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.kernels.spread import SPREAD_BYTES
from azumaya.envs.position import Position
from azumaya.envs.setup import _prepare_once
from tests.cases import DERIVED_CASES, SHAPES, Case
from tests.contract.checker import check_twin, fingerprint

HEAVY_EVERY = 11
TWIN_PLIES = 5
SHARE = 0.2


def at_times(env: RawEnv, rng: random.Random) -> None:
    """All checks of a ply, but not at every ply."""
    if rng.random() < SHARE:
        for check in PLY_CHECKS:
            check(env, rng)


def test_every_ply_of_a_random_game(case: Case, rng: random.Random) -> None:
    """All checks pass; rewards are zero-sum and add up to the returns; the game ends in time.

    In variants that adapters cannot tell from others the checks are made now and then.
    """
    checks = PLY_CHECKS if case in (*SHAPES, DERIVED_CASES[0]) else (at_times,)
    play_checked(case.game, case.options, rng, checks)


@pytest.mark.slow
def test_many_random_games(case: Case, rng: random.Random) -> None:
    """The same for many games, at every ply of every variant."""
    for _ in range(25):
        play_checked(case.game, case.options, rng)


def test_dead_agents_take_one_none_step_each(shape_case: Case, rng: random.Random) -> None:
    """And nothing else."""
    env = shape_case.raw()
    env.reset(seed=1)
    play_out(env, rng)
    text = str(env.position)
    for left in (2, 1):
        assert len(env.agents) == left
        with pytest.raises(ValueError, match="dead"):
            env.step(0)
        env.step(None)
    assert env.agents == []
    assert str(env.position) == text


def test_shallow_copies_share_no_game(first_case: Case) -> None:
    """`copy.copy` of an environment or a position is as independent as `copy.deepcopy`."""
    for env in (first_case.raw(), first_case.env()):
        env.reset(seed=1)
        before = str(env.unwrapped.position)
        twin = copy.copy(env)
        twin.step(int(legal_of(twin.unwrapped)[0]))
        assert str(env.unwrapped.position) == before != str(twin.unwrapped.position)
    position = first_case.position(1)
    twin = copy.copy(position)
    twin.play(twin.legal_actions()[0])
    assert str(position) == before != str(twin)


def test_copies_of_positions_keep_their_class(first_case: Case) -> None:
    class Mine(Position):
        """A class of a user."""

    mine = Mine.from_text(first_case.game, str(first_case.position(1)))
    for twin in (mine.copy(), copy.copy(mine), mine.resample_hidden(1)):
        assert type(twin) is Mine


def test_last_returns_all_rewards(shape_case: Case, rng: random.Random) -> None:
    """`last()` returns all that an agent has gained since its last step."""
    env = shape_case.raw()
    env.reset(seed=3)
    collected = dict.fromkeys(AGENTS, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last()
        collected[agent] += reward
        env.step(None if terminated or truncated else int(rng.choice(legal_of(env))))
    assert tuple(collected[agent] for agent in AGENTS) == env.position.returns()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_live_game_can_be_cloned(shape_case: Case, rng: random.Random, clone: Any) -> None:
    """Deep copies and pickles continue as the original does, at several moments and at the end."""
    for env in (shape_case.raw(), shape_case.env()):
        env.reset(seed=5)
        raw = env.unwrapped
        while True:
            twin = clone(env).unwrapped
            check_twin(raw, twin, rng, TWIN_PLIES)
            if is_over(raw):
                break
            play_out(raw, rng, HEAVY_EVERY)
        assert fingerprint(clone(raw)) == fingerprint(raw)


def test_copies_keep_their_buffers_aligned(first_case: Case) -> None:
    """Kernels store whole vectors."""
    single = first_case.raw().games
    for twin in (copy.deepcopy(single), pickle.loads(pickle.dumps(single))):
        assert all(room.ctypes.data % SPREAD_BYTES == 0 for room in (twin._masks, twin._planes))


def test_state_can_be_restored(shape_case: Case, rng: random.Random) -> None:
    """`set_state` restores a saved state in any environment, and replays from it are equal.

    Play does not change a saved state, which can be restored even after the agents are gone.
    """
    env, other = shape_case.raw(), shape_case.raw()
    env.reset(seed=7)
    other.reset(seed=8)
    play_out(env, rng, rng.randrange(12))
    moment, seen = env.get_state(), fingerprint(env)
    actions = play_out(env, rng)
    end = fingerprint(env)
    for _ in range(2):
        env.step(None)
    for again in (env, other, shape_case.raw(), env):
        again.set_state(moment)
        assert fingerprint(again) == seen
        for action in actions:
            again.step(action)
        assert fingerprint(again) == end
        for _ in range(2):
            again.step(None)


def test_the_same_seed_gives_the_same_games(case: Case, rng: random.Random) -> None:
    """Seed, options and actions determine an episode and the episodes after it."""
    check_seeds(case.game, case.options, rng)


def test_wrapped_environments_play_like_raw_ones(shape_case: Case, rng: random.Random) -> None:
    """The wrappers do not change a game of legal moves."""
    raw, env = shape_case.raw(), shape_case.env()
    raw.reset(seed=13)
    env.reset(seed=13)
    while not is_over(raw):
        action = int(rng.choice(legal_of(raw)))
        assert env.agent_selection == raw.agent_selection
        raw.step(action)
        env.step(action)
        assert fingerprint(env.unwrapped) == fingerprint(raw)


def test_a_snapshot_begins_the_episode_of_a_new_environment(first_case: Case) -> None:
    """Like `reset`; in a wrapped environment as well."""
    env, other = first_case.env(), first_case.env()
    env.reset(seed=1)
    env.step(int(legal_of(env.unwrapped)[0]))
    other.set_state(env.get_state())
    assert other.agents == env.agents
    action = int(legal_of(env.unwrapped)[0])
    for one in (env, other):
        one.step(action)
        one.last()
    assert fingerprint(other.unwrapped) == fingerprint(env.unwrapped)


# ---- start positions in pickles ----


@pytest.mark.parametrize("known", [lambda: None, _prepare_once.cache_clear], ids=["here", "new"])
def test_start_positions_are_not_pickled_but_made_again(case: Case, known: Any) -> None:
    """Where options are no files: the games that follow are the same, also in a new process."""
    env = case.raw()
    env.reset(seed=5)
    saved = pickle.dumps(env.position), pickle.dumps(env.get_state()), pickle.dumps(env)
    assert len(saved[0]) < 20_000
    known()
    position, moment, twin = map(pickle.loads, saved)
    assert position == env.position
    assert repr(position.options) == repr(env.position.options)
    for one in (env, twin):
        one.reset()
    assert fingerprint(twin) == fingerprint(env)
    for one in (env, twin):
        one.set_state(moment)
        one.reset()
    assert fingerprint(twin) == fingerprint(env)


def test_copies_share_what_never_changes(first_case: Case) -> None:
    position = first_case.position(1)
    assert copy.deepcopy(position).setup is position.setup is copy.copy(position).setup
