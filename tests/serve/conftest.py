"""A server, and a visitor who is its only one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server.store import Store
from tests.serve.requests import visitor


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with visitor(Store(tmp_path / "games.sqlite3")) as made:
        yield made


@pytest.fixture
def anyio_backend() -> str:
    """What runs tests that are coroutines."""
    return "asyncio"
