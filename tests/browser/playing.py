"""Playing on the page as a person does: by clicks on cells, numbers and buttons."""

from __future__ import annotations

import random
from typing import Any

PHONE = {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark", "has_touch": True}
Move = tuple[str, str, list[list[int]]]


def begin(page: Any, server: str, game: str, against: str = "random", **options: str) -> None:
    """Choose a game with its options on the start page and begin it."""
    page.goto(server)
    open_form(page)
    page.get_by_label("Game", exact=True).select_option(game)
    page.get_by_label("Against", exact=True).select_option(against)
    if options:
        for name, value in options.items():
            page.locator(f"[name='option:{name}'], [name='{name}']").fill(value)
    page.locator("form .go").click()
    wait_for_turn(page)


def open_form(page: Any) -> None:
    """Unfold the options of the start page."""
    page.locator(".more > summary").click()


def wait_for_turn(page: Any) -> None:
    """Wait until the person may move, or the game is over."""
    page.wait_for_selector(".play[data-yours='true'], .play[data-over='true']")


def view(page: Any) -> dict[str, Any]:
    """The game as the server sees it."""
    ask = "() => fetch('../api/games/' + location.pathname.split('/').pop()).then((a) => a.json())"
    found: dict[str, Any] = page.evaluate(ask)
    return found


def settle(page: Any) -> None:
    """Let the page do what the last answers of the server call for."""
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")


def held(page: Any, address: Any) -> list[Any]:
    """Requests to such addresses from now on, which wait for an answer."""
    waiting: list[Any] = []

    def hold(route: Any) -> None:  # Playwright marks functions, and cannot mark `append`
        waiting.append(route)

    page.route(address, hold)
    return waiting


def await_held(page: Any, waiting: list[Any], count: int = 1) -> None:
    """Wait until `count` requests are pending."""
    for _ in range(500):
        if len(waiting) >= count:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(waiting)} requests wait for an answer; {count} should")


def place(page: Any, label: str, cell: int = 0) -> None:
    """Place a number on one of the cells that are possible."""
    page.locator(".azb-legal").nth(cell).click()
    page.locator(".azb-pad").get_by_text(label, exact=True).click()


def click_move(page: Any, now: dict[str, Any], move: Move, way: int = 0) -> None:
    """Make a move of a view by the clicks that the board promises will make it."""
    name, label, paths = move
    path = paths[way]
    for cell in path:
        page.locator(f"[data-square='{now['cells'][cell][0]}']").click()
    button = page.locator(f".azb-extra [data-move='{name}']")
    number = page.locator(".azb-pad").get_by_text(label, exact=True) if label else button
    if not path:
        button.click()
    elif page.locator(".azb-chosen").count():  # the cells alone do not tell which move is meant
        (button if button.count() else number).click()


def play_to_the_end(page: Any, seed: int) -> list[str]:
    """Play random moves by clicks until the game is over; returns the person's moves."""
    rng, played = random.Random(seed), []
    while True:
        wait_for_turn(page)
        now = view(page)
        if now["over"]:
            return played
        move = rng.choice(now["moves"])
        click_move(page, now, move, rng.randrange(len(move[2])))
        page.wait_for_selector(f".play:not([data-ply='{now['ply']}'])")
        made = view(page)["made"]
        assert made[now["ply"]] == move[0], f"{move} was clicked, {made[now['ply']]} was played"
        played.append(move[0])
