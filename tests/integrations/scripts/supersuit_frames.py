"""SuperSuit: the last frames stacked, as float32, over the planes alone; masks from `infos`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import supersuit

from azumaya.envs import raw

GAME = "vierer_dominari"
FRAMES = 4


def make_env() -> Any:
    """SuperSuit takes planes, no dict; `raw` raises an error at an illegal action."""
    env = supersuit.dtype_v0(raw(GAME, action_mask="info"), np.float32)
    return supersuit.frame_stack_v1(env, FRAMES, stack_dim=0)


def play(env: Any, seed: int) -> tuple[int, float]:
    """One game of random legal actions; returns its steps and what `player_0` gained."""
    env.reset(seed=seed)
    rng, steps, gained = np.random.default_rng(seed), 0, 0.0
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        gained += reward if agent == "player_0" else 0.0
        if terminated or truncated:
            env.step(None)
            continue
        assert seen in env.observation_space(agent)
        planes = env.unwrapped.observe(agent)
        assert (seen[-len(planes) :] == planes).all()
        env.step(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        steps += 1
    return steps, gained


def main() -> None:
    """Play some games."""
    env = make_env()
    shape = env.observation_space("player_0").shape
    planes = raw(GAME, action_mask="info").observation_space("player_0").shape
    assert shape == (FRAMES * planes[0], *planes[1:])
    games = [play(env, seed) for seed in range(6)]
    assert any(gained for _, gained in games)
    done = {"game": GAME, "observation": list(shape), "steps": sum(steps for steps, _ in games)}
    print(json.dumps({**done, "returns": [gained for _, gained in games]}))


if __name__ == "__main__":
    main()
