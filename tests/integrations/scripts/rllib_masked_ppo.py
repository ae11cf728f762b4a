"""RLlib: PPO with action masks, both seats played by one policy."""

from __future__ import annotations

import json

import numpy as np

from azumaya.baselines.integrations.rllib_ppo import POLICY, Config, evaluate, train

CONFIG = Config(iterations=2, rollout=512, starts=5)


def main() -> None:
    """Train, see that games ended and that both players got their rewards, and play others."""
    algorithm, reports = train(CONFIG)
    played = reports[-1]["env_runners"]
    returns = played["agent_episode_returns_mean"]
    assert played["num_episodes_lifetime"] > 0
    assert set(returns) == {"player_0", "player_1"}
    assert abs(sum(returns.values())) < 1e-6
    assert np.isfinite(reports[-1]["learners"][POLICY]["total_loss"])
    scores = evaluate(algorithm, CONFIG)
    assert [score.games for score in scores] == [10, 10]
    done = {
        "game": CONFIG.game,
        "algorithm": "PPO",
        "steps": int(played["num_env_steps_sampled_lifetime"]),
        "games": int(played["num_episodes_lifetime"]),
        "returns": {agent: float(value) for agent, value in returns.items()},
        "rates": {score.second: score.rate for score in scores},
    }
    print(json.dumps(done))


if __name__ == "__main__":
    main()
