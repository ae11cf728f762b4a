"""Checks that must pass at every ply of every game; shared by several tests."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np

from azumaya.envs.adapters.aec.moments import AGENTS
from azumaya.envs.adapters.aec.raw_env import RawEnv
from azumaya.envs.position import Position
from tests.cases import Case, is_over, legal_of

FORBIDDEN_SAMPLE = 6
EXPLAINED_SAMPLE = 4


def check_ply(case: Case, env: RawEnv, rng: random.Random) -> None:
    """Run all checks on the current position."""
    case.game.words.check_state(env.position.state[0])
    check_masks(env)
    check_names(env)
    check_explain(env, rng)
    check_observations(env)
    check_text(case, env.position)
    check_copy(env.position)


def check_masks(env: RawEnv) -> None:
    """Only the player to move has legal actions, and every place that shows a mask agrees."""
    position, over = env.position, is_over(env)
    mover = env.agent_selection
    assert mover == AGENTS[position.to_move]
    assert over == position.is_over
    assert position.is_over == (position.is_terminated or position.is_truncated)
    assert not (position.is_terminated and position.is_truncated)
    for agent in AGENTS:
        mask = env.observe(agent)["action_mask"]
        assert mask.dtype == np.int8
        assert mask.shape == (position.num_actions,)
        assert set(np.unique(mask)) <= {0, 1}
        assert (env.infos[agent]["action_mask"] == mask).all()
        assert mask.any() == (agent == mover and not over)
        assert env.terminations[agent] is position.is_terminated
        assert env.truncations[agent] is position.is_truncated
    assert (env.observe(mover)["action_mask"] == position.action_mask()).all()


def check_names(env: RawEnv) -> None:
    """The mask, the action numbers and the move names agree."""
    position = env.position
    actions = [] if is_over(env) else legal_of(env).tolist()
    assert position.legal_actions() == actions
    names = position.legal_moves()
    assert names == [env.move_name(a) for a in actions]
    assert [env.parse_move(name) for name in names] == actions


def check_explain(env: RawEnv, rng: random.Random) -> None:
    """`explain` calls a move legal exactly where the mask does, after its name."""
    position = env.position
    legal = position.legal_actions()
    forbidden = sorted(set(range(position.num_actions)) - set(legal))
    chosen = rng.sample(legal, min(EXPLAINED_SAMPLE, len(legal)))
    chosen += rng.sample(forbidden, min(FORBIDDEN_SAMPLE, len(forbidden)))
    for action in chosen:
        sentence = position.explain(action)
        assert sentence == position.explain(position.move_name(action))
        assert sentence.startswith(position.move_name(action))
        assert ("is legal" in sentence) == (action in legal), sentence


def check_observations(env: RawEnv) -> None:
    """Both agents can observe at any time, and each observation lies in its space."""
    game = env.game
    for player, agent in enumerate(AGENTS):
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen)
        assert (seen["observation"] == env.position.observation(player)).all()
        numbers = seen["observation"][game.observation.cell_planes :]
        assert (numbers == numbers[:, :1, :1]).all()
    assert env.state_space.contains(env.state())
    last, _, terminated, truncated, info = env.last()
    assert (last["observation"] == env.observe(env.agent_selection)["observation"]).all()
    assert (last["action_mask"] == info["action_mask"]).all()
    assert is_over(env) == (terminated or truncated)


def check_text(case: Case, position: Position) -> None:
    """Writing and reading a position restores all of it that at least one player can see."""
    text = str(position)
    again = case.read(text)
    assert text == " ".join(text.split())
    assert str(again) == text
    assert again.legal_actions() == position.legal_actions()
    for player in (0, 1):
        assert (again.observation(player) == position.observation(player)).all()
    assert again.returns() == position.returns()
    assert again.to_move == position.to_move
    if case.game.rules.resample is None:
        assert again.state.tobytes() == position.state.tobytes(), text
        assert again == position
    else:
        other = position.resample_hidden(1)
        assert str(other) == text
        assert (other.observation(0) == position.observation(0)).all()


def check_copy(position: Position) -> None:
    """Copies and pickles are equal and independent of the original."""
    for twin in (position.copy(), pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        assert twin == position
        assert str(twin) == str(position)
        before = position.state.tobytes()
        if not twin.is_over:
            twin.play(twin.legal_actions()[-1])
            assert twin != position
        assert position.state.tobytes() == before


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
