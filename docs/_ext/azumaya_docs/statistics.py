"""Statistics of uniformly random play for each game, stored in `docs/_data/statistics.json`.

    PYTHONPATH=docs/_ext python -m azumaya_docs.statistics

writes the file again, in less than a minute. A test replays the first games of each, so that the
file cannot become outdated unnoticed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs import GAMES, make_vec

FILE = Path(__file__).parents[2] / "_data" / "statistics.json"
GAMES_PLAYED = 2000
SEED = 0
SAMPLE = 25
"""The number of games whose plies are stored one by one, for the test."""


def play_at_random(name: str, games: int) -> dict[str, np.ndarray]:
    """Play random games, each in its own environment of a vector environment with one seed.

    Returns:
        For each game, `(games,)` int64: `plies`, `choices` (legal actions, summed over the plies),
        `most` (the largest number of legal actions), `gain` (player_0's return), `cut` (1 if the
        game was truncated).
    """
    envs = make_vec(name, games, observation="none", threads=1)
    seen = {key: np.zeros(games, np.int64) for key in ("plies", "choices", "most", "gain", "cut")}
    _, infos = envs.reset(seed=SEED)
    running = np.ones(games, bool)
    while running.any():
        legal = infos["action_mask"].sum(axis=1, dtype=np.int64)
        seen["plies"] += running
        seen["choices"] += np.where(running, legal, 0)
        seen["most"] = np.maximum(seen["most"], np.where(running, legal, 0))
        _, _, ended, cut, infos = envs.step(envs.random_actions())
        seen["gain"] += np.where(running, infos["rewards"][:, 0], 0).astype(np.int64)
        seen["cut"] += running & cut
        running &= ~(ended | cut)
    envs.close()
    return seen


def summary(name: str, games: int = GAMES_PLAYED) -> dict[str, Any]:
    """The statistics of one game, as JSON values."""
    seen = play_at_random(name, games)
    plies, gain = seen["plies"], seen["gain"]
    low, middle, high = np.percentile(plies, [5, 50, 95], method="nearest").tolist()
    return {
        "games": games,
        "seed": SEED,
        "plies": {
            "mean": round(float(plies.mean()), 2),
            "percentiles": [low, middle, high],
            "least": int(plies.min()),
            "most": int(plies.max()),
        },
        "branching": {
            "mean": round(float(seen["choices"].sum() / plies.sum()), 2),
            "most": int(seen["most"].max()),
        },
        "wins": [int((gain > 0).sum()), int((gain < 0).sum())],
        "draws": int(((gain == 0) & (seen["cut"] == 0)).sum()),
        "cut_off": int(((gain == 0) & (seen["cut"] == 1)).sum()),
        "first_plies": plies[:SAMPLE].tolist(),
    }


def read_all() -> dict[str, dict[str, Any]]:
    """The stored statistics of all games, by name."""
    found: dict[str, dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


def main() -> None:
    """Write the file again."""
    made = {name: summary(name) for name in GAMES}
    FILE.write_text(json.dumps(made, indent=1) + "\n", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
