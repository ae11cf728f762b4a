"""Games with a clock, by clicks: chosen on the start page, seen by all, lost when it runs out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.playing import PHONE, place
from tests.browser.test_two_people import await_ply, invite, put, view

CHOSEN = "3 min + 2 s"


def seconds(page: Any) -> list[float]:
    """What the clocks show."""
    texts = page.locator(".clocks b").all_text_contents()
    return [60 * float(text.split(":")[0]) + float(text.split(":")[1]) for text in texts]


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_two_people_and_one_who_looks_on(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    page.goto(server)
    page.locator(".card").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_label("Clock", exact=True).select_option(label=CHOSEN)
    friend = device(invite(page, server))
    watcher = device(server.rstrip("/") + f"/g/{view(page)['watch']}")
    every = (page, friend, watcher)
    assert all(seconds(each) == [180, 180] for each in every)
    put(page, "c3", "3")
    await_ply(1, *every)
    place(friend, "2", cell=1)
    await_ply(2, *every)
    assert seconds(page)[1] == 182
    page.wait_for_timeout(2500)
    page.locator(".moves button").last.click()
    assert seconds(page)[0] < 181, "a look at the moves gives no time"
    page.reload()
    page.wait_for_selector(".play")
    for each in every:
        assert 170 < seconds(each)[0] < 181
        assert each.locator(".clocks [data-running='true']").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


BEGIN = """(wish) => fetch('api/games', { method: 'POST', body: JSON.stringify(wish),
  headers: { 'Content-Type': 'application/json' } }).then((answer) => answer.json())"""


def test_the_page_shows_that_time_has_run_out(page: Any, server: str) -> None:
    page.goto(server)
    page.locator(".card").first.wait_for()
    game = page.evaluate(BEGIN, {"game": "vierer_dominari", "clock": {"minutes": 0.04}})
    page.goto(server.rstrip("/") + f"/g/{game['id']}")
    for ply in range(2):
        place(page, "32"[ply], cell=ply)
        await_ply(ply + 1, page)
    page.locator(".end", has_text="White ran out of time.").wait_for()
    assert seconds(page)[0] == 0
    page.get_by_role("button", name="Rematch").click()
    page.wait_for_selector(".play[data-over='false']")
    assert seconds(page) == [pytest.approx(2.4, abs=0.1)] * 2


def test_a_clock_of_ones_own_against_the_computer(page: Any, server: str) -> None:
    page.goto(server)
    page.locator(".more > summary").click()
    page.get_by_label("Game", exact=True).select_option("vierer_dominari")
    page.get_by_label("Against", exact=True).select_option("random")
    page.get_by_label(re.compile("minutes for each")).fill("5")
    page.locator("form .go").click()
    page.wait_for_selector(".play[data-yours='true']")
    assert page.locator(".clocks > div:visible").count() == 1
    assert page.locator(".clocks").inner_text().split() == ["You", "5:00"]
