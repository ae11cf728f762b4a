"""The board in JupyterLab, by clicks and keys: `make test-notebook` installs what this needs."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("jupyterlab") is None, reason="jupyterlab is not installed"
)
CELLS = (
    """\
from azumaya.envs import Position
board = Position("halma_dominari", seed=1).board(lambda position: position.legal_moves()[0])
board""",
    "print(*board.moves)",
)
PAPER = {"Light": "rgb(250, 248, 243)", "Dark": "rgb(29, 28, 26)"}
"""The ground of the board in each theme of JupyterLab."""


def notebook(sources: tuple[str, ...]) -> str:
    """A notebook with these cells."""
    empty: dict[str, Any] = {"metadata": {}, "outputs": [], "execution_count": None}
    cells = [
        {"cell_type": "code", "id": f"cell-{n}", "source": source, **empty}
        for n, source in enumerate(sources)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(params=PAPER)
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """JupyterLab with a theme: the theme, and the address of a notebook in it."""
    folder = tmp_path / "notebooks"
    themes = tmp_path / "settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    for file, text in (
        (folder / "board.ipynb", notebook(CELLS)),
        (themes, json.dumps({"theme": f"JupyterLab {request.param}"})),
    ):
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    environment = {f"JUPYTER_{name}": str(tmp_path / name.lower()) for name in places}
    environment["JUPYTERLAB_SETTINGS_DIR"] = str(tmp_path / "settings")
    words = ["--ip=127.0.0.1", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    words += [f"--port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    with subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *words],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        address = f"http://127.0.0.1:{port}"
        await_answer(f"{address}/api", process)
        yield request.param, f"{address}/lab/tree/board.ipynb?reset"
        process.terminate()


def await_answer(address: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers."""
    for _ in range(300):
        assert process.poll() is None, "JupyterLab did not start"
        try:
            with urllib.request.urlopen(address):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"no answer from {address}")


def test_in_jupyterlab(page: Any, lab: tuple[str, str]) -> None:
    """Python sees the moves; the theme is the notebook's; keys on the board are the board's."""
    theme, address = lab
    page.emulate_media(color_scheme="light" if theme == "Dark" else "dark")
    page.goto(address)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.nth(1).wait_for()
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    board = page.locator(".azb")
    board.locator("[data-square='a3'].azb-legal").click()
    board.locator("[data-square='a4'].azb-legal").click()
    answer = board.locator("[data-square='a4']")
    page.wait_for_function("(hit) => hit.ariaLabel.includes('5')", arg=answer.element_handle())
    board.locator("[data-square='b2'].azb-legal").wait_for()
    assert board.evaluate("(e) => getComputedStyle(e).backgroundColor") == PAPER[theme]

    answer.focus()
    page.keyboard.press("d")  # twice, it deletes a cell of the notebook
    page.keyboard.press("d")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("5")
    board.locator("[data-square='b4'].azb-legal[aria-label*='5']").wait_for()
    assert cells.count() == 2
    output = cells.nth(1).locator(".jp-OutputArea")
    cells.nth(1).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    output.get_by_text("5b4").wait_for()
    moves = output.inner_text().split()
    assert (moves[0], moves[2], len(moves)) == ("5a4", "5b4", 4)
