"""Checkpoints are written completely or not at all, and refused if they do not fit."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from azumaya.baselines import find_agent
from azumaya.baselines.agents import checkpoint
from azumaya.baselines.agents import sidecar as sidecar_module
from azumaya.baselines.agents.network import default_network
from azumaya.baselines.agents.policy import PolicyAgent
from azumaya.baselines.arena.league.cards import card_of
from azumaya.envs import Position, find_game
from azumaya.envs.games._shima.territory import NAMED
from tests.baselines.checkpoints import TINY, edit, fresh
from tests.cases import TESTED


def saved(folder: Path, game: str = "sudoku_moyo") -> Path:
    """A checkpoint of a fresh network."""
    torch.manual_seed(0)
    return fresh(folder / "net", game, default_network(find_game(game)), TINY)


@pytest.mark.parametrize("game", TESTED)
def test_a_policy_survives_the_disk(game: str, tmp_path: Path) -> None:
    path = saved(tmp_path, game)
    agent, again = PolicyAgent.load(path), PolicyAgent.load(path)
    positions = [Position(game, seed=s) for s in range(4)]
    actions = agent.act(positions, [0, 1, 2, 3])
    assert actions == again.act(positions, [3, 2, 1, 0])
    assert all(a in p.legal_actions() for a, p in zip(actions, positions, strict=True))
    assert not list(tmp_path.glob(".*")), "temporary files are gone"


@pytest.fixture(params=["meta", torch.bfloat16, torch.float64], ids=str)
def other_default(request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """Sets another default device or dtype, as a user's program may."""
    change = torch.set_default_device if request.param == "meta" else torch.set_default_dtype
    yield lambda: change(request.param)
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize(
    ("game", "kind", "form"),
    [
        ("score_dominari", "numbers", "puct:8:{}"),
        ("score_dominari", "board", "{}"),
        ("abalone", "plain", "{}"),
    ],
)
def test_agents_do_not_depend_on_the_defaults_of_torch(
    game: str, kind: str, form: str, tmp_path: Path, other_default: Callable[[], None]
) -> None:
    torch.manual_seed(0)
    fresh(tmp_path / "net", game, kind, {"width": 4, "depth": 2})
    name = form.format(tmp_path / "net")
    positions = [Position(game, seed=s) for s in range(3)]
    actions = find_agent(name).act(positions, [0, 1, 2])
    other_default()
    assert find_agent(name).act(positions, [0, 1, 2]) == actions


def test_a_network_is_built_alike_whatever_the_defaults_of_torch(
    other_default: Callable[[], None],
) -> None:
    sidecar = sidecar_module.describe(
        find_game("abalone"), Position("abalone").num_actions, "board", {"width": 4, "depth": 1}
    )
    usual = checkpoint.build(sidecar)
    other_default()
    network = checkpoint.build(sidecar)
    for tensor in network.parameters():
        assert (tensor.device.type, tensor.dtype) == ("cpu", torch.float32)
    for tensor, other in zip(network.buffers(), usual.buffers(), strict=True):
        assert (tensor.device.type, tensor.dtype) == ("cpu", other.dtype)
    assert usual.get_buffer("scale").dtype == torch.float32


def test_sampling_follows_the_policy(tmp_path: Path) -> None:
    agent = PolicyAgent.load(saved(tmp_path), temperature=1.0)
    position = Position("sudoku_moyo", seed=1)
    actions = agent.act([position] * 64, list(range(64)))
    assert actions == [agent.act([position], [key])[0] for key in range(64)]
    assert len(set(actions)) > 5


WRONG_TYPES: list[tuple[str, object]] = [
    ("game", 3), ("num_actions", "729"), ("num_actions", True), ("num_actions", 0),
    ("planes", "abc"), ("planes", [1]), ("network", None), ("sizes", {"width": "4"}),
    ("sizes", []), ("options", []), ("azumaya", 1), ("notes", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({name: v}, rf"net\.json: malformed: {name} must be") for name, v in WRONG_TYPES),
        ({"game": "azumaya/chess-v0"}, "no such game"),
        ({"planes": ["stone 1"]}, "other observation planes"),
        ({"network": "huge"}, "unknown network"),
        ({"sizes": {"width": 8, "depth": 1}}, "size mismatch"),
        ({"surplus": 1}, "malformed: unknown surplus"),
        ({"sizes": {"girth": 8}}, "girth"),
        ({"sizes": {"width": 4, "depth": 10**6}}, "depth 1000000 is too large; the most is 256"),
        ({"sizes": {"width": 999_999_999_999, "depth": 1}}, "too large; the most is 8,192"),
        ({"num_actions": 10**15}, "num_actions 1000000000000000 is too large"),
        ({"network": "board", "sizes": {"width": 8192, "depth": 8}}, "parameters; the most is"),
    ],
)
def test_checkpoints_that_do_not_fit_are_refused(
    changes: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path)
    edit(path, **changes)
    with pytest.raises(sidecar_module.CheckpointError, match=message):
        checkpoint.load_network(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no game, num_actions, planes, network, sizes; the fields are"),
        ("[]", "must be an object with the fields game, num_actions,"),
        ("{", "not JSON"),
        (" " * ((1 << 20) + 1), "larger than 1,048,576 bytes"),
    ],
)
def test_the_error_for_a_bad_sidecar_names_the_file(
    text: str, message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path)
    path.with_suffix(".json").write_text(text)
    with pytest.raises(sidecar_module.CheckpointError, match=rf"net\.json: malformed: {message}"):
        checkpoint.load(path)


def test_options_of_any_kind_survive_the_disk(tmp_path: Path) -> None:
    sidecar = sidecar_module.describe(
        find_game("sudoku_moyo"), 729, "plain", {"width": 4, "depth": 1},
        options={"handicap": (1, 3), "puzzle": Path("mine.txt"), "territory": NAMED["rows"]},
    )  # fmt: skip
    path = checkpoint.save(tmp_path / "net", checkpoint.build(sidecar).state_dict(), sidecar)
    options = sidecar_module.read_sidecar(path).options
    assert options["handicap"] == [1, 3]
    assert options["puzzle"] == "mine.txt"
    assert str(Position("sudoku_moyo", territory=options["territory"])) == str(
        Position("sudoku_moyo", territory="rows")
    )


def test_the_error_for_other_weights_does_not_list_them_all(tmp_path: Path) -> None:
    path = saved(tmp_path)
    weights, sidecar = checkpoint.load(path)
    checkpoint.save(path, {f"part.{name}": tensor for name, tensor in weights.items()}, sidecar)
    with pytest.raises(sidecar_module.CheckpointError, match="not the weights") as error:
        checkpoint.load_network(path)
    assert str(error.value).count("part.") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensor: tensor.fill_(float("nan")), "must have finite numbers"),
        (lambda tensor: tensor.fill_(float("inf")), "must have finite numbers"),
        (lambda tensor: tensor.double().fill_(1e300), "must have finite numbers"),
        (lambda tensor: tensor.long(), "must have floating-point numbers, not torch.int64"),
    ],
)
def test_weights_that_are_no_finite_numbers_are_refused(
    change: Callable[[torch.Tensor], torch.Tensor], message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path)
    weights, sidecar = checkpoint.load(path)
    name = list(weights)[-1]
    checkpoint.save(path, weights | {name: change(weights[name])}, sidecar)
    with pytest.raises(sidecar_module.CheckpointError, match=f"'{name}' {message}"):
        checkpoint.load_network(path)


def test_a_dot_is_part_of_a_name(tmp_path: Path) -> None:
    """Only the suffixes of a checkpoint's own files are left out."""
    weights, sidecar = checkpoint.load(saved(tmp_path))
    for name in ("lr-0.1", "lr-0.01"):
        path = checkpoint.save(tmp_path / name, weights, replace(sidecar, notes={"name": name}))
        assert path.name == f"{name}.safetensors"
        for end in (".json", ".JSON"):
            assert checkpoint.save(path, *checkpoint.load(path.with_name(f"{name}{end}"))) == path
    assert not sidecar_module.is_checkpoint(tmp_path / "lr-0")
    for name in ("lr-0.1", "lr-0.01"):
        agent = PolicyAgent.load(tmp_path / name)
        assert agent.name == name
        assert agent.sidecar is not None
        assert agent.sidecar.notes == {"name": name}
    ids = {card_of(str(tmp_path / name), ["sudoku_moyo"]).digest for name in ("lr-0.1", "lr-0.01")}
    assert len(ids - {""}) == 2


def test_files_with_suffixes_in_upper_case_are_found(tmp_path: Path) -> None:
    path = saved(tmp_path)
    for file in sidecar_module.checkpoint_files(path):
        file.rename(file.with_suffix(file.suffix.upper()))
    for given in (path, path.with_suffix(".JSON"), path.with_suffix("")):
        assert sidecar_module.is_checkpoint(given)
        assert PolicyAgent.load(given).sidecar is not None


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_full_disk_leaves_the_old_checkpoint_and_nothing_else(
    fail_at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path)
    weights, sidecar = checkpoint.load(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    calls, fsync = [], os.fsync

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == fail_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    zeros = {name: torch.zeros_like(tensor) for name, tensor in weights.items()}
    with pytest.raises(OSError, match=r"No space left on device: '.*/net[.]\w+'$"):
        checkpoint.save(path, zeros, sidecar)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_broken_and_missing_files_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(sidecar_module.CheckpointError, match=r"net\.safetensors: malformed"):
        checkpoint.load_network(path)
    header = b'{"new":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[0,1]}}'
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"x")
    with pytest.raises(sidecar_module.CheckpointError, match="unknown type 'F8_E8M0'"):
        checkpoint.load_network(path)
    path.unlink()
    with pytest.raises(sidecar_module.CheckpointError, match=r"net\.safetensors does not exist"):
        checkpoint.load_network(path)
    path.mkdir()
    with pytest.raises(sidecar_module.CheckpointError, match=r"net\.safetensors cannot be read"):
        checkpoint.load_network(path)
    with pytest.raises(sidecar_module.CheckpointError, match=r"nothing\.json does not exist"):
        checkpoint.load_network(tmp_path / "nothing")
