"""Where leagues with agents of the tests are played."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def beside_the_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in the folder of `odd_agents.py`, so that its agents are found by name."""
    monkeypatch.chdir(Path(__file__).parent)
