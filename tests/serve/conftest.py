"""A server, and a visitor who is its only one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server.choices import Choices
from azumaya.baselines.play.server.games import Games
from azumaya.baselines.play.server.store import Store
from tests.serve.requests import LIMITS, token, visitor


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with visitor(Store(tmp_path / "games.sqlite3")) as made:
        yield made


@pytest.fixture
def games() -> Games:
    """The games of a server, without the server."""
    return Games(Store(":memory:"), Choices((), LIMITS), LIMITS)


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., AbstractContextManager[TestClient]]:
    """Starts a server, again and again with the same games and the same visitor."""
    cookies: list[str] = []

    @contextmanager
    def start(**settings: Any) -> Iterator[TestClient]:
        cookie = cookies[-1] if cookies else None
        with visitor(Store(tmp_path / "games.sqlite3"), cookie=cookie, **settings) as client:
            yield client
            cookies.append(token(client))

    return start


@pytest.fixture
def anyio_backend() -> str:
    """What runs tests that are coroutines."""
    return "asyncio"
