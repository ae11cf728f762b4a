"""Every kernel of every game compiles for a GPU, on a machine without one."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs.game import Game
from azumaya.envs.registry import DERIVED
from tests.cases import TESTED
from tests.cuda import ptx as compiler


def check(name: str, kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Assert that a kernel compiles to good PTX for sm_90, which ptxas accepts if installed."""
    text = compiler.compile_ptx(kernel, arguments)
    assert f".target {compiler.TARGET}" in text, name
    compiler.check(name, text)
    compiler.assemble(text)


@pytest.mark.slow
@pytest.mark.parametrize("game", [*TESTED.values(), *DERIVED], ids=lambda game: game.name)
def test_kernels_of_a_game(game: Game) -> None:
    for name, kernel, arguments in compiler.kernels_of(game):
        check(f"{game.name} {name}", kernel, arguments)


def test_shared_kernels() -> None:
    for name, kernel, arguments in compiler.shared_kernels():
        check(name, kernel, arguments)
