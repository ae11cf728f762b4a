"""PettingZoo's classic games: the AEC loop with a random pick from the mask."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

import importlib
import random
import warnings

import numpy as np
from script import Script

warnings.simplefilter("ignore", DeprecationWarning)

GAMES = {
    "connect_four_v3": ({}, 20),
    "tictactoe_v3": ({}, 40),
    "go_v5": ({"board_size": 9}, 1),
    "chess_v6": ({}, 1),
}
"""The arguments of each game, and the episodes between two readings of the clock."""
INCLUDES = (
    "one applied move: last() (observation and mask), np.flatnonzero(mask), random pick, step(); "
    "resets and the None steps of finished agents count in the time but not as moves"
)


def player(env, rng, episodes):
    """A function that plays some random episodes and returns the number of moves."""

    def play():
        moves = 0
        for _ in range(episodes):
            env.reset(seed=rng.randrange(1 << 30))
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[int(rng.random() * len(legal))]))
                moves += 1
        return moves

    return play


def main():
    """Measure all games, bare and wrapped."""
    script = Script(__doc__)
    for game, (arguments, episodes) in GAMES.items():
        if not script.wants(game):
            continue
        for form in ("raw_env", "env"):
            with script.attempt(game, form):
                env = getattr(importlib.import_module(f"pettingzoo.classic.{game}"), form)
                chunk = player(env(**arguments), random.Random(0), episodes)
                script.row(game, form, f"aec {form}", INCLUDES, chunk)


if __name__ == "__main__":
    main()
