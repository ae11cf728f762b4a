"""TorchRL: REINFORCE with action masks for both seats; one seat; many games at once."""

from __future__ import annotations

import json

import torch
from tensordict.nn import InteractionType, TensorDictModule
from torch import nn
from torchrl.envs import (
    ActionMask,
    GymEnv,
    GymWrapper,
    MarlGroupMapType,
    PettingZooWrapper,
    TransformedEnv,
    check_env_specs,
)
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from azumaya.envs import make_vec, raw

GAME = "vierer_dominari"
GAMES = 6
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
        default_interaction_type=InteractionType.RANDOM,
    )


def learn(env: PettingZooWrapper) -> dict[str, float]:
    """Play games and learn from each: the log-probability of a move times its player's return."""
    policy = make_policy(env)
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3)
    steps, won = 0, 0.0
    for _ in range(GAMES):
        with torch.no_grad():
            played = env.rollout(1000, policy)
        players = played["agents"]
        returns = played["next", "agents", "reward"].sum(0).squeeze(-1)
        assert played["next", "done"][-1]
        assert returns.sum() == 0
        log_probs = policy.get_dist(played).log_prob(players["action"])
        loss = -(log_probs * returns)[players["mask"]].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps, won = steps + len(played), won + float(returns.abs().max())
    assert won > 0
    return {"steps": steps, "games": GAMES, "games won": won, "loss": float(loss)}


def one_seat() -> int:
    """One seat against a random opponent, by its id; random legal actions."""
    env = GymEnv(f"azumaya/{GAME}-v0", action_mask="observation", categorical_action_encoding=True)
    masked = TransformedEnv(env, ActionMask())
    check_env_specs(env)
    played = masked.rollout(100, break_when_any_done=False)
    assert played["action_mask"].gather(-1, played["action"].unsqueeze(-1)).all()
    assert played["next", "reward"].abs().sum() > 0
    return len(played)


def many_games() -> int:
    """A batch of games; `illegal="lose"`, as the random actions of `rollout` know no masks."""
    env = GymWrapper(make_vec(GAME, 8, illegal="lose", autoreset_mode="Disabled"))
    played = env.rollout(20, break_when_any_done=False)
    assert played["next", "done"].any()
    return played.numel()


def main() -> None:
    """Check the specs, then do all three."""
    torch.manual_seed(1)
    env = make_env()
    check_env_specs(env)
    done = {"game": GAME, "algorithm": "REINFORCE", **learn(env)}
    print(json.dumps({**done, "one seat": one_seat(), "batch": many_games()}))


if __name__ == "__main__":
    main()
