"""Where leagues with agents of the tests are played, and what their processes share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from azumaya.baselines.arena.league.games import NOBODY, Board


@pytest.fixture
def beside_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder of `odd_agents.py`, so that its agents are found by name."""
    monkeypatch.chdir(Path(__file__).parent)


@pytest.fixture
def board() -> Iterator[Board]:
    """A board on which nobody is thinking."""
    with tempfile.TemporaryFile() as file:
        file.truncate(Board.SIZE)
        board = Board(file.fileno())
    board.write(NOBODY)
    yield board
    board.close()
