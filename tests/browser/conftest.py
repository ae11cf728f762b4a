"""A server of its own and Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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
    words = ("serve", "--port", "0", "--no-browser", "--state", str(state), "--workers", "1")
    with subprocess.Popen(
        [sys.executable, "-m", "azumaya", *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[0]
        process.terminate()


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
