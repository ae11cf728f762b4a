"""Checkpoints: whole or not at all, and refused when they do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents.network import NETWORKS, default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.envs import GAMES, Position, find_game


def saved(folder: Path, game: str = "sudoku_moyo") -> Path:
    """A checkpoint of a fresh network."""
    record, kind = find_game(game), default_network(find_game(game))
    actions = Position(game).num_actions
    sidecar = checkpoint.describe(record, actions, kind, {"width": 4, "depth": 1})
    torch.manual_seed(0)
    return checkpoint.save(folder / "net", checkpoint.build(sidecar).state_dict(), sidecar)


@pytest.mark.parametrize("game", GAMES)
def test_a_policy_survives_the_disk(game: str, tmp_path: Path) -> None:
    path = saved(tmp_path, game)
    agent, again = PolicyAgent.load(path), PolicyAgent.load(path)
    positions = [Position(game, seed=s) for s in range(4)]
    actions = agent.act(positions, [0, 1, 2, 3])
    assert actions == again.act(positions, [3, 2, 1, 0])
    assert all(a in p.legal_actions() for a, p in zip(actions, positions, strict=True))
    assert not list(tmp_path.glob(".*")), "temporary files are gone"


def test_sampling_follows_the_policy(tmp_path: Path) -> None:
    agent = PolicyAgent.load(saved(tmp_path), temperature=1.0)
    position = Position("sudoku_moyo", seed=1)
    actions = agent.act([position] * 64, list(range(64)))
    assert actions == [agent.act([position], [key])[0] for key in range(64)]
    assert len(set(actions)) > 5


def edit(path: Path, **changes: object) -> None:
    """Change fields of a sidecar."""
    sidecar = path.with_suffix(".json")
    sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"game": "azumaya/chess-v0"}, "no such game"),
        ({"planes": ["stone 1"]}, "other observation planes"),
        ({"network": "huge"}, "unknown network"),
        ({"sizes": {"width": 8, "depth": 1}}, "size mismatch"),
        ({"surplus": 1}, "malformed"),
    ],
)
def test_what_does_not_fit_is_refused(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path)
    edit(path, **changes)
    with pytest.raises(checkpoint.CheckpointError, match=message):
        checkpoint.load_network(path)


def test_broken_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(checkpoint.CheckpointError, match="malformed"):
        checkpoint.load_network(path)
    with pytest.raises(checkpoint.CheckpointError, match="does not exist"):
        checkpoint.load_network(tmp_path / "nothing")


@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_give_logits_for_every_action(kind: str) -> None:
    position = Position("sudoku_moyo", setup="choose")
    network = NETWORKS[kind](position.game, position.num_actions, width=4, depth=1)
    planes = torch.from_numpy(position.observation(0))[None]
    logits, value = network(planes.expand(3, -1, -1, -1))
    assert logits.shape == (3, position.num_actions)
    assert value.shape == (3,)
