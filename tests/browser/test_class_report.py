"""The report of a class in Chromium: its links open games, and names of files stay text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.classroom.submissions import FIRST, GREEDY
from tests.commands import azumaya

EVIL = "<img src=x onerror=alert(1)>.py"
SCHEMES = [{"color_scheme": "light"}, {"color_scheme": "dark"}]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small class, one of whose files has markup for a name."""
    place = tmp_path_factory.mktemp("class")
    (place / "files").mkdir()
    for name, content in ((EVIL, FIRST), ("greedy.py", GREEDY), ("broken.py", b"1 / 0\n")):
        (place / "files" / name).write_bytes(content)
    words = ["class", "vierer_dominari", place / "files", "--output", place / "out"]
    done = azumaya(*words, "--pairs", 1)
    assert done.exit_code == 0, done.output
    return place / "out" / "report.html"


@pytest.mark.parametrize("page", SCHEMES, indirect=True, ids=["light", "dark"])
def test_links_open_games_and_names_are_text(page: Any, report: Path) -> None:
    said: list[str] = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    names = page.locator("tbody th").all_inner_texts()
    assert sorted(names) == sorted([EVIL, "greedy.py", "broken.py"])
    assert "ZeroDivisionError" in page.locator("tr.azc-failed").inner_text()
    count = page.locator(".azc-games a").count()
    assert count >= 4
    for number in (count, 2):
        page.locator(f'.azc-games a[href="#game-{number}"]').click()
        page.wait_for_function(f"document.querySelector('#replay select').value === '{number - 1}'")
        page.get_by_role("button", name="Last position").click()
        assert page.locator("#replay .azr-here").count() == 1
    ink, ground = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert ink != ground
    assert said == []


def test_a_narrow_screen_scrolls_only_the_table(page: Any, report: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
