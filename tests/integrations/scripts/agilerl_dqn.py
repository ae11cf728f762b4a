"""AgileRL: masked DQN for one seat against a random opponent, in four environments."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms.dqn import DQN
from agilerl.components.data import Transition
from agilerl.components.replay_buffer import ReplayBuffer

import azumaya.envs  # noqa: F401 - registers the games

GAME = "vierer_dominari"
STEPS = 200


def make_envs() -> gymnasium.vector.VectorEnv:
    """Gymnasium's vector environment of single seats; the masks are in its infos."""
    return gymnasium.make_vec(
        f"azumaya/{GAME}-v0",
        num_envs=4,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
    )


def make_agent(envs: gymnasium.vector.VectorEnv) -> DQN:
    """A small network over the flattened planes."""
    size = int(np.prod(envs.single_observation_space.shape))
    space = gymnasium.spaces.Box(0, 127, (size,), np.float32)
    return DQN(space, envs.single_action_space, batch_size=64, lr=1e-3)


def transition(obs: np.ndarray, action: np.ndarray, step: tuple[Any, ...]) -> Any:
    """What one step of all environments adds to the replay buffer."""
    following, reward, terminated, truncated, infos = step
    following = following.copy()
    for game in np.flatnonzero(terminated | truncated):
        following[game] = infos["final_obs"][game]
    added = Transition(
        obs=flat(obs),
        action=action,
        next_obs=flat(following),
        reward=reward,
        done=terminated,
        batch_size=[len(obs)],
    )
    return added.to_tensordict()


def flat(planes: np.ndarray) -> np.ndarray:
    """The planes as one row of float32 for each game."""
    return planes.reshape(len(planes), -1).astype(np.float32)


def main() -> None:
    """Play with masks and learn; no action may be illegal."""
    torch.manual_seed(1)
    np.random.seed(1)
    envs = make_envs()
    agent, memory = make_agent(envs), ReplayBuffer(max_size=4096)
    obs, infos = envs.reset(seed=1)
    rewards, losses = [], []
    for number in range(STEPS):
        mask = np.stack(infos["action_mask"])
        action = agent.get_action(flat(obs), epsilon=0.2, action_mask=mask)
        assert mask[np.arange(len(mask)), action].all()
        step = envs.step(action)
        memory.add(transition(obs, action, step))
        obs, infos = step[0], step[4]
        assert "illegal" not in infos.get("final_info", infos)
        rewards.append(step[1])
        if number >= 32 and number % 4 == 0:
            losses.append(agent.learn(memory.sample(agent.batch_size)))
    assert np.isfinite(losses).all()
    assert np.abs(rewards).any()
    done = {"game": GAME, "algorithm": "DQN", "steps": STEPS * len(mask), "updates": len(losses)}
    print(json.dumps({**done, "games won": int((np.array(rewards) > 0).sum())}))


if __name__ == "__main__":
    main()
