"""Checkpoints of fresh networks, and changes of what is said about them."""

from __future__ import annotations

import json
from pathlib import Path

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents import sidecar as sidecar_module
from azumaya.envs import Position, find_game

TINY = {"numbers": {"width": 4, "depth": 1}, "plain": {"width": 4, "depth": 1}}


def trained(path: Path, game: str = "sudoku_moyo", **options: object) -> Path:
    """A checkpoint of a fresh network whose sidecar has some game options."""
    kind = "numbers" if game == "sudoku_moyo" else "plain"
    actions = Position(game, **options).num_actions
    sidecar = sidecar_module.describe(find_game(game), actions, kind, TINY[kind], options=options)
    checkpoint.save(path, checkpoint.build(sidecar).state_dict(), sidecar)
    return path


def edit(path: Path, **changes: object) -> None:
    """Change fields of a sidecar."""
    sidecar = path.with_suffix(".json")
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **changes}))
