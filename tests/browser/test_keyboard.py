"""The board by keys and for screen readers: where the focus goes, and what cells are called."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.playing import await_held, begin, held, place, settle, view

SQUARE_EDGE = {
    "Right": "b6 c6 d6 e6 f6", "Down": "f5 f4 f3 f2 f1",
    "Left": "e1 d1 c1 b1 a1", "Up": "a2 a3 a4 a5 a6",
}  # fmt: skip
HEXAGON_EDGE = {
    "Up": "b1 c1 d1 e1 f2 g3 h4 i5", "Right": "i6 i7 i8 i9",
    "Down": "h9 g9 f9 e9 d8 c7 b6 a5", "Left": "a4 a3 a2 a1",
}  # fmt: skip


def focused(page: Any) -> str:
    """The cell that has the keyboard's focus, or the text of the button."""
    found: str = page.evaluate(
        "document.activeElement.dataset.square || document.activeElement.textContent"
    )
    return found


@pytest.mark.parametrize(
    ("game", "start", "way"),
    [("vierer_dominari", "a6", SQUARE_EDGE), ("abalone", "a1", HEXAGON_EDGE)],
    ids=["square", "hexagon"],
)
def test_arrow_keys_go_to_the_nearest_cell(
    page: Any, server: str, game: str, start: str, way: dict[str, str]
) -> None:
    """All the way round the board; on a hexagon no row is left out."""
    begin(page, server, game, "human", seed="1")
    page.locator(f"[data-square='{start}']").focus()
    for key, squares in way.items():
        for square in squares.split():
            page.keyboard.press(f"Arrow{key}")
            assert focused(page) == square, key


def test_opposite_arrow_keys_lead_back_on_a_hexagon(page: Any, server: str) -> None:
    begin(page, server, "abalone", "human")
    page.locator("[data-square='e5']").focus()
    for key, back in (("Up", "Down"), ("Down", "Up"), ("Left", "Right"), ("Right", "Left")):
        page.keyboard.press(f"Arrow{key}")
        assert focused(page) != "e5"
        page.keyboard.press(f"Arrow{back}")
        assert focused(page) == "e5"


def test_one_search_for_a_hint_at_a_time(page: Any, server: str) -> None:
    """Also while the key is held down, and while the search is under way."""
    begin(page, server, "vierer_dominari", "human", seed="1")
    waiting = held(page, "**/hint")
    page.locator("[data-square='a6']").focus()
    for _ in range(5):
        page.keyboard.down("h")
    await_held(page, waiting)
    page.keyboard.up("h")
    page.keyboard.down("h")
    page.get_by_role("button", name="Hint").click()
    settle(page)
    assert len(waiting) == 1
    waiting[0].fulfill(json={"summary": "found", "moves": []})
    page.locator(".azb-said", has_text="found").wait_for()
    page.locator("[data-square='a6']").focus()
    page.keyboard.down("h")
    settle(page)
    assert len(waiting) == 1, "the key is still held down"
    page.keyboard.up("h")
    page.keyboard.press("h")
    await_held(page, waiting, 2)


def test_buttons_keep_the_focus(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    number = page.locator(".azb-pad").get_by_text("3", exact=True)
    number.focus()
    page.keyboard.press("Enter")
    assert number.get_attribute("aria-pressed") == "true"
    assert focused(page) == "3"
    page.keyboard.press("Enter")
    page.locator(".azb-legal").first.click()
    number.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".play[data-ply='1']")
    assert focused(page) == "3"


def test_the_board_takes_the_focus_of_buttons_that_are_gone(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    place(page, "3", cell=2)
    page.wait_for_selector(".play[data-ply='1']")
    here = page.locator(".azb-hit[tabindex='0']").get_attribute("data-square")
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".play[data-ply='0']")
    assert focused(page) == here, "there is nothing more to undo"
    hint = {"summary": "best", "moves": [{"move": view(page)["moves"][0][0], "verdict": "wins"}]}
    page.route("**/hint", lambda route: route.fulfill(json=hint))
    page.get_by_role("button", name="Hint").click()
    page.locator(".azb-hints button").focus()
    page.keyboard.press("Enter")
    page.locator(".azb-hints [aria-pressed=true]").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector(".play[data-ply='1']")
    assert focused(page) == here, "a hint is for one position"


def test_the_board_takes_the_focus_while_an_agent_thinks(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "random", seed="1")
    waiting = held(page, "**/answer")
    cell = page.locator(".azb-legal").first
    square = cell.get_attribute("data-square")
    cell.click()
    page.locator(".azb-pad").get_by_text("3", exact=True).focus()
    page.keyboard.press("Enter")
    await_held(page, waiting)
    assert focused(page) == square
    assert not page.locator(".azb-pad").is_visible()


def test_the_focus_goes_on_where_what_had_it_is_gone(page: Any, server: str) -> None:
    """After Play to the board, after Delete to the next game, with Back to the page."""
    for _ in range(5):
        begin(page, server, "vierer_dominari", "human", seed="1")
        assert focused(page) == "a6"
    page.go_back()
    games = page.locator(".games li")
    games.first.wait_for()
    assert page.evaluate("document.activeElement.id") == "main"
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_text("2 more").click()
    for left in (4, 3):
        games.last.get_by_role("button").press("Enter")
        games.nth(left).wait_for(state="detached")
        assert games.last.get_by_role("button").evaluate("(e) => e === document.activeElement")


def test_the_cell_that_has_the_focus_has_a_frame_with_an_edge(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    page.keyboard.press("ArrowRight")
    look = "(e) => [getComputedStyle(e).stroke, parseFloat(getComputedStyle(e).strokeWidth)]"
    edge, wide = page.locator("[data-square='b6']").evaluate(look)
    frame, narrow = page.locator(".azb-focus:visible").evaluate(look)
    assert (edge, frame) == ("rgb(255, 253, 245)", "rgb(10, 92, 176)")
    assert wide > narrow > 0
    assert page.locator(".azb-focus:visible").bounding_box() == pytest.approx(
        page.locator("[data-square='b6']").bounding_box(), abs=8
    )


def names(page: Any) -> list[str]:
    """What the cells are called."""
    return [hit.get_attribute("aria-label") for hit in page.locator(".azb-hit").all()]


def test_cells_tell_whose_region_they_are_in(page: Any, server: str) -> None:
    """In a draft, also which region that is."""
    begin(page, server, "sudoku_moyo", "human", seed="1", territory="draft")
    named = view(page)["names"]
    marks = page.locator(".azb-lit .azb-dot").all()
    dots = [[float(mark.get_attribute(name)) for name in ("cx", "cy")] for mark in marks]
    assert not [name for name, *place in named if place in dots], "no dot lies on a name"
    assert all(re.search(r", (free|neutral) region r[1-9](, |$)", name) for name in names(page))
    assert ", free region r" in names(page)[0]
    page.locator("[data-square='a1']").click()
    page.wait_for_selector(".play[data-ply='1']")
    assert any(re.search(r", light region r[1-9](, |$)", name) for name in names(page))
    begin(page, server, "sudoku_moyo", "human", seed="1")
    empty = [name for name in names(page) if ", empty" in name]
    assert empty
    assert all(re.search(r", (light|dark|neutral) region(, |$)", name) for name in empty)
    begin(page, server, "halma_dominari", "human", seed="1")
    assert not any("region" in name for name in names(page))
