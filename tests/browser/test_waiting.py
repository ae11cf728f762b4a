"""What the page does while it waits for the server, and when an answer does not come."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.playing import await_held, begin, held, open_form, place, settle

GAME = "vierer_dominari"
QUICK = "const wait = setTimeout; window.setTimeout = (act, after) => wait(act, after / 100);"
"""A script that makes the pauses between tries short."""
EVENTS = (
    "window.dispatchEvent(new Event('online'))",
    "document.dispatchEvent(new Event('visibilitychange'))",
)


def failing(page: Any, status: int) -> list[Any]:
    """Requests for the agent's move from now on, all of which fail."""
    asked: list[Any] = []

    def fail(route: Any) -> None:
        asked.append(route)
        route.fulfill(status=status, json={"error": "no move came"})

    page.route("**/answer", fail)
    return asked


def test_a_game_is_begun_once(page: Any, server: str) -> None:
    page.goto(server)
    open_form(page)
    page.get_by_label("Game", exact=True).select_option(GAME)
    waiting = held(page, "**/api/games")
    button = page.locator("form .go")
    status, error = page.locator("form [role=status]"), page.locator("form .error")
    button.click()
    await_held(page, waiting)
    assert button.is_disabled()
    assert "Preparing" in status.text_content()
    button.click(force=True)
    settle(page)
    assert len(waiting) == 1
    waiting[0].fulfill(status=503, json={"error": "no room"})
    page.locator("form .error", has_text="no room").wait_for()
    assert status.text_content() == ""
    button.click()
    await_held(page, waiting, 2)
    assert error.text_content() == ""
    waiting[1].continue_()
    page.wait_for_selector(".play")


def test_a_server_out_of_reach_is_no_mistyped_address(page: Any, server: str) -> None:
    page.route("**/api/games/*", lambda route: route.abort())
    page.goto(server.rstrip("/") + "/g/some-game")
    page.locator(".problem .error", has_text="cannot be reached").wait_for()
    assert "mistyped" not in page.locator(".problem").inner_text()


def test_an_agent_that_failed_is_asked_again_at_the_press_of_a_button(
    page: Any, server: str
) -> None:
    begin(page, server, GAME, "greedy", seed="1")
    asked = failing(page, 502)
    place(page, "3")
    again = page.get_by_role("button", name="Try again")
    again.wait_for()
    assert page.locator(".azb-said").text_content() == "no move came"
    settle(page)
    assert len(asked) == 1
    page.locator(".moves button").last.click()
    assert again.is_visible(), "also after a look at the moves"
    page.unroute("**/answer")
    again.click()
    page.wait_for_selector(".play[data-ply='2']")
    assert not again.is_visible()


@pytest.mark.parametrize("event", EVENTS, ids=["online", "visible"])
def test_after_the_last_try_the_page_asks_when_it_is_woken(
    page: Any, server: str, event: str
) -> None:
    page.add_init_script(QUICK)
    begin(page, server, GAME, "greedy", seed="1")
    asked = failing(page, 503)
    place(page, "3")
    page.get_by_role("button", name="Try again").wait_for()
    assert len(asked) == 6
    page.unroute("**/answer")
    page.evaluate(event)
    page.wait_for_selector(".play[data-ply='2']")


@pytest.mark.parametrize("event", EVENTS, ids=["online", "visible"])
def test_what_is_being_asked_is_asked_anew(page: Any, server: str, event: str) -> None:
    """The connection may have died while the page slept; the server searches once all the same."""
    begin(page, server, GAME, "greedy", seed="1")
    waiting = held(page, "**/answer")
    page.evaluate(event)
    settle(page)
    assert waiting == [], "no move of the agent is due"
    place(page, "3")
    await_held(page, waiting)
    page.evaluate(event)
    await_held(page, waiting, 2)
    assert page.locator(".azb-status").text_content() == "Azumaya (easy) is thinking"
    settle(page)
    assert len(waiting) == 2
    waiting[1].continue_()
    page.wait_for_selector(".play[data-ply='2']")


@pytest.mark.parametrize("is_made", [False, True])
def test_a_move_without_an_answer_stops_no_others(page: Any, server: str, is_made: bool) -> None:
    """As after a phone has slept: the page looks whether it was made."""
    begin(page, server, GAME, "human", seed="1")
    waiting = held(page, "**/move")
    place(page, "3")
    await_held(page, waiting)
    if is_made:
        waiting[0].fetch()
    with page.expect_response("**/api/games/*"):
        page.evaluate(EVENTS[0])
    settle(page)
    page.unroute("**/move")
    assert page.locator(f".play[data-ply='{int(is_made)}']").count() == 1
    assert page.locator(".azb-said").text_content() == ""
    place(page, "2", cell=1)
    page.wait_for_selector(f".play[data-ply='{1 + is_made}']")


def test_a_move_whose_answer_was_cut_off_is_shown(page: Any, server: str) -> None:
    begin(page, server, GAME, "human", seed="1")
    page.route("**/move", lambda route: (route.fetch(), route.fulfill(status=200, body="{")))
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")


def test_a_long_search_for_a_hint_is_told(page: Any, server: str) -> None:
    page.add_init_script(QUICK)
    begin(page, server, GAME, "human", seed="1")
    waiting = held(page, "**/hint")
    page.get_by_role("button", name="Hint").click()
    await_held(page, waiting)
    page.locator(".azb-said", has_text="Still searching").wait_for()
    waiting[0].fulfill(json={"summary": "found", "moves": []})
    page.locator(".azb-said", has_text="found").wait_for()
