"""Every kernel of every game compiles for a GPU, on a machine without one."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import make_vec
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from tests.cases import TESTED
from tests.cuda import ptx as compiler
from tests.cuda.emulator.build import missing


def check(name: str, kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Assert that a kernel compiles to good PTX for sm_90, which ptxas accepts if installed."""
    text = compiler.compile_ptx(kernel, arguments)
    assert f".target {compiler.TARGET}" in text, name
    compiler.check(name, text)
    compiler.assemble(text)


GAMES = [
    pytest.param(game, marks=[pytest.mark.slow] * (i > 0 or missing() is None))
    for i, game in enumerate(TESTED.values())
]
"""Slow where `test_emulated.py` compiles and checks these kernels, too; else all but the first."""


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_kernels_of_a_game(game: Game) -> None:
    for name, kernel, arguments in compiler.kernels_of(game):
        check(f"{game.name} {name}", kernel, arguments)


def test_shared_kernels() -> None:
    for name, kernel, arguments in compiler.shared_kernels():
        check(name, kernel, arguments)


def test_other_devices_are_refused() -> None:
    with pytest.raises(OptionError, match="device='tpu': must be one of 'cpu', 'cuda'"):
        make_vec(next(iter(TESTED)), 2, device="tpu")


def test_unknown_games_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        compiler.main(["nope"])
    assert end.value.code == 2
    assert "'nope': no such game; there are" in capsys.readouterr().err


def test_the_command_lists_every_kernel_of_the_named_games(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = next(iter(TESTED.values()))
    monkeypatch.setattr(compiler, "compile_ptx", lambda *_: "")
    monkeypatch.setattr(compiler, "assemble", lambda _: None)
    assert compiler.main([game.id]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(list(compiler.kernels_of(game)))
    assert all(line.startswith(game.name) and "no ptxas" in line for line in said)


def test_ctrl_c_ends_the_command_with_a_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*arguments: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiler, "compile_ptx", stopped)
    assert compiler.main([]) == 130
    assert capsys.readouterr().err == "stopped\n"
