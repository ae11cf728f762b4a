"""RLlib: PPO with action masks, both seats played by one policy."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import ray
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from azumaya.envs import raw

GAME = "vierer_dominari"
ITERATIONS = 2


class ForRLlib(BaseWrapper):
    """The keys and the dtype that RLlib's masking module asks for, the planes flat."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        seen = env.observation_space("player_0")
        planes, mask = seen["observation"], seen["action_mask"]
        size = int(np.prod(planes.shape))
        self._space = spaces.Dict(
            {
                "observations": spaces.Box(0, planes.high.max(), (size,), np.float32),
                "action_mask": spaces.Box(0, 1, mask.shape, np.float32),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same space for both players."""
        return self._space

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """The planes and the mask of a player, as float32."""
        seen = self.env.observe(agent)
        return {
            "observations": seen["observation"].astype(np.float32).ravel(),
            "action_mask": seen["action_mask"].astype(np.float32),
        }


def configure() -> PPOConfig:
    """A short run in this process; `raw` raises an error at an illegal action."""
    register_env("azumaya", lambda _: PettingZooEnv(ForRLlib(raw(GAME))))
    return (
        PPOConfig()
        .environment("azumaya")
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda *_, **__: "both")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=2)
    )


def main() -> None:
    """Train, and see that games ended and that both players got their rewards."""
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    algorithm = configure().build_algo()
    for _ in range(ITERATIONS):
        result = algorithm.train()
    played = result["env_runners"]
    returns = played["agent_episode_returns_mean"]
    assert played["num_episodes_lifetime"] > 0
    assert set(returns) == {"player_0", "player_1"}
    assert abs(sum(returns.values())) < 1e-6
    assert np.isfinite(result["learners"]["both"]["total_loss"])
    done = {
        "game": GAME,
        "algorithm": "PPO",
        "steps": int(played["num_env_steps_sampled_lifetime"]),
        "games": int(played["num_episodes_lifetime"]),
        "returns": {agent: float(value) for agent, value in returns.items()},
    }
    print(json.dumps(done))


if __name__ == "__main__":
    main()
