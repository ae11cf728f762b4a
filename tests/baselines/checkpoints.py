"""Checkpoints of fresh networks, and changes of what is said about them."""

from __future__ import annotations

import json
from pathlib import Path

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents import sidecar as sidecar_module
from azumaya.envs import Position, find_game

TINY = {"width": 4, "depth": 1}


def fresh(path: Path, game: str, kind: str, sizes: dict[str, int], **options: object) -> Path:
    """Write a checkpoint of a fresh network; returns the path of the weights."""
    actions = Position(game, **options).num_actions
    sidecar = sidecar_module.describe(find_game(game), actions, kind, sizes, options=options)
    return checkpoint.save(path, checkpoint.build(sidecar).state_dict(), sidecar)


def trained(path: Path, game: str = "sudoku_moyo", **options: object) -> Path:
    """A checkpoint of a fresh network whose sidecar has some game options."""
    fresh(path, game, "numbers" if game == "sudoku_moyo" else "plain", TINY, **options)
    return path


def edit(path: Path, **changes: object) -> None:
    """Change fields of a sidecar."""
    sidecar = path.with_suffix(".json")
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **changes}))
