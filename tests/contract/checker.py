"""Environments that must be alike; `azumaya.baselines.cli.contract` has what each game keeps."""

from __future__ import annotations

import random

from azumaya.baselines.cli.contract import is_over, legal_of
from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.adapters.aec.raw_env import RawEnv


def check_twin(env: RawEnv, twin: RawEnv, rng: random.Random, plies: int) -> None:
    """Two environments look alike, play alike and do not affect each other."""
    assert fingerprint(env) == fingerprint(twin)
    for _ in range(plies):
        if is_over(env):
            return
        action = int(rng.choice(legal_of(env)))
        before = fingerprint(env)
        twin.step(action)
        assert fingerprint(env) == before
        env.step(action)
        assert fingerprint(env) == fingerprint(twin)


def fingerprint(env: RawEnv) -> tuple[object, ...]:
    """Everything a user can see of an environment, as bytes and plain values."""
    return (
        env.position.state.tobytes(),
        str(env.position),
        env.agent_selection,
        tuple(env.agents),
        tuple(sorted(env.rewards.items())),
        tuple(sorted(env._cumulative_rewards.items())),
        tuple(sorted(env.terminations.items())),
        tuple(sorted(env.truncations.items())),
        tuple(env.observe(agent)["observation"].tobytes() for agent in AGENTS),
        tuple(env.observe(agent)["action_mask"].tobytes() for agent in AGENTS),
        tuple(env.infos[agent]["action_mask"].tobytes() for agent in env.agents),
    )
