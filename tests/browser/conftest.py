"""A server of its own and Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import serving

WANTED = "AZUMAYA_BROWSER_TESTS"
"""The environment variable that `make test-browser` and `make test-notebook` set."""
HERE = Path(__file__).parent
PATIENCE_MS = 180_000
"""How long a page may take for anything; the first move of a game compiles its kernels."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder, unless they were asked for."""
    if not os.environ.get(WANTED):
        reason = pytest.mark.skip(reason=f"needs a browser: `make test-browser` sets {WANTED}")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(reason)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that was started as a user would."""
    state = tmp_path_factory.mktemp("server") / "games.sqlite3"
    with serving("--state", state, "--workers", 1) as (_, address):
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium, without a window."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where it is wanted

    path = shutil.which("chromium")
    assert path, "chromium is not installed"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page of a new visitor; an error in its script fails the test."""
    context = chromium.new_context(**getattr(request, "param", {}))
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def device(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Makes a page of another device that follows a link."""
    contexts, errors = [], []

    def follow(link: str, **settings: Any) -> Any:
        contexts.append(chromium.new_context(**settings))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(link)
        page.wait_for_selector(".play")
        return page

    yield follow
    for context in contexts:
        context.close()
    assert errors == []
