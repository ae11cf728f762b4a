"""Tiny training runs, and the part of their results that must not depend on interruptions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from azumaya.baselines.training import alphazero, maskable_ppo, ppo, value
from azumaya.baselines.training.config import RunConfig
from azumaya.baselines.training.maskable_ppo import Config
from tests.cases import YARDSTICK

WALL_CLOCK = ("time/fps", "time/time_elapsed")
"""Metrics that depend on the speed of the machine."""
SAME = (
    "config.json", "resume.safetensors", "policy.safetensors", "policy.json", "curve.json",
    "evaluation.json", "learning_curve.png",
)  # fmt: skip
"""Files compared byte for byte."""


def curve_of(folder: Path) -> list[dict[str, float]]:
    """The learning curve in a run's folder; empty if there is none yet."""
    file = folder / "curve.json"
    curve: list[dict[str, float]] = json.loads(file.read_text()) if file.exists() else []
    return curve


def lines_of(folder: Path) -> list[dict[str, float]]:
    """The metrics in a run's folder."""
    return [json.loads(line) for line in (folder / "progress.json").read_text().splitlines()]


TINY: dict[str, Any] = {
    "games": 4, "rollout": 8, "batch": 16, "epochs": 2, "width": 4, "measure_every": 64,
    "measure_starts": 2, "final_starts": 3, "ladder_starts": 0,
}  # fmt: skip
"""Settings of a run of Stable-Baselines3 that trains in a second."""


def as_words(settings: Mapping[str, object]) -> list[str]:
    """Settings as arguments of the command."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]


TINY_WORDS = as_words(TINY)


def tiny_run(folder: Path, **changes: Any) -> Config:
    """A configuration with six rollouts and four measurements."""
    return Config(**{"steps": 192, "output": folder, **TINY, **changes})


def tiny_ppo(folder: Path, **changes: object) -> ppo.Config:
    """The same for self-play; the pool is full after the second update."""
    return ppo.Config(**{
        "steps": 192, "output": folder, "games": 5, "rollout": 8, "batch": 16, "epochs": 2,
        "width": 4, "measure_every": 64, "measure_starts": 2, "final_starts": 3,
        "ladder_starts": 0, "past_share": 0.4, "pool": 2, "pool_every": 1, "opening": 0, **changes,
    })  # type: ignore[arg-type]  # fmt: skip


def tiny_td(folder: Path, **changes: object) -> value.Config:
    """The same for TD(lambda), in the yardstick, whose kernels other tests need, too."""
    return value.Config(**{
        "game": YARDSTICK.name, "steps": 192, "output": folder, "games": 3, "width": 4,
        "batch": 16, "most_plies": 25, "measure_every": 64, "measure_starts": 2,
        "final_starts": 3, "ladder_starts": 0, **changes,
    })  # type: ignore[arg-type]  # fmt: skip


def tiny_expert(folder: Path, **changes: object) -> value.Config:
    """The same for expert iteration."""
    return value.Config(**{
        "game": YARDSTICK.name, "steps": 400, "output": folder, "games": 3, "width": 4,
        "batch": 16, "most_plies": 25, "nodes": 30, "exact_nodes": 50, "measure_every": 130,
        "measure_starts": 2, "final_starts": 3, "ladder_starts": 0, **changes,
    })  # type: ignore[arg-type]  # fmt: skip


def tiny_alphazero(folder: Path, **changes: object) -> alphazero.Config:
    """The same for AlphaZero; its memory soon begins again from the front."""
    return alphazero.Config(**{
        "game": YARDSTICK.name, "steps": 300, "output": folder, "games": 3, "simulations": 8,
        "memory": 150, "batch": 16, "reuse": 0.5, "width": 4, "depth": 1, "exact_nodes": 200,
        "measure_every": 100, "measure_starts": 2, "final_starts": 3, "ladder_starts": 0, **changes,
    })  # type: ignore[arg-type]  # fmt: skip


SCRIPTS: dict[str, tuple[Callable[[Any], object], Callable[..., RunConfig]]] = {
    "maskable_ppo": (maskable_ppo.main, tiny_run),
    "ppo": (ppo.main, tiny_ppo),
    "alphazero": (alphazero.main, tiny_alphazero),
    "td_value": (value.main, tiny_td),
    "expert_iteration": (value.main, tiny_expert),
}
"""The algorithms, each with the configuration of a tiny run."""


def results(folder: Path) -> dict[str, object]:
    """The results of a run without wall-clock times."""
    found: dict[str, object] = {name: (folder / name).read_bytes() for name in SAME}
    found["progress.json"] = [
        {name: value for name, value in line.items() if name not in WALL_CLOCK}
        for line in lines_of(folder)
    ]
    return found


def differing(one: dict[str, object], other: dict[str, object]) -> list[str]:
    """The names of the results that differ; NaN equals NaN."""
    return [name for name in one if repr(one[name]) != repr(other[name])]
