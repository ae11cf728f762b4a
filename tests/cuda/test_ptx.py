"""Every kernel of every game compiles for a device that is not there."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import make_vec
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.registry import GAMES
from tests.cuda import ptx as compiler

FLAGS = 16
"""Places in which a kernel writes bytes: how games ended, whether they are over, in branches."""


def check(name: str, kernel: Any, arguments: tuple[Any, ...]) -> None:
    """A kernel is a whole program for sm_90, which ptxas takes, if there is one."""
    text = compiler.compile_ptx(kernel, arguments)
    assert f".target {compiler.TARGET}" in text, name
    assert ".visible .entry" in text, name
    stores = text.count("st.global.u8") + text.count("st.local.u8")
    assert stores <= FLAGS, f"{name}: fields of records are written byte by byte"
    compiler.assemble(text)


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_kernels_of_a_game(game: Game) -> None:
    for name, kernel, arguments in compiler.kernels_of(game):
        check(f"{game.name} {name}", kernel, arguments)


def test_shared_kernels() -> None:
    for name, kernel, arguments in compiler.shared_kernels():
        check(name, kernel, arguments)


def test_there_is_no_other_device() -> None:
    with pytest.raises(OptionError, match="device='tpu': must be one of cpu, cuda"):
        make_vec(next(iter(GAMES)), 2, device="tpu")
