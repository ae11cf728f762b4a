"""What somebody meets who has never heard of the games, from the cards to the end of a game."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import GAMES, Position
from tests.browser.playing import play_to_the_end, view, wait_for_turn

TITLE = "Vierer-Dominari"


def start(page: Any, server: str, level: str, side: str = "First") -> None:
    """Play with one tap, at a level."""
    page.goto(server)
    page.get_by_label(level, exact=True).check()
    page.get_by_label(side, exact=True).check()
    page.get_by_role("button", name=f"Play {TITLE}").click()
    wait_for_turn(page)


def test_every_game_has_a_card_with_a_picture(page: Any, server: str) -> None:
    page.goto(server)
    page.locator(".card").nth(len(GAMES) - 1).wait_for()
    assert page.locator(".card img").count() == len(GAMES)
    loaded = "(e) => e.decode().then(() => e.naturalWidth)"
    assert all(picture.evaluate(loaded) for picture in page.locator(".card img").all())
    assert page.locator(".card", has_text="minutes").count() == len(GAMES)
    page.locator(".info summary").click()
    assert page.locator(".info dt").all_text_contents()[0] == "Beginner"


def test_a_first_game_says_who_won_and_goes_on(page: Any, server: str) -> None:
    """No name of the library is shown; the rules are open until a game of the kind is over."""
    start(page, server, "Beginner", "Second")
    assert page.locator(".azb-status").text_content() == "Your turn (black)"
    assert page.locator(".rules").get_attribute("open") is not None
    play_to_the_end(page, seed=4)
    now, card = view(page), page.locator(".end")
    assert card.locator("h2").text_content() == now["status"]
    assert now["status"] in ("You win", "You lose", "A draw")
    assert "player_" not in page.locator("main").inner_text()
    card.get_by_role("button", name="Swap sides").click()
    page.wait_for_selector(".play[data-ply='0'][data-yours='true']")
    assert view(page)["players"] == ["human", "random"]
    assert page.locator(".rules").get_attribute("open") is None
    page.goto(server)
    page.get_by_text("Finished games").wait_for()
    assert now["status"] in page.locator(".games li").last.inner_text()
    assert page.get_by_label("Beginner", exact=True).is_checked()


def test_a_refusal_marks_the_cells_that_forbid_the_move(page: Any, server: str) -> None:
    start(page, server, "Another person here")
    page.locator("[data-square='c3']").click()
    page.locator(".azb-pad").get_by_text("3", exact=True).click()
    page.wait_for_selector(".play[data-ply='1']")
    page.locator("[data-square='d3']").focus()
    page.keyboard.press("3")
    page.locator(".azb-said", has_text="c3").wait_for()
    position = Position("vierer_dominari").play("3c3")
    assert page.locator(".azb-said").text_content() == position.explain("3d3")
    assert page.locator(".azb-forbids").count() == 1
    assert "forbids the move" in page.locator("[data-square='c3']").get_attribute("aria-label")


@pytest.mark.parametrize("path", ["nothing", "nothing/here", "watch/nothing", "g/nothing"])
def test_an_unknown_address_leads_back(page: Any, server: str, path: str) -> None:
    page.goto(server.rstrip("/") + f"/{path}")
    page.locator(".problem .error").wait_for()
    assert "may be mistyped" in page.locator(".problem").inner_text()
    page.get_by_role("link", name="Choose a game").click()
    page.locator(".card").first.wait_for()
