"""PufferLib's ocean environments: C, stepped from Python, random actions and no legal mask."""

# This script runs in the peer's environment, whose types are not available here.
# mypy: ignore-errors

import importlib

import numpy as np
from script import Script

GAMES = {"checkers": "Checkers", "go": "Go", "connect4": "Connect4", "tripletriad": "TripleTriad"}
BATCHES = (64, 1024, 4096)
CHUNK = 20_000
INCLUDES = (
    "one agent action (mostly illegal, as there is no mask) and the built-in opponent's reply; "
    "observation, reward and end written to shared buffers, autoreset; actions drawn before"
)


def stepper(game, name, batch):
    """The chunk to measure."""
    env = getattr(importlib.import_module(f"pufferlib.ocean.{game}.{game}"), name)(num_envs=batch)
    env.reset(seed=0)
    rng, agents = np.random.default_rng(0), env.num_agents
    space = env.single_action_space
    if hasattr(space, "n"):
        table = rng.integers(0, space.n, (64, agents)).astype(np.int32)
    else:
        table = rng.integers(0, space.nvec, (64, agents, len(space.nvec))).astype(np.int32)
    rounds, turn = max(1, CHUNK // agents), 0

    def chunk():
        nonlocal turn
        for _ in range(rounds):
            turn += 1
            env.step(table[turn & 63])
        return rounds * agents

    return chunk


def main():
    """Measure all games in several batch sizes."""
    script = Script(__doc__)
    for game, name in GAMES.items():
        if not script.wants(game):
            continue
        for batch in BATCHES:
            with script.attempt(game, f"batch {batch}"):
                chunk = stepper(game, name, batch)
                script.row(game, f"batch {batch}", "batch step", INCLUDES, chunk)


if __name__ == "__main__":
    main()
