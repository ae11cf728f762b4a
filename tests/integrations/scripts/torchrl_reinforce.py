"""TorchRL: REINFORCE with action masks, both seats played by one policy."""

from __future__ import annotations

import json

import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs import MarlGroupMapType, PettingZooWrapper, check_env_specs
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from azumaya.envs import raw

GAME = "vierer_dominari"
GAMES = 4
PLAYERS = MarlGroupMapType.ALL_IN_ONE_GROUP


def make_env() -> PettingZooWrapper:
    """Both players in one group, `agents`; `raw` raises an error at an illegal action."""
    return PettingZooWrapper(raw(GAME), use_mask=True, group_map=PLAYERS)


class Net(nn.Module):
    """A small network: planes of any batch shape to one logit for each action."""

    def __init__(self, env: PettingZooWrapper) -> None:
        super().__init__()
        planes = env.observation_spec["agents", "observation", "observation"].shape[1:]
        actions = env.observation_spec["agents", "action_mask"].shape[-1]
        self.layers = nn.Sequential(
            nn.Linear(planes.numel(), 64), nn.ReLU(), nn.Linear(64, actions)
        )

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """The logits."""
        return self.layers(planes.float().flatten(-3))


def make_policy(env: PettingZooWrapper) -> ProbabilisticActor:
    """One policy for both players; its distribution gets the mask."""
    logits = TensorDictModule(
        Net(env),
        in_keys=[("agents", "observation", "observation")],
        out_keys=[("agents", "logits")],
    )
    return ProbabilisticActor(
        logits,
        in_keys={"logits": ("agents", "logits"), "mask": ("agents", "action_mask")},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
    )


def main() -> None:
    """Check the specs, play games and learn from each."""
    torch.manual_seed(1)
    env = make_env()
    check_env_specs(env)
    policy = make_policy(env)
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3)
    steps = 0
    for _ in range(GAMES):
        with torch.no_grad():
            played = env.rollout(1000, policy)
        players = played["agents"]
        chosen = players["action_mask"].gather(-1, players["action"].unsqueeze(-1)).squeeze(-1)
        assert chosen[players["mask"]].all()
        returns = played["next", "agents", "reward"].sum(0).squeeze(-1)
        assert played["next", "done"][-1]
        assert returns.sum() == 0
        assert returns.abs().max() > 0
        log_probs = policy.get_dist(played).log_prob(players["action"])
        loss = -(log_probs * returns)[players["mask"]].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += len(played)
    done = {"game": GAME, "algorithm": "REINFORCE", "steps": steps, "games": GAMES}
    print(json.dumps({**done, "loss": float(loss)}))


if __name__ == "__main__":
    main()
