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
    words = ["class", "--game", "vierer_dominari", place / "files", "--output", place / "out"]
    done = azumaya(*words, "--pairs", 1, "--seed", 0)
    assert done.exit_code == 0, done.output
    return place / "out" / "report.html"


def wait_for_game(page: Any, number: int) -> None:
    """Wait until a game, counted from 1, is open; the page's policy lets no script look for it."""
    page.locator(f".azr-pick option:checked[value='{number - 1}']").wait_for(state="attached")


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
        wait_for_game(page, number)
        page.get_by_role("button", name="Last position").click()
        assert page.locator("#replay .azr-here").count() == 1
    ink, ground = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert ink != ground
    assert said == []


def test_a_link_opens_its_game_again(page: Any, report: Path) -> None:
    """Also if the address of the page is that of the link already."""
    page.goto(report.as_uri())
    link, pick = page.locator('.azc-games a[href="#game-2"]'), page.locator(".azr-pick select")
    for _ in range(2):
        link.click()
        wait_for_game(page, 2)
        pick.select_option("0")


def test_arrow_keys_outside_the_replay_are_the_page_s(page: Any, report: Path) -> None:
    page.goto(report.as_uri())
    slider = page.locator(".azr-slider")
    page.locator(".azc-games a").first.focus()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "0"
    page.get_by_role("button", name="Forward").focus()
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "1"
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    assert slider.input_value() == "2"


def test_a_narrow_screen_scrolls_only_the_table(page: Any, report: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
