"""Whole games of every kind, played by clicks; and what else the board does."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.baselines.play.gallery import read_gallery
from azumaya.envs import GAMES, Position
from azumaya.envs.render.board import view_of
from tests.browser.playing import (
    await_held,
    begin,
    held,
    open_form,
    place,
    play_to_the_end,
    settle,
    view,
    wait_for_turn,
)

SHORT = {"abalone": {"max_plies": "40"}}
"""Options that end long games early."""
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "color_scheme": "dark"}


@pytest.mark.parametrize("game", GAMES)
def test_whole_games_by_clicks(page: Any, server: str, game: str) -> None:
    begin(page, server, game, seed="1", **SHORT.get(game, {}))
    played = play_to_the_end(page, seed=2)
    assert len(played) > 2
    end = view(page)
    assert end["status"] == page.locator(".azb-status").text_content()
    position = Position(game, seed=1, **{k: int(v) for k, v in SHORT.get(game, {}).items()})
    for move in end["made"]:
        position.play(move)
    assert position.is_over
    assert list(position.returns()) == end["returns"]
    assert page.locator(".moves li").count() == len(end["made"])


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("sudoku_moyo", {"territory": "draft", "setup": "choose"}),
        ("halma_dominari", {"setup": "choose"}),
        ("vierer_dominari", {"referee": "False"}),
    ],
)
def test_choices_before_play_by_clicks(
    page: Any, server: str, game: str, options: dict[str, str]
) -> None:
    """Regions are taken by clicking any of their cells; colours and claims have buttons."""
    begin(page, server, game, "greedy", seed="1", **options)
    if game != "vierer_dominari":  # without a referee a game may take 200 turns
        play_to_the_end(page, seed=2)
    assert page.locator(".azb-frame svg").count() == 1


def test_a_stone_that_was_chosen_is_the_one_that_moves(page: Any, server: str) -> None:
    """A click where only another stone can go does not move that one."""
    position = Position("halma_dominari", setup=("123456", "123456"))
    legal = position.legal_moves()
    assert "2d1" in legal
    assert "3d1" not in legal
    begin(page, server, "halma_dominari", "human", setup="123456,123456")
    cell = "[data-square='{}']".format
    page.locator(cell("c1")).click()
    page.locator(cell("d1")).click()
    page.locator(".azb-said", has_text=position.explain("3d1")).wait_for()
    assert view(page)["made"] == []
    page.locator(cell("c1")).click()
    page.locator(cell("b1")).click()  # another stone is chosen instead
    page.locator(cell("d1")).click()
    page.wait_for_selector(".play[data-ply='1']")
    assert view(page)["made"] == ["2d1"]


def test_numbers_first_then_cells(page: Any, server: str) -> None:
    """A number that is chosen first lights only the cells that it fits."""
    begin(page, server, "sudoku_moyo", "human", seed="1")
    moves = view(page)["moves"]
    label = moves[0][1]
    page.locator(".azb-pad").get_by_text(label, exact=True).click()
    fitting = sum(move[1] == label for move in moves)
    assert page.locator(".azb-legal").count() == fitting < len({str(m[2]) for m in moves}) + 1
    page.locator(".azb-legal").first.click()
    page.wait_for_selector(".play[data-ply='1']")
    assert view(page)["made"][0].startswith(label)


def test_flipped_and_with_candidates(page: Any, server: str) -> None:
    """Turned round, the first cell is where the last one was, and takes clicks there."""
    begin(page, server, "vierer_dominari", "human", seed="1")
    places = "(e) => [e.getBoundingClientRect().x, e.getBoundingClientRect().y + scrollY]"
    before = page.locator("[data-square='a6']").evaluate(places)
    page.get_by_role("button", name="Flip").click()
    after = page.locator("[data-square='f1']").evaluate(places)
    assert after == pytest.approx(before, abs=1)
    page.get_by_role("button", name="Candidates").click()
    candidates = view(page)["candidates"]
    shown = page.locator(".azb-candidates text").count()
    assert shown == sum(len(numbers) for _, numbers, _ in candidates) > 0
    assert page.locator(".azb-lit .azb-border").count() == page.locator(".azb-legal").count() > 0
    ink = page.locator(".azb-candidates text").first.evaluate("(e) => getComputedStyle(e).fill")
    red, green, blue = (int(candidates[0][2][n : n + 2], 16) for n in (1, 3, 5))
    assert ink == f"rgb({red}, {green}, {blue})"


def test_hints_and_undo_against_a_search(page: Any, server: str) -> None:
    begin(page, server, "score_dominari", "uct:20ms", seed="1")
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".azb-hints li")
    assert "best" in page.locator(".azb-said").text_content()
    for _ in range(2):
        page.locator(".azb-hints button").first.click()
    page.wait_for_selector(".play:not([data-ply='0'])")
    wait_for_turn(page)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".play[data-ply='0']")


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_on_a_phone_by_touch(page: Any, server: str) -> None:
    """Nothing is wider than the screen, buttons are large enough, and taps make moves."""
    begin(page, server, "halma_dominari", "random", seed="1")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
    sizes = [button.bounding_box() for button in page.locator(".azb-button:visible").all()]
    assert min(min(size["width"], size["height"]) for size in sizes) >= 44
    now = view(page)
    path = now["moves"][0][2][0]
    for cell in path:
        page.locator(f"[data-square='{now['cells'][cell][0]}']").tap()
    page.wait_for_selector(".play:not([data-ply='0'])")
    assert view(page)["made"][0] == now["moves"][0][0]


def test_cells_have_names_for_those_who_listen(page: Any, server: str) -> None:
    begin(page, server, "halma_dominari", "human", seed="1")
    names = [hit.get_attribute("aria-label") for hit in page.locator(".azb-hit").all()]
    assert len(names) == 36
    assert all(names)
    assert any("white 1" in name for name in names)
    lit = [hit.get_attribute("aria-label") for hit in page.locator(".azb-legal").all()]
    assert lit
    assert all("possible" in name for name in lit)
    assert not all("possible" in name for name in names)
    assert page.locator(".azb-hit[tabindex='0']").count() == 1


def test_a_replay_steps_and_plays(page: Any, server: str) -> None:
    begin(page, server, "score_dominari", "random", seed="1")
    play_to_the_end(page, seed=3)
    made, task = view(page)["made"], view(page)["task"]
    page.goto(server.rstrip("/") + f"/watch/{view(page)['share']}")
    page.wait_for_selector(".azb-frame svg")
    assert page.locator(".azr-move").count() == len(made)
    page.get_by_role("button", name="Forward").click()
    assert page.locator(".azr-here").text_content() == made[0]
    assert page.locator("[aria-current=step]").all_text_contents() == [made[0]]
    page.get_by_label("Speed").select_option("very fast")
    page.get_by_role("button", name="Play").click()
    page.wait_for_selector(f".azr-moves li:nth-child({len(made)}) .azr-here")
    assert page.locator(".azb-status").text_content() == task


def test_the_gallery_opens_games_with_their_values(page: Any, server: str) -> None:
    page.goto(server)
    page.get_by_role("link", name="games between agents").click()
    page.locator(".gallery li").first.wait_for()
    assert page.locator(".gallery li").count() == len(read_gallery())
    page.locator(".gallery a").nth(1).click()
    page.locator(".azr-graph svg").wait_for()
    page.get_by_role("button", name="Last position").click()
    record = read_gallery()[1].record
    assert page.locator(".azr-here").text_content() == record.moves[-1]
    light_won = record.returns[0] > 0
    chances, proven = f"light {100 * light_won}%", "Light wins" if light_won else "Dark wins"
    said = page.locator(".azb-said").text_content()
    assert chances in said or proven in said  # the latter once the analysis is there


def test_a_hint_for_another_position_is_not_shown(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    waiting = held(page, "**/hint")
    page.get_by_role("button", name="Hint").click()
    await_held(page, waiting)
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    hint = {"summary": "of old", "moves": [{"move": "1a6", "verdict": "wins"}]}
    waiting[0].fulfill(json=hint)
    settle(page)
    assert page.locator(".azb-said").text_content() == ""
    assert not page.locator(".azb-hints").is_visible()


def test_a_late_explanation_leaves_what_was_chosen_since(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    waiting = held(page, "**/explain")
    page.locator(".azb-hit:not(.azb-legal)").first.click()
    await_held(page, waiting)
    page.locator(".azb-legal").first.click()
    assert page.locator(".azb-chosen").count() == 1
    waiting[0].fulfill(json={"sentences": ["too late"]})
    settle(page)
    assert page.locator(".azb-chosen").count() == 1
    assert page.locator(".azb-said").text_content() == ""


def test_without_an_answer_that_is_json_a_click_says_so(page: Any, server: str) -> None:
    """The server itself, or one in front of it, may also answer with a page."""
    begin(page, server, "sudoku_moyo", "human", seed="1")
    for answer, said in (
        (lambda route: route.abort(), "the server cannot be reached"),
        (lambda route: route.fulfill(status=500, body="<h1>"), "the server failed: status 500"),
    ):
        page.route("**/explain", answer)
        page.locator(".azb-hit:not(.azb-legal)").first.click()
        page.locator(".azb-said", has_text=said).wait_for()


def test_keys_are_commands_as_capitals_too(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    page.locator("[data-square='c3']").focus()
    for key in "uU":
        page.keyboard.press("3")
        page.wait_for_selector(".play[data-ply='1']")
        assert view(page)["made"] == ["3c3"]
        assert page.evaluate("document.activeElement.dataset.square") == "c3"
        page.keyboard.press(key)
        page.wait_for_selector(".play[data-ply='0']")


def test_a_game_that_was_left_changes_no_other_page(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "uct:20ms", seed="1")
    waiting = held(page, "**/answer")
    place(page, "3")
    await_held(page, waiting)
    page.go_back()
    page.wait_for_selector(".cards")
    words = page.locator("#what").text_content()
    assert page.title() == "Azumaya"
    with page.expect_response("**/answer"):
        waiting[0].continue_()
    settle(page)
    assert page.locator(".cards").count() == 1
    assert (page.title(), page.locator("#what").text_content()) == ("Azumaya", words)


def test_an_answer_to_a_move_taken_back_is_not_told(page: Any, server: str) -> None:
    """The agent is asked once for each position, and no refusal is left on the board."""
    begin(page, server, "vierer_dominari", "greedy", seed="1")
    waiting = held(page, "**/answer")
    place(page, "3")
    await_held(page, waiting)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector(".play[data-ply='0']")
    place(page, "2", cell=1)
    await_held(page, waiting, 2)
    for request in reversed(waiting):
        with page.expect_response("**/answer"):
            request.continue_()
    page.wait_for_selector(".play[data-ply='2']")
    settle(page)
    assert len(waiting) == 2
    assert page.locator(".azb-said").text_content() == f"Azumaya (easy): {view(page)['made'][1]}"
    assert page.locator(".moves [aria-current]").all_text_contents() == view(page)["made"][1:]


def test_a_field_that_is_wrong_is_shown(page: Any, server: str) -> None:
    page.goto(server)
    open_form(page)
    page.locator("[name='seed']").fill("-1")
    page.locator(".more > summary").click()
    assert not page.locator("[name='seed']").is_visible()
    page.locator("form").evaluate("(form) => form.requestSubmit()")
    page.locator("[name='seed']").wait_for(state="visible")
    assert page.locator("form .error").text_content() == ""


def test_opponents_are_named_and_kept(page: Any, server: str) -> None:
    """A name that says no time is shown as it is; another game keeps the opponent if it can."""
    more = [{"name": name, "games": None} for name in ("uct:300", "mine:Class", "puct:10ms:a/b")]
    more.append({"name": "runs/abalone/policy", "games": ["abalone"]})

    def with_more(route: Any) -> None:
        choices = route.fetch().json()
        choices["players"] += more
        route.fulfill(json=choices)

    page.route("**/api/choices", with_more)
    page.goto(server)
    open_form(page)
    game, opponent = (page.get_by_label(name, exact=True) for name in ("Game", "Against"))
    game.select_option("abalone")
    names = opponent.locator("option").all_inner_texts()
    assert set(names) >= {each["name"] for each in more}
    assert "tree search, 20 ms a move" in names
    assert "Hard: tree search, 500 ms a move" in names
    assert "another person at this screen" in names
    opponent.select_option("greedy")
    game.select_option("vierer_dominari")
    assert opponent.input_value() == "greedy"
    game.select_option("abalone")
    opponent.select_option("runs/abalone/policy")
    game.select_option("vierer_dominari")
    assert opponent.input_value() == "uct:100ms"


NO_CLIPBOARD = (
    "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
    "void (navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed')))",
)


@pytest.mark.parametrize("broken", NO_CLIPBOARD, ids=["absent", "refused"])
def test_a_link_that_cannot_be_copied_is_shown(page: Any, server: str, broken: str) -> None:
    """Browsers offer the clipboard only by HTTPS or on the same machine."""
    begin(page, server, "vierer_dominari", "human", seed="1")
    page.evaluate(broken)
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_label("Link", exact=True)
    shown = server.rstrip("/") + f"/watch/{view(page)['share']}"
    assert link.input_value() == shown
    assert link.evaluate("(e) => e.selectionEnd - e.selectionStart") == len(link.input_value())
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    assert page.locator(".moves li").count() == 1
    assert link.input_value() == shown


def test_games_can_be_deleted(page: Any, server: str) -> None:
    begin(page, server, "vierer_dominari", "human", seed="1")
    place(page, "3")
    page.wait_for_selector(".play[data-ply='1']")
    link = page.url
    page.go_back()
    games = page.locator(".games li")
    games.first.wait_for()
    assert "1 move," in games.first.inner_text() + " "
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.get_by_role("button", name="Delete").click()
    assert games.count() == 1
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete").click()
    games.first.wait_for(state="detached")
    assert page.evaluate("document.activeElement.id") == "main"
    page.goto(link)
    page.locator(".error", has_text="not yours").wait_for()


NOTEBOOK = """async ([view, next]) => {
  const { default: widget } = await import("/static/widget.js");
  const heard = {};
  const place = document.body.appendChild(document.createElement("div"));
  place.id = "cell";
  window.sent = [];
  window.model = {
    view, heard, get: (name) => window.model[name], send: (content) => window.sent.push(content),
    on: (event, act) => { heard[event] = act; }, off: (event) => { delete heard[event]; },
  };
  window.tell = (content) => heard["msg:custom"](content);
  window.renew = () => { window.model.view = next; heard["change:view"](); };
  window.leave = widget.render({ model: window.model, el: place });
}"""
"""What a notebook does with the module, as anywidget describes it."""


def test_in_a_notebook(page: Any, server: str) -> None:
    """Clicks become messages that say on which position; a new view is shown; answers arrive."""
    position = Position("score_dominari", seed=1)
    name = position.legal_moves()[0]
    both = (position, position.copy().play(name))
    views = [{**view_of(here), "changes": changes} for changes, here in enumerate(both)]
    page.goto(server)
    page.wait_for_selector(".cards")
    page.evaluate(NOTEBOOK, views)
    cell = page.locator("#cell")
    cell.locator("[data-square='f3']").click()
    (question,) = page.evaluate("window.sent")
    assert (question["kind"], question["label"]) == ("explain", "")
    page.evaluate("window.tell({kind: 'why', number: 1, sentences: ['not there']})")
    cell.locator(".azb-said", has_text="not there").wait_for()
    cell.locator(f"[data-square='{name[1:]}']").click()
    cell.locator(".azb-pad").get_by_text(name[0], exact=True).click()
    assert page.evaluate("window.sent")[1:] == [{"kind": "play", "move": name, "changes": 0}]
    page.evaluate("window.renew()")
    assert cell.locator(".azb-status").text_content() == views[1]["status"]
    cell.locator(".azb-hit:not(.azb-legal)").first.click()
    assert page.evaluate("window.sent.at(-1).changes") == 1
    page.evaluate("window.tell({kind: 'said', text: 'refused'})")
    assert cell.locator(".azb-said").text_content() == "refused"
    ground = "(e) => getComputedStyle(e).backgroundColor"
    assert cell.evaluate(ground) == "rgb(250, 248, 243)"
    for dark in ("document.body.className = 'vscode-dark'",
                 "document.documentElement.setAttribute('theme', 'dark')"):  # fmt: skip
        page.evaluate(dark)
        assert cell.evaluate(ground) == "rgb(29, 28, 26)"
        page.evaluate("document.body.className = ''")
    page.evaluate("window.leave()")
    assert page.evaluate("Object.keys(window.model.heard)") == []
