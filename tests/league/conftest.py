"""Where leagues with agents of the tests are played, and what their processes share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

from azumaya.baselines.arena.league.games import NOBODY, Board
from tests.library import ROOT


@pytest.fixture
def beside_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where other processes find `tests.odd_agents`, too."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def board() -> Iterator[Board]:
    """A board on which nobody is thinking."""
    with tempfile.TemporaryFile() as file:
        file.truncate(Board.SIZE)
        board = Board(file.fileno())
    board.write(NOBODY)
    yield board
    board.close()
