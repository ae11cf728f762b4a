"""PPO with action masks in RLlib: one policy for both seats.

    python -m azumaya.baselines.integrations.rllib_ppo --game vierer_dominari --iterations 20

needs RLlib (`ray[rllib]`) and the extra `cli`. RLlib is no extra of this package because it
requires one version of Gymnasium exactly. `--runners N` plays games in N processes, also on other
machines of a Ray cluster (`--address`). At the end the policy plays the random and the greedy
agent, and is saved in `--output`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModule, RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from azumaya.baselines.agents import Agent, GreedyAgent, RandomAgent
from azumaya.baselines.arena.matches import play_pairing
from azumaya.baselines.arena.rounds import Score
from azumaya.baselines.system.command_line import read_options
from azumaya.envs import Position, raw
from azumaya.wrappers.flat import FlatObservations

PROGRAM = "azumaya.baselines.integrations.rllib_ppo"
POLICY = "both"


@dataclass(frozen=True)
class Config:
    """The options of a run."""

    game: str = "vierer_dominari"
    """The game's name."""
    seed: int = 1
    """Seed of the games and the learner; runners play at their own speed, so it repeats a run only
    without them."""
    iterations: int = 20
    """Rollouts to learn from."""
    rollout: int = 4096
    """Moves in a rollout."""
    runners: int = 0
    """Processes that play games; 0 for this one."""
    learning_rate: float = 3e-4
    """Adam's learning rate."""
    starts: int = 100
    """Starts of the games against each baseline at the end, played in both seats."""
    address: str | None = None
    """The address of a Ray cluster; none: Ray is started here."""
    output: Path | None = None
    """Where the trained algorithm is saved; none: nowhere."""


class ModuleAgent(Agent):
    """The most likely move of a trained module.

    Args:
        module: RLlib's module for one policy.
    """

    name = "rllib"

    def __init__(self, module: RLModule) -> None:
        self._module = module

    def act(self, positions: Sequence[Position], keys: Sequence[int]) -> list[int]:
        """The most likely legal move in each position."""
        masks = np.stack([position.action_mask() for position in positions]).astype(np.float32)
        seen = [position.observation(position.to_move) for position in positions]
        planes = np.stack(seen).astype(np.float32)
        batch = {
            "observations": torch.from_numpy(planes.reshape(len(positions), -1)),
            "action_mask": torch.from_numpy(masks),
        }
        with torch.no_grad():
            logits = self._module.forward_inference({"obs": batch})["action_dist_inputs"]
        return [int(action) for action in logits.argmax(1)]


def configure(config: Config) -> PPOConfig:
    """RLlib's configuration; with `raw` an illegal action would raise an error."""
    register_env("azumaya", lambda _: PettingZooEnv(FlatObservations(raw(config.game))))
    return (
        PPOConfig()
        .environment("azumaya")
        .env_runners(num_env_runners=config.runners)
        .debugging(seed=config.seed)
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda *_, **__: POLICY)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(
            lr=config.learning_rate,
            train_batch_size_per_learner=config.rollout,
            minibatch_size=min(256, config.rollout),
            num_epochs=2,
            gamma=1.0,
        )
    )


def train(config: Config) -> tuple[Any, list[dict[str, Any]]]:
    """Train a policy.

    Returns:
        RLlib's algorithm, and what each iteration reported.
    """
    ray.init(address=config.address, include_dashboard=False, log_to_driver=False)
    algorithm, reports = configure(config).build_algo(), []
    for number in range(1, config.iterations + 1):
        reports.append(algorithm.train())
        played = reports[-1]["env_runners"]
        steps, games = (
            int(played[name])
            for name in ("num_env_steps_sampled_lifetime", "num_episodes_lifetime")
        )
        print(f"iteration {number}: {steps:,} moves, {games:,} games", flush=True)
    return algorithm, reports


def evaluate(algorithm: Any, config: Config) -> list[Score]:
    """Play the random and the greedy agent from balanced starts."""
    agent = ModuleAgent(algorithm.get_module(POLICY))
    baselines = (RandomAgent(), GreedyAgent())
    return [
        play_pairing(config.game, agent, other, config.starts, 1_000_000) for other in baselines
    ]


def main(config: Config) -> None:
    """Train, evaluate and save."""
    try:
        algorithm, _ = train(config)
        for score in evaluate(algorithm, config):
            low, high = score.interval()
            print(f"against {score.second}: {score.rate:.1%} ({low:.1%} - {high:.1%})")
        if config.output is not None:
            print(f"saved in {algorithm.save_to_path(str(config.output.resolve()))}")
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(read_options(Config(), None, f"python -m {PROGRAM}", __doc__))
