"""Draw `play-*.png`, pictures of the board in a browser: needs what `make test-browser` needs.

python -m docs.images.make_play
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser.playing import begin, click_move, view, wait_for_turn

HERE = Path(__file__).parent
PATIENCE_MS = 180_000
COLOURS = 128


def hint_in_the_dark(page: Any, server: str) -> None:
    """Sudoku Moyo against greedy, with a hint."""
    begin(page, server, "sudoku_moyo", "greedy", seed="1")
    for name in ("9e5", "7f4", "6d6"):
        play(page, name)
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".azb-hints li")


def chosen_marble(page: Any, server: str) -> None:
    """Abalone before its first move, with a marble chosen."""
    begin(page, server, "abalone", "random", seed="1")
    page.locator("[data-square='c5']").click()


def on_a_phone(page: Any, server: str) -> None:
    """Halma-Dominari on a narrow screen."""
    begin(page, server, "halma_dominari", "greedy", seed="1")


PICTURES: dict[str, tuple[Callable[[Any, str], None], dict[str, Any]]] = {
    "play-dark": (
        hint_in_the_dark,
        {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    ),
    "play-light": (chosen_marble, {"viewport": {"width": 1280, "height": 800}}),
    "play-narrow": (on_a_phone, {"viewport": {"width": 390, "height": 844}, "has_touch": True}),
}


def play(page: Any, name: str) -> None:
    """Make a move by clicks and wait for the answer."""
    now = view(page)
    move = next(move for move in now["moves"] if move[0] == name)
    click_move(page, move, move[2][0], [cell[0] for cell in now["cells"]])
    wait_for_turn(page)


def main() -> None:
    """Draw all pictures."""
    words = ("serve", "--port", "0", "--no-browser", "--workers", "1")
    command = [sys.executable, "-m", "azumaya", *words]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        sync_playwright() as playwright,
    ):
        assert process.stdout is not None
        server = process.stdout.readline().split()[0]
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (show, settings) in PICTURES.items():
            page = browser.new_context(**settings).new_page()
            page.set_default_timeout(PATIENCE_MS)
            show(page, server)
            taken = Image.open(io.BytesIO(page.screenshot()))
            few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
            few.save(HERE / f"{name}.png", optimize=True)
        browser.close()
        process.terminate()


if __name__ == "__main__":
    main()
