"""The environment for devices in numba's simulator; `test_simulator.py` runs this in a process.

Kernels run as plain Python there, so the tests play few games, from positions close to their end.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.error import AlreadyPendingCallError, ResetNeeded
from typer.testing import CliRunner

from azumaya.benchmarks import __main__ as command
from azumaya.benchmarks import device as measuring
from azumaya.benchmarks import signature
from azumaya.benchmarks.peers import compare
from azumaya.benchmarks.plan import Budget
from azumaya.benchmarks.results import read_run
from azumaya.envs import make_vec
from azumaya.envs.adapters.cuda.device import Device
from azumaya.envs.errors import IllegalActionError, OptionError
from azumaya.envs.game import Game
from tests.cases import TESTED
from tests.cuda.compare import (
    COMBINATIONS,
    Pair,
    equal,
    equal_results,
    equal_states,
    illegal_actions_lose,
    random_bits_are_spread,
)
from tests.vector.cases import interrupt

STARTS: dict[str, Any] = json.loads(os.environ["AZUMAYA_TEST_STARTS"])
"""For each game, options with which episodes begin close to their end."""
ALL_GAMES = pytest.mark.parametrize("game", TESTED.values(), ids=lambda game: game.name)
FIRST = next(iter(TESTED.values()))
STEPS = 12


def device_env(game: Game = FIRST, num_envs: int = 3, **arguments: Any) -> Any:
    return make_vec(game.name, num_envs, device="cuda", **{**STARTS[game.name], **arguments})


def runs() -> list[Any]:
    """Two runs of every game, which together cover every form in every mode."""
    found = []
    for number, game in enumerate(TESTED.values()):
        for turn in (0, 1):
            form, mode = COMBINATIONS[(2 * number + turn) % len(COMBINATIONS)]
            found.append(pytest.param(game, form, mode, id=f"{game.name}-{form}-{mode}"))
    return found


def test_runs_cover_every_form_in_every_mode() -> None:
    assert {run.values[1:] for run in runs()} == set(COMBINATIONS)


@pytest.mark.parametrize(("game", "form", "mode"), runs())
def test_the_device_equals_the_cpu(game: Game, form: str, mode: str) -> None:
    pair = Pair(game, 3, form, mode, **STARTS[game.name])
    pair.play(STEPS, seed=5)
    assert pair.ends
    state = pair.device.get_state()
    assert pair.host.rollout(STEPS) == pair.device.rollout(STEPS)
    equal_states(pair.host, pair.device)
    equal_results(pair.host.set_state(state), pair.device.set_state(state))
    pair.reset()
    pair.reset(options={"reset_mask": np.array([False, True, False])})
    pair.reset(seed=[1, 2, 2**64 - 1], options={"reset_mask": np.array([True, False, True])})
    assert pair.host.np_random_seed == pair.device.np_random_seed == (1, 5, 2**64 - 1)
    pair.step()
    equal_states(pair.host, pair.device)


@ALL_GAMES
def test_random_bits_are_spread(game: Game) -> None:
    random_bits_are_spread(Device(), game, 5)


# ---- measuring ----


def test_the_benchmark_writes_every_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(signature, "WATCHED", 2)
    monkeypatch.setattr(signature, "PLIES", 3)
    game = list(TESTED.values())[-1]
    tiny = Budget("cuda tiny", 0.0, 2, (2, 3), measuring.FORMS)
    monkeypatch.setattr(measuring, "PLIES", 2)
    monkeypatch.setattr(measuring, "MOST", 1)
    monkeypatch.setattr(measuring, "COUNTED", 2)
    monkeypatch.setattr(command.device, "BUDGETS", {"cuda quick": tiny})
    words = ["--device", "cuda", "--quick", "--game", game.name, "--output", str(tmp_path)]
    done = CliRunner().invoke(command.app, words)
    assert done.exit_code == 0, done.output
    header, rows = read_run(tmp_path)
    assert "simulator" in header["machine"]["gpu"]
    assert [row["kind"] for row in rows] == [
        "cuda bare", *["cuda batch"] * 4, *["cuda graph"] * 2
    ]  # fmt: skip
    assert {row["signature"] for row in rows} == {signature.of_rollout(game)}
    for row in rows[5:]:
        assert row["microseconds"] > 0
        assert row["launched"] > 0
    for row in rows[1:5]:
        assert (
            row["bytes"] >= len(game.observation.planes) * game.observation.cells * row["size"] / 8
        )
        assert row["memset"] > 0
        assert row["loop_wall"] > 0
        assert "wall" not in row  # steps only begin work on the device, so theirs would say nothing
    report = (tmp_path / "report.md").read_text()
    assert report.count(f"| {game.name} |") == len(measuring.FORMS) + 1


def test_peers_are_compared_by_number_of_games(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a device only in the game that both have, each number of games in a row of its own."""
    monkeypatch.setattr(signature, "WATCHED", 2)
    monkeypatch.setattr(signature, "PLIES", 3)
    monkeypatch.setattr(measuring, "MOST", 1)
    monkeypatch.setattr(measuring, "COUNTED", 2)
    monkeypatch.setattr(compare, "GPU_SIZES", (2, 3))
    told = {"beside": "2 games", "includes": "nothing", "value": 10.0}
    row = {"game": "connect_four", "config": "2 games", **told}
    monkeypatch.setattr(compare, "run_script", lambda *_: ([row], ""))
    words = ["peers", "--device", "cuda", "--python", "python", "--time", "10ms", "--repeats", "1"]
    done = CliRunner().invoke(command.app, [*words, "--output", str(tmp_path)])
    assert done.exit_code == 0, done.output
    header, (same, ending) = read_run(tmp_path)
    assert header["settings"].startswith("peers cuda")
    assert (same["kind"], same["config"]) == ("same game", "2 games")
    assert same["ratio"] == pytest.approx(same["ours"] / 10.0, rel=1e-3)
    assert ending["key"] == "peer/pgx"
    assert "on a GPU" in (tmp_path / "report.md").read_text()


# ---- illegal actions ----


def legal_and_illegal(env: Any) -> tuple[Any, Any]:
    """A legal and an illegal action for each game."""
    masks = env.reset(seed=3)[0]["action_mask"]
    return masks.argmax(dim=1), masks.argmin(dim=1)


def test_an_illegal_action_changes_nothing_and_is_reported_later() -> None:
    env, other = device_env(num_envs=5), device_env(num_envs=5)
    legal, illegal = legal_and_illegal(env)
    legal_and_illegal(other)
    before, bad = env.get_state(), legal.clone()
    bad[1], bad[3] = -1, illegal[3]
    observations, rewards, *_ = env.step(bad)
    expected = other.step(legal)[0]
    for name, tensor in observations.items():
        assert torch.equal(tensor[[0, 2, 4]], expected[name][[0, 2, 4]])
    assert not rewards[[1, 3]].any()
    env.step(env.random_actions())
    bad = env.random_actions()
    bad[0], bad[1] = 10**12, -7
    env.step(bad)
    with pytest.raises(IllegalActionError, match=r"actions\[1\]: -1 .* in step 1 of 3 since"):
        env.check()
    env.check()  # the error is reported once
    pattern = rf"actions\[3\]: {int(illegal[3])} .* in step 1 of 1 since"
    bad = legal.clone()
    bad[3] = illegal[3]
    for call in (lambda: env.position(0), env.get_state, env.reset, env.close):
        env.set_state(before)
        env.step(bad)
        with pytest.raises(IllegalActionError, match=pattern):
            call()
        assert env.get_state()[0][3].tobytes() == before[0][3].tobytes()


def test_checked_actions_change_no_game() -> None:
    env = device_env(num_envs=4, check_actions=True)
    legal, illegal = legal_and_illegal(env)
    before = env.get_state()
    bad = legal.clone()
    bad[2], bad[3] = illegal[2], -1
    with pytest.raises(IllegalActionError, match=r"actions\[2\]: "):
        env.step(bad)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(before, env.get_state(), strict=True))
    env.step(legal)
    env.check()


@pytest.mark.parametrize(("game", "form", "mode"), runs())
def test_illegal_actions_lose(game: Game, form: str, mode: str) -> None:
    illegal_actions_lose(game, 7, form, mode, **STARTS[game.name])


def test_an_action_that_loses_is_no_error() -> None:
    """Even if actions are to be checked; but such a game fits only where actions may lose."""
    env = device_env(num_envs=4, check_actions=True, illegal="lose")
    legal, illegal = legal_and_illegal(env)
    legal[2] = illegal[2]
    _, rewards, terminated, *_ = env.step(legal)
    assert (rewards[2], bool(terminated[2])) == (-1, True)
    with pytest.raises(IllegalActionError, match="float64 given"):
        env.step(legal.double())
    other, state = device_env(num_envs=4), env.get_state()
    with pytest.raises(OptionError, match="state: row 2 was lost by an illegal action"):
        other.set_state(state)


def test_an_action_for_a_finished_game() -> None:
    """It is ignored; in disabled mode the game stays as it is."""
    following, disabled = device_env(num_envs=2), device_env(num_envs=2, autoreset_mode="Disabled")
    following.reset(seed=1)
    disabled.reset(seed=1)
    while following.get_state()[0]["over"].sum() == 0:
        following.step(following.random_actions())
    state = following.get_state()
    row = int(np.argmax(state[0]["over"]))
    disabled.set_state(state)
    actions = following.random_actions()
    observations, rewards, terminated, truncated, _ = disabled.step(actions)
    disabled.check()
    assert rewards[row] == 0
    assert bool(terminated[row] | truncated[row])
    assert not observations["action_mask"][row].any()
    assert disabled.get_state()[0][row].tobytes() == state[0][row].tobytes()
    assert disabled.get_state()[1][row].tobytes() == state[1][row].tobytes()
    following.step(actions)
    assert not following.get_state()[0]["over"][row]


def test_a_second_caller_gets_no_error_of_the_first() -> None:
    """It is refused, and the illegal action is reported to the caller it belongs to."""
    env, leave = device_env(), threading.Event()
    _, illegal = legal_and_illegal(env)
    env.step(illegal)
    other = threading.Thread(target=leave.wait, args=(60,))
    other.start()
    env.games.guard.thread = other.ident  # as if it were inside a call
    for name, call in (("check", env.check), ("rollout", lambda: env.rollout(1))):
        with pytest.raises(AlreadyPendingCallError, match=f"{name}: another thread is inside"):
            call()
    env.games.guard.thread = None
    leave.set()
    other.join()
    for call in (lambda: env.rollout(1), env.check):
        with pytest.raises(IllegalActionError, match=r"actions\[0\]"):
            call()
        env.step(illegal)
    with pytest.raises(IllegalActionError):
        env.close()
    env.check()


def test_after_an_interrupt_the_series_continue() -> None:
    env, other = device_env(), device_env()
    env.reset(seed=1)
    other.reset(seed=1)
    interrupt(env, 0)
    env.reset()
    other.reset()
    equal_states(env, other)


class NotExported:
    """Has the methods of DLPack, but cannot be exported."""

    def __dlpack__(self, **keywords: Any) -> Any:
        raise BufferError("planted")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_other_bad_actions() -> None:
    env = device_env()
    with pytest.raises(ResetNeeded, match="step: reset must be called"):
        env.step(torch.zeros(3, dtype=torch.int64))
    with pytest.raises(ResetNeeded, match="random_actions: reset must be called"):
        env.random_actions()
    legal, _ = legal_and_illegal(env)
    for wrong, pattern in (
        (legal[:2], r"shape \(2,\) given, \(3,\) is needed"),
        (legal.double(), "float64 given"),
        (legal > 0, "bool given"),
        (legal.tolist(), "a tensor is needed"),
        (torch.empty(3, dtype=torch.int64, device="meta"), "on meta, needed on cpu"),
        (NotExported(), "not a tensor: BufferError: planted"),
    ):
        with pytest.raises(IllegalActionError, match=pattern):
            env.step(wrong)
    state = env.get_state()
    expected = env.step(legal)[0]
    for form in (legal.short(), torch.stack([legal, legal], 1)[:, 0], legal.numpy()):
        env.set_state(state)
        for name, tensor in env.step(form)[0].items():
            equal(name, expected[name], tensor)


# ---- the rest ----


def test_buffers() -> None:
    """Without copies every call uses the same memory, with copies new memory."""
    for copy in (False, True):
        env = device_env(copy=copy)
        first = env.reset(seed=1)[0]
        kept = {name: tensor.clone() for name, tensor in first.items()}
        for _ in range(3):
            seen = env.step(env.random_actions())[0]
        for name, tensor in seen.items():
            assert (tensor.data_ptr() == first[name].data_ptr()) is not copy
            assert torch.equal(first[name], kept[name]) is copy
            assert torch.from_dlpack(tensor).data_ptr() == tensor.data_ptr()


def test_a_reset_mask_may_be_a_tensor() -> None:
    env = device_env()
    env.reset(seed=1)
    for mask in (torch.ones(3, dtype=torch.bool), np.ones(3, bool)):
        env.reset(options={"reset_mask": mask})
    for wrong in ([True, False, False], torch.ones(3), np.ones(3)):
        with pytest.raises(OptionError, match="must be a torch tensor or a NumPy array, of bool"):
            env.reset(options={"reset_mask": wrong})


def test_writing_to_a_returned_mask_changes_no_game() -> None:
    for form in ("planes", "packed"):
        env = device_env(copy=False, observation=form)
        masks = env.reset(seed=1)[0]["action_mask"]
        illegal = env.unpack(env.reset()[0])["action_mask"].argmin(1) if form == "packed" else None
        illegal = masks.argmin(dim=1) if illegal is None else illegal
        masks.view(torch.int8).fill_(-1)
        env.step(illegal)
        with pytest.raises(IllegalActionError, match=r"actions\[0\]"):
            env.check()


def test_states_can_be_moved_between_devices() -> None:
    pair = Pair(FIRST, 3, "packed", "NextStep", **STARTS[FIRST.name])
    pair.host.reset(seed=8)
    pair.host.step(pair.host.random_actions())
    state = pair.host.get_state()
    equal_results(pair.host.set_state(state), pair.device.set_state(state))
    pair.step()
    for row in range(3):
        assert str(pair.host.position(row)) == str(pair.device.position(row))
    rows_have_options_of_their_own(pair)
    with pytest.raises(OptionError, match="states"):
        pair.device.set_state((state[0][:2], state[1]))


def rows_have_options_of_their_own(pair: Pair) -> None:
    """The options of an episode are known on the device as well, and part of saved states."""
    text = str(pair.host.position(0))
    for env in (pair.host, pair.device):
        env.set_options({"position": text}, np.array([True, False, False]))
    pair.reset(options={"reset_mask": np.array([False, True, False]), "position": text})
    for _ in range(2):
        for row in range(3):
            left, right = pair.host.position(row), pair.device.position(row)
            assert left.options == right.options
            assert left.scene() == right.scene()
        equal_states(pair.host, pair.device)
        pair.step()


def test_arguments() -> None:
    for arguments, pattern in (
        ({"threads": 2}, "threads=2"),
        ({"illegal": "nonsense"}, "illegal='nonsense'"),
        ({"observation": "bits"}, "observation='bits'"),
        ({"autoreset_mode": "never"}, "autoreset_mode"),
        ({"num_envs": 0}, "num_envs=0"),
        ({"no_such_option": 1}, "no_such_option"),
    ):
        with pytest.raises(OptionError, match=pattern):
            device_env(**arguments)
    env = device_env()
    for mask in (np.zeros(3, bool), np.ones(2, bool), [True] * 3):
        with pytest.raises(OptionError, match="reset_mask"):
            env.reset(options={"reset_mask": mask})
    env.reset()
    env.reset(options={"reset_mask": torch.tensor([True, False, True])})
    on_cpu = make_vec(FIRST.name, 3, **STARTS[FIRST.name])
    assert env.observation_space == on_cpu.observation_space
