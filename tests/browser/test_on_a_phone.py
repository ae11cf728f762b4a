"""What somebody meets on a phone who has never heard of the games: by taps alone, on one screen."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.envs import GAMES
from tests.browser.playing import place, play_to_the_end, view, wait_for_turn

PHONE = {
    "viewport": {"width": 360, "height": 740}, "device_scale_factor": 2, "has_touch": True,
    "is_mobile": True,
}  # fmt: skip
ON_ITS_SIDE = {**PHONE, "viewport": {"width": 740, "height": 360}}
FINGER = 40
"""What a finger meets for sure, in pixels."""
ENDS = "(all) => Math.max(...all.map((each) => each.getBoundingClientRect().bottom))"
TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"


def start(page: Any, server: str, title: str) -> None:
    """Play with one tap."""
    page.goto(server)
    page.get_by_role("button", name=f"Play {title}").tap()
    wait_for_turn(page)


def tap(page: Any, square: str) -> None:
    """Tap a cell."""
    page.locator(f"[data-square='{square}']").tap()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
@pytest.mark.parametrize("title", [game.title for game in GAMES.values()])
def test_turn_board_and_buttons_are_on_one_screen(page: Any, server: str, title: str) -> None:
    start(page, server, title)
    shown = page.locator(".azb-status, .azb-frame, .azb-pad, .azb-tools, .agree").filter(
        visible=True
    )
    assert shown.evaluate_all(ENDS) <= 740
    assert page.evaluate(TOO_WIDE) <= 0
    for button in page.locator(".play button").filter(visible=True).all():
        if not button.evaluate("(e) => Boolean(e.closest('.moves'))"):
            assert button.bounding_box()["height"] >= FINGER


@pytest.mark.parametrize("page", [ON_ITS_SIDE], indirect=True)
def test_on_its_side_the_numbers_are_beside_the_board(page: Any, server: str) -> None:
    start(page, server, "Sudoku Moyo")
    assert page.locator(".azb-under, .azb-pad").evaluate_all(ENDS) <= 360
    assert page.evaluate(TOO_WIDE) <= 0


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_who_is_new_begins_with_the_lesson_and_the_weakest(page: Any, server: str) -> None:
    page.goto(server)
    assert page.get_by_label("Beginner", exact=True).is_checked()
    page.get_by_role("link", name="Learn Sudoku Moyo").first.tap()
    tap(page, "i9")  # where only one number fits
    page.locator(".azb-said", has_text="Only 4 fits here").wait_for()
    assert "move 1 of 5" in page.locator("section h2").text_content()
    assert page.locator(".judged").get_attribute("data-right") is None, "looking is no move"
    tap(page, "a9")
    page.locator(".azb-pad").get_by_text("6", exact=True).tap()
    page.get_by_role("button", name="Next").wait_for()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_cell_says_why_nothing_goes_there(page: Any, server: str) -> None:
    """Before a number is chosen, what matters is the cell: not that one of nine does not fit."""
    start(page, server, "Sudoku Moyo")
    cells = view(page)["cells"]
    name = next(name for name, *_, content, region in cells if not content and "light" in region)
    tap(page, name)
    said = page.locator(".azb-said")
    said.filter(has_text="rule 2").wait_for()
    assert said.text_content().startswith("While a number fits the neutral region")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_what_to_do_stands_above_the_board(page: Any, server: str) -> None:
    start(page, server, "Sudoku tiles")
    task, board = page.locator(".azb-task"), page.locator(".azb-frame")
    assert "to place the" in task.text_content()
    assert task.bounding_box()["y"] < board.bounding_box()["y"]


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_hints_and_the_end_are_in_plain_words(page: Any, server: str) -> None:
    start(page, server, "Vierer-Dominari")
    page.get_by_role("button", name="Hint").tap()
    page.locator(".azb-said", has_text="The best move found is").wait_for()
    verdicts = page.locator(".azb-verdict").all_text_contents()
    assert all(each in ("wins", "loses", "draws") or "chances" in each for each in verdicts)
    page.on("dialog", lambda dialog: dialog.accept())
    assert page.get_by_role("button", name="Offer a draw").count() == 0
    page.get_by_role("button", name="Resign").tap()
    page.locator(".end h2", has_text="You lose").wait_for()
    assert "White resigned." in page.locator(".end").inner_text()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_a_game_won_says_why(page: Any, server: str) -> None:
    start(page, server, "Sudoku Moyo")
    play_to_the_end(page, seed=3)
    assert "cannot place a number" in page.locator(".end p").first.text_content()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_the_start_page_begins_with_what_goes_on(page: Any, server: str) -> None:
    start(page, server, "Vierer-Dominari")
    place(page, "1")
    wait_for_turn(page)
    page.goto(server)
    going_on = page.get_by_role("link", name="Vierer-Dominari, against Azumaya (beginner)")
    assert (
        going_on.bounding_box()["y"] < page.get_by_text("Opponent", exact=True).bounding_box()["y"]
    )
    page.locator(".more > summary").tap()
    assert page.evaluate(TOO_WIDE) <= 0
    going_on.tap()
    wait_for_turn(page)
    assert view(page)["ply"] == 2


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_help_says_how_to_play_by_taps(page: Any, server: str) -> None:
    page.goto(server)
    page.get_by_role("button", name="Help").tap()
    dialog = page.locator("dialog[open]")
    assert "Choose a cell, then a number" in dialog.inner_text()
    assert "Arrow keys" not in dialog.inner_text()
    dialog.get_by_role("button", name="Close").tap()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_who_looks_on_reads_no_names_of_the_library(page: Any, server: str) -> None:
    start(page, server, "Sudoku Moyo")
    page.goto(page.get_by_role("link", name="Watch").get_attribute("href"))
    page.locator(".azb-status").wait_for()
    assert "Light - Azumaya (beginner)" in page.locator("h1").inner_text()
    assert "player_" not in page.locator("main").inner_text()
