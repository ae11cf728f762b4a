"""Where submissions run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import eventually, running_in


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which submissions run; no process is left there."""
    place = tmp_path / "runs"
    place.mkdir()
    monkeypatch.setattr("azumaya.baselines.classroom.process.HOME", str(place))
    yield place
    eventually(lambda: running_in(place) == [])
