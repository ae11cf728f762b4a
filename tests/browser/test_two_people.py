"""Two people at two devices, and one who looks on: each a browser of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.playing import begin, place, play_to_the_end, view, wait_for_turn

TITLE = "Vierer-Dominari"


def invite(page: Any, server: str, title: str = TITLE, side: str = "First") -> str:
    """Begin a game against a friend; returns the friend's link."""
    page.goto(server)
    page.get_by_label("A friend, by a link", exact=True).check()
    page.get_by_label(side, exact=True).check()
    page.get_by_role("button", name=f"Play {title}").click()
    page.wait_for_selector(".play")
    link: str = page.get_by_label("Your friend's link", exact=True).input_value()
    return link


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def press_twice(page: Any, name: str) -> None:
    """Press a button that asks before it ends the game: first say no, then yes."""
    page.once("dialog", lambda dialog: dialog.dismiss())
    press(page, name)
    assert page.locator(".play[data-over='false']").count() == 1
    page.once("dialog", lambda dialog: dialog.accept())
    press(page, name)


def put(page: Any, cell: str, label: str) -> None:
    """Place a number."""
    page.locator(f"[data-square='{cell}']").click()
    page.locator(".azb-pad").get_by_text(label, exact=True).click()


def await_ply(ply: int, *pages: Any) -> None:
    for page in pages:
        page.wait_for_selector(f".play[data-ply='{ply}']")


def status(page: Any) -> str:
    return str(page.locator(".azb-status").text_content())


def test_two_play_and_one_looks_on(page: Any, server: str, device: Callable[..., Any]) -> None:
    link = invite(page, server)
    page.get_by_text("Waiting for your friend").wait_for()
    friend = device(link)
    watcher = device(server.rstrip("/") + f"/g/{view(page)['watch']}")
    page.get_by_text("Waiting for your friend").wait_for(state="detached")
    assert status(page) == "Your turn (white)"
    assert {status(friend), status(watcher)} == {"White to move"}
    assert watcher.locator(".azb-legal").count() == friend.locator(".azb-legal").count() == 0
    assert not watcher.get_by_role("button", name="Resign").is_visible()
    put(page, "c3", "3")
    await_ply(1, page, friend, watcher)
    wait_for_turn(friend)
    assert status(friend) == "Your turn (black)"
    assert friend.title().startswith("Your turn")
    assert friend.locator(".azb-said").text_content() == "White: 3c3"
    place(friend, "2", cell=1)
    await_ply(2, page, friend, watcher)
    assert page.locator(".moves li").count() == 2
    assert "You" in friend.locator(".aside").inner_text()


def test_the_link_says_which_colour_is_left_for_the_friend(page: Any, server: str) -> None:
    begin(page, server, "sudoku_moyo", "friend", seed="1", setup="choose")
    page.get_by_text("whoever has it plays dark").wait_for()
    press(page, "dark")
    await_ply(1, page)
    page.get_by_text("whoever has it plays light").wait_for()


def test_each_sees_the_board_from_their_own_side(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    friend = device(invite(page, server, side="First"))
    top = "(e) => e.getBoundingClientRect().top"
    for each, is_turned in ((page, False), (friend, True)):
        low, high = (each.locator(f"[data-square='{cell}']").evaluate(top) for cell in ("a1", "a6"))
        assert (low < high) == is_turned


def test_a_draw_and_a_move_back_are_agreed(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    friend = device(invite(page, server))
    put(page, "c3", "3")
    await_ply(1, page, friend)
    press(page, "Ask to take back")
    friend.get_by_text("White asks to take a move back.").wait_for()
    press(friend, "Decline")
    page.get_by_text("The offer was declined.").wait_for()
    press(page, "Ask to take back")
    friend.get_by_text("White asks to take a move back.").wait_for()
    press(page, "Withdraw")
    friend.get_by_text("The offer was withdrawn.").wait_for()
    press(page, "Ask to take back")
    press(friend, "Accept")
    await_ply(0, page, friend)
    press(friend, "Offer a draw")
    page.get_by_text("Black offers a draw.").wait_for()
    press(page, "Accept")
    for each in (page, friend):
        each.locator(".end", has_text="Both players agreed on a draw.").wait_for()
    friend.get_by_role("link", name="Analyse").click()
    friend.wait_for_selector(".review svg")


def test_resigning(page: Any, server: str, device: Callable[..., Any]) -> None:
    friend = device(invite(page, server, side="Second"))
    press_twice(friend, "Resign")
    page.locator(".end", has_text="White resigned.").wait_for()
    assert page.locator(".end h2").text_content() == "You win"
    assert friend.locator(".end h2").text_content() == "You lose"


def test_a_rematch_that_the_friend_offers(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    friend = device(invite(page, server))
    watcher = device(server.rstrip("/") + f"/g/{view(page)['watch']}")
    begun = page.url
    press_twice(page, "Resign")
    friend.locator(".end").wait_for()
    press(friend, "Offer to swap sides")
    page.get_by_text("Black offers a rematch with sides swapped.").wait_for()
    press(page, "Decline")
    friend.get_by_text("The offer was declined.").wait_for()
    press(friend, "Offer to swap sides")
    press(page, "Accept")
    for each in (page, friend, watcher):
        each.wait_for_selector(".play[data-over='false']")
    assert status(friend) == "Your turn (white)"
    put(friend, "c3", "3")
    await_ply(1, page, friend, watcher)
    friend.reload()
    await_ply(1, friend)
    page.goto(begun)
    page.get_by_role("link", name="Go to the rematch").click()
    await_ply(1, page)


def test_a_page_sends_to_the_rematch_once(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    """Who stays, or comes back by the browser's button, finds the game that is over."""
    friend = device(invite(page, server))
    press_twice(page, "Resign")
    press(friend, "Offer a rematch")
    sent: list[str] = []
    stay = lambda route: (sent.append(route.request.url), route.fulfill(status=204))  # noqa: E731
    page.route(re.compile("/g/[^/]*$"), stay)
    press(page, "Accept")
    page.get_by_role("link", name="Go to the rematch").wait_for()
    page.wait_for_timeout(2500)
    assert len(sent) == 1


def test_who_looks_on_sees_the_last_move_taken_back(
    page: Any, server: str, device: Callable[..., Any]
) -> None:
    begin(page, server, "vierer_dominari", "random", seed="1")
    watcher = device(server.rstrip("/") + f"/g/{view(page)['watch']}")
    play_to_the_end(page, seed=5)
    watcher.wait_for_selector(".play[data-over='true']")
    press(page, "Undo")
    watcher.wait_for_selector(".play[data-over='false']")


def test_a_lost_connection_comes_back(page: Any, server: str, device: Callable[..., Any]) -> None:
    friend = device(invite(page, server))
    friend.context.set_offline(True)
    friend.get_by_text("The connection is lost").wait_for()
    put(page, "c3", "3")
    await_ply(1, page)
    friend.context.set_offline(False)
    await_ply(1, friend)
    friend.goto(server)
    friend.get_by_text("Games of your friends").wait_for()
    friend.get_by_role("link", name=TITLE, exact=True).click()
    wait_for_turn(friend)


@pytest.mark.parametrize("is_shown", [False, True])
def test_a_deleted_game_leaves_the_list_of_the_friend(
    page: Any, server: str, device: Callable[..., Any], is_shown: bool
) -> None:
    """Once the friend learns of it: on the page of the game, or by the link in the list."""
    friend = device(invite(page, server))
    if not is_shown:
        friend.goto(server)
        friend.get_by_text("Games of your friends").wait_for()
    page.goto(server)
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator(".games li").first.get_by_role("button").click()
    page.locator(".games li").first.wait_for(state="detached")
    if is_shown:
        friend.get_by_text("This game was deleted.").wait_for()
    else:
        friend.get_by_role("link", name=TITLE, exact=True).click()
        friend.locator(".problem").wait_for()
    friend.goto(server)
    friend.locator(".card").first.wait_for()
    assert friend.get_by_text("Games of your friends").count() == 0


def test_a_draw_at_one_screen_is_asked_about(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    press_twice(page, "Agree on a draw")
    page.locator(".end", has_text="Both players agreed on a draw.").wait_for()
