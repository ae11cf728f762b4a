"""What makes the board pleasant: earlier positions, keys, dragging, stones that move."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.playing import (
    await_held,
    begin,
    click_move,
    held,
    place,
    play_to_the_end,
    settle,
    view,
    wait_for_turn,
)


def test_a_move_of_the_list_shows_its_position(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    for ply in range(3):
        place(page, "123"[ply], cell=ply)
        page.wait_for_selector(f".play[data-ply='{ply + 1}']")
    stones = (
        '(svg) => svg.querySelectorAll(\'[aria-label*="white"], [aria-label*="black"]\').length'
    )
    page.locator(".moves button").first.click()
    page.locator(".azb-status", has_text="After move 1").wait_for()
    assert page.locator(".azb-frame svg").evaluate(stones) == 1
    assert page.locator(".azb-legal").count() == 0
    assert page.locator(".moves [aria-current]").all_text_contents() == view(page)["made"][:1]
    page.get_by_role("button", name="Back to the game").click()
    assert page.locator(".azb-frame svg").evaluate(stones) == 3
    assert not page.get_by_role("button", name="Back to the game").is_visible()
    now = view(page)
    click_move(page, now, now["moves"][0])
    page.wait_for_selector(".play[data-ply='4']")


def test_a_position_that_comes_late_is_not_shown(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    for ply in range(2):
        place(page, "12"[ply], cell=ply)
        page.wait_for_selector(f".play[data-ply='{ply + 1}']")
    earlier = re.compile(r"\?ply=1$")
    waiting = held(page, earlier)
    page.locator(".moves button").first.click()
    await_held(page, waiting)
    page.locator(".moves button").last.click()
    with page.expect_response(earlier):
        waiting[0].continue_()
    settle(page)
    assert not page.get_by_role("button", name="Back to the game").is_visible()


def test_the_keys_are_explained(page: Any, server: str) -> None:
    page.goto(server)
    page.locator(".card").first.wait_for()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Help")
    dialog.get_by_text("undo", exact=True).wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    page.get_by_role("button", name="Help").click()
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="hidden")


AS_ANALYSED = """async (path) => {
  const { Replay } = await import("/static/replay.js");
  const data = await (await fetch(path)).json();
  const replay = new Replay(document.createElement("div"), data);
  document.body.append(replay.root);
  replay.go(2);
  replay.review({ plies: [], mistakes: [] });
}"""


def test_what_an_analysis_finds_does_not_keep_the_address_from_following(
    page: Any, server: str
) -> None:
    begin(page, server, "vierer_dominari", "random", seed="1")
    play_to_the_end(page, seed=3)
    game = view(page)
    page.evaluate(AS_ANALYSED, f"/api/games/{game['id']}/replay")
    page.wait_for_timeout(600)
    assert page.url.endswith("#2")
    for nonsense in ("#-1", "#", "#x", "#1x", "#game-9", "#game-x"):
        page.evaluate("(hash) => { location.hash = hash; }", nonsense)
        page.wait_for_timeout(50)
        assert page.locator(".azr-here").text_content() == game["made"][1]


def test_the_address_says_which_position_is_shown(page: Any, server: str) -> None:
    """A reload, and the link to watch, open there; also in the gallery."""
    begin(page, server, "vierer_dominari", "human", seed="1")
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    share = view(page)["share"]
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Resign").click()
    page.locator(".end").get_by_text("Analyse").click()
    page.locator(".azr-move").first.click()
    page.wait_for_url("**/analysis#1")
    page.reload()
    page.wait_for_selector(".azr-here")
    for path, ply in ((f"watch/{share}#1", 1), ("gallery/0#7", 7), ("gallery/1/analysis#12", 12)):
        page.goto(f"{server.rstrip('/')}/{path}")
        page.wait_for_selector(".azr-here")
        shown = page.locator(".azr-move").nth(ply - 1)
        assert shown.get_attribute("aria-current") == "step"
        page.get_by_role("button", name="First position").click()
        page.wait_for_url(lambda url: "#" not in url)


def drag(page: Any, start: str, end: str) -> None:
    """With the mouse, in steps."""
    boxes = [page.locator(f"[data-square='{cell}']").bounding_box() for cell in (start, end)]
    (x, y), (to_x, to_y) = ((b["x"] + b["width"] / 2, b["y"] + b["height"] / 2) for b in boxes)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move((x + to_x) / 2, (y + to_y) / 2)
    page.mouse.move(to_x, to_y)
    page.mouse.up()


def hop(page: Any) -> tuple[str, str, str]:
    """A move of one stone: its name, where the stone is, and where it goes."""
    now = view(page)
    name, _, [path, *_] = next(m for m in now["moves"] if m[2] and len(m[2][0]) == 2)
    start, end = (now["cells"][cell][0] for cell in path)
    return name, start, end


def test_a_stone_is_dragged_and_where_it_came_from_is_marked(page: Any, server: str) -> None:
    begin(page, server, "halma_dominari", "human", seed="1")
    name, start, end = hop(page)
    drag(page, start, start)
    assert view(page)["ply"] == 0
    drag(page, start, end)
    page.wait_for_selector(".play[data-ply='1']")
    assert view(page)["made"] == [name]
    assert page.locator(".azb-left").count() == 1
    assert "came from here" in page.locator(f"[data-square='{start}']").get_attribute("aria-label")


WATCH = """() => {
  window.moved = [];
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (frames, ...more) {
    window.moved.push(frames[0]);
    return animate.call(this, frames, ...more);
  };
}"""


def test_stones_move_unless_less_motion_is_wanted(page: Any, server: str) -> None:
    begin(page, server, "halma_dominari", "greedy", seed="1")
    page.evaluate(WATCH)
    drag(page, *hop(page)[1:])
    page.wait_for_selector(".play[data-ply='2']")
    moved = page.evaluate("window.moved")
    assert len(moved) == 2
    assert all(each["opacity"] == 1 and "0px, 0px" not in each["transform"] for each in moved)
    wait_for_turn(page)
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".play[data-ply='0']")
    assert len(page.evaluate("window.moved")) == 2


SOUNDS = """() => {
  window.tones = 0;
  const start = OscillatorNode.prototype.start;
  OscillatorNode.prototype.start = function (...when) {
    window.tones += 1;
    return start.apply(this, when);
  };
}"""


def test_moves_sound_only_if_wanted(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    page.evaluate(SOUNDS)
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    assert page.evaluate("window.tones") == 0
    page.get_by_label("Sounds").check()
    place(page, "2", cell=1)
    page.wait_for_selector(".play[data-ply='2']")
    assert page.evaluate("window.tones") == 2
    page.reload()
    page.wait_for_selector(".play")
    assert page.get_by_label("Sounds").is_checked()
    page.get_by_label("Sounds").uncheck()


IN_LINE = "...../....../......./......../.bbbww.../......../......./w...../..... b out=0,0"
AT_THE_EDGE = "...../....../......./......../....bbbww/......../......./w...../..... b out=0,0"


@pytest.mark.parametrize(
    ("position", "name", "stones"),
    [(IN_LINE, "e2e3", 5), (AT_THE_EDGE, "e5e6", 4), (IN_LINE, "e4f5", 1), (IN_LINE, "e2e4f3", 3)],
)
def test_a_row_moves_stone_by_stone(
    page: Any, server: str, position: str, name: str, stones: int
) -> None:
    """Own ones and those that are pushed, in line and sideways, forth and back."""
    begin(page, server, "abalone", "human", position=position)
    page.evaluate(WATCH)
    now = view(page)
    move = next(each for each in now["moves"] if each[0] == name)
    click_move(page, now, move)
    page.wait_for_selector(".play[data-ply='1']")
    lengths = """window.moved.map(({ transform }) => transform.match(/-?[\\d.]+/g))
      .map(([x, y]) => Math.round(Math.hypot(x, y)))"""
    moved = page.evaluate(lengths)
    assert len(moved) == stones
    assert len(set(moved)) == 1
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".play[data-ply='0']")
    assert page.evaluate(lengths)[stones:].count(moved[0]) >= min(stones, 3)
