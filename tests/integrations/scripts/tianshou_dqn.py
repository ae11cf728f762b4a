"""Tianshou: masked DQN for one seat, and both seats through its PettingZoo adapter."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from azumaya.envs import raw
from azumaya.wrappers import SingleAgentEnv

GAME = "vierer_dominari"


class ForTianshou(gymnasium.ObservationWrapper):
    """The planes and the mask under the names that Tianshou's DQN family looks for."""

    def __init__(self, env: SingleAgentEnv) -> None:
        super().__init__(env)
        masks = spaces.MultiBinary(int(env.action_space.n))
        self.observation_space = spaces.Dict({"obs": env.observation_space, "mask": masks})

    def observation(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        """The planes with the mask of the learner."""
        return {"obs": observation, "mask": self.env.unwrapped.action_masks()}

    def step(self, action: Any) -> Any:
        """One step; an illegal action is an error here, not a lost game."""
        *rest, info = super().step(action)
        assert "illegal" not in info, info
        return *rest, info


def make_policy(env: SingleAgentEnv) -> DiscreteQLearningPolicy:
    """A small network of action values."""
    planes, actions = env.observation_space, int(env.action_space.n)
    net = Net(state_shape=planes.shape, action_shape=actions, hidden_sizes=[64])
    return DiscreteQLearningPolicy(
        model=net, action_space=env.action_space, eps_training=0.2, eps_inference=0.2
    )


def train(policy: DiscreteQLearningPolicy) -> Any:
    """DQN against a random opponent, in four environments."""
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=50)
    training = DummyVectorEnv([lambda: ForTianshou(SingleAgentEnv(GAME)) for _ in range(4)])
    testing = DummyVectorEnv([lambda: ForTianshou(SingleAgentEnv(GAME))])
    return algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=Collector(policy, training, VectorReplayBuffer(4096, 4)),
            test_collector=Collector(policy, testing),
            max_epochs=1,
            epoch_num_steps=400,
            collection_step_num_env_steps=40,
            test_step_num_episodes=2,
            batch_size=32,
            update_step_num_gradient_steps_per_sample=0.1,
            show_progress=False,
        )
    )


def play_both_seats(policy: DiscreteQLearningPolicy) -> np.ndarray:
    """Both seats by the trained policy; `raw` raises an error at an illegal action."""
    env = DummyVectorEnv([lambda: PettingZooEnv(raw(GAME))])
    both = MultiAgentPolicy({"player_0": policy, "player_1": policy})
    both.agent_idx = {"player_0": 0, "player_1": 1}
    collector = Collector(both, env, exploration_noise=True)
    return collector.collect(n_episode=8, reset_before_collect=True).returns


def main() -> None:
    """Train one seat, play both."""
    torch.manual_seed(1)
    np.random.seed(1)
    policy = make_policy(SingleAgentEnv(GAME))
    result = train(policy)
    returns = play_both_seats(policy)
    assert result.train_step > 0
    assert returns.any()
    assert not returns.sum(axis=1).any()
    done = {"game": GAME, "algorithm": "DQN", "steps": int(result.train_step)}
    done |= {"updates": int(result.update_step), "games": int(result.train_episode)}
    print(json.dumps({**done, "returns of both seats": returns.tolist()}))


if __name__ == "__main__":
    main()
