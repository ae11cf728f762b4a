"""The analysis of a game that is over, and hints drawn on the board."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.playing import PHONE, begin, click_move, play_to_the_end, view


def analysed(page: Any, server: str) -> list[str]:
    """A game that was played to its end and analysed from its card; returns its moves."""
    begin(page, server, "vierer_dominari", "random", seed="1")
    play_to_the_end(page, seed=5)
    made: list[str] = view(page)["made"]
    page.locator(".end").get_by_role("link", name="Analyse").click()
    page.wait_for_selector(".review progress[hidden]", state="attached")
    return made


def test_a_game_is_analysed_with_graph_best_moves_and_mistakes(page: Any, server: str) -> None:
    made = analysed(page, server)
    assert page.locator(".azr-move").all_text_contents() == made
    graph = page.locator(".azr-graph svg")
    graph.focus()
    page.keyboard.press("End")
    assert graph.get_attribute("aria-valuenow") == str(len(made))
    assert "(proven)" in graph.get_attribute("aria-valuetext")
    page.keyboard.press("Home")
    assert page.locator(".azb-ghost").count() == 1
    assert "Best move: " in page.locator(".azb-said").text_content()
    page.locator("[data-square='a6']").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.square") == "b6"
    assert page.locator(".azr-here").count() == 0, "the key goes to the next cell alone"
    page.keyboard.press("End")
    assert page.locator(".azr-here").text_content() == made[-1]
    page.keyboard.press("Home")
    assert page.locator(".azr-here").count() == 0
    page.locator(".azr-move").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".azr-here").text_content() == made[0]
    box = graph.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 20)
    assert page.locator(".azr-here").text_content() == made[-1]
    wrong = page.locator(".azr-wrong").all_text_contents()
    assert len(wrong) == page.locator(".azr-mistake").count()
    tally = page.locator(".azr-tally").text_content()
    assert sum(map(int, re.findall(r"\d+", tally))) == len(wrong)
    if wrong:
        page.get_by_role("button", name="Next mistake").click()
        assert "is a mistake" in page.locator(".azb-said").text_content()
    assert "player_" not in page.locator("main").inner_text()
    page.get_by_role("link", name="Back to the game").click()
    page.locator(".end").wait_for()
    page.goto(server)
    page.get_by_role("link", name="Analyse").first.click()
    page.locator(".azr-move").first.wait_for()
    assert page.locator(".azr-move").all_text_contents() == made


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_an_analysis_fits_a_phone(page: Any, server: str) -> None:
    made = analysed(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".azr-graph svg").tap()
    assert page.locator(".azr-here").text_content() in made


def test_an_analysis_that_fails_says_so(page: Any, server: str) -> None:
    """And goes on once the page is woken."""
    begin(page, server, "vierer_dominari", "random", seed="1")
    play_to_the_end(page, seed=6)
    refusal = {"error": "too many searches are under way"}
    page.route("**/review", lambda route: route.fulfill(status=503, json=refusal))
    page.locator(".end").get_by_role("link", name="Analyse").click()
    page.locator(".review .error", has_text="too many searches").wait_for()
    assert page.locator(".azr-move").count()
    page.unroute("**/review")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.locator(".review .error", has_text="too many searches").wait_for(state="detached")


@pytest.mark.parametrize("game", ["vierer_dominari", "halma_dominari"])
def test_a_hint_shows_at_the_first_click_and_plays_at_the_second(
    page: Any, server: str, game: str
) -> None:
    """A ghost where a number is placed, an arrow where a stone moves."""
    begin(page, server, game, "human", seed="1")
    while not any(len(move[2][0]) > 1 for move in view(page)["moves"]) and game.startswith("halma"):
        now = view(page)
        click_move(page, now, now["moves"][0])
        page.wait_for_selector(f".play[data-ply='{now['ply'] + 1}']")
    ply = int(page.locator(".play").get_attribute("data-ply"))
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".azb-hints li")
    assert page.locator(".azb-ghost").count() > 1
    hint = page.locator(".azb-hints button").nth(1)
    hint.click()
    assert page.locator(".azb-ghost").count() == 1
    assert page.locator(".azb-arrow").count() == game.startswith("halma")
    assert hint.get_attribute("aria-pressed") == "true"
    name = hint.text_content()
    assert name in page.locator(".azb-said").text_content()
    hint.click()
    page.wait_for_selector(f".play[data-ply='{ply + 1}']")
    assert view(page)["made"][-1] == name
    assert page.locator(".azb-ghost").count() == 0
