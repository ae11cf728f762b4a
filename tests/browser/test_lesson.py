"""The first game that teaches: by clicks on a phone, and by keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.playing import PHONE, view, wait_for_turn

MOVES = ("6f3", "8d5", "2f1", "8h8", "3e3")


def learn(page: Any, server: str) -> None:
    """Follow the link of the start page."""
    page.goto(server)
    page.locator(".welcome a").click()
    page.get_by_text("move 1 of 5").wait_for()


def put(page: Any, move: str) -> None:
    page.locator(".azb-pad").get_by_text(move[0], exact=True).click()
    page.locator(f"[data-square='{move[1:]}']").click()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_first_game_on_a_phone(page: Any, server: str) -> None:
    learn(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    marked = page.locator(".azb-about")
    assert marked.count() == 1
    page.locator("[data-square='f9']").focus()
    page.keyboard.press("6")
    page.locator(".azb-said", has_text="rule 3").wait_for()
    put(page, "2i8")
    page.locator(".judged[data-right='false']", has_text="2i8 is allowed, but").wait_for()
    for n, move in enumerate(MOVES):
        page.get_by_text(f"move {n + 1} of 5").wait_for()
        assert marked.count() >= 1
        put(page, move)
        page.locator(".judged[data-right='true']").wait_for()
        page.locator(".lesson .row .go").click()
    page.get_by_text("That is the game").wait_for()
    page.get_by_role("button", name="Play on from here").click()
    wait_for_turn(page)
    now = view(page)
    assert (now["players"], now["ply"], now["toMove"]) == (["human", "random"], 0, 0)
    page.goto(server)
    page.locator(".card").first.wait_for()
    assert page.locator(".welcome").count() == 0
    lines = "(e) => e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight)"
    assert page.locator("header h1").evaluate(lines) == pytest.approx(1, abs=0.1)
    assert page.locator(".card .learn").count() >= 1


def test_what_is_lost_on_the_way_is_asked_for_again(page: Any, server: str) -> None:
    """A step that did not come has a button; a page loaded again goes on where it was."""
    learn(page, server)
    address = re.compile("/api/lessons/sudoku_moyo$")
    page.route(address, lambda route: route.abort())
    put(page, MOVES[0])
    again = page.get_by_role("button", name="Try again")
    again.wait_for()
    page.unroute(address)
    again.click()
    page.locator(".judged[data-right='true']").wait_for()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("move 2 of 5").wait_for()
    page.reload()
    page.get_by_text("move 2 of 5").wait_for()
    page.evaluate("history.replaceState({ made: ['1a1'] }, '')")
    page.reload()
    page.get_by_text("move 1 of 5").wait_for()


def test_a_first_game_by_keys(page: Any, server: str) -> None:
    learn(page, server)
    for n, move in enumerate(MOVES):
        page.get_by_text(f"move {n + 1} of 5").wait_for()
        cell = page.locator(f"[data-square='{move[1:]}']")
        cell.focus()
        page.keyboard.press(move[0])
        page.locator(".judged[data-right='true']").wait_for()
        page.locator(".lesson .row .go").wait_for()
        page.keyboard.press("Enter")
    page.get_by_text("That is the game").wait_for()
    page.keyboard.press("Enter")
    wait_for_turn(page)
