"""Exercises in the browser: from the start page, right and wrong answers, streaks."""

from __future__ import annotations

from typing import Any

import pytest

from azumaya.baselines.play.exercises import daily_exercise, find_exercise
from tests.browser.playing import PHONE, click_move

HALMA = "halma_dominari"


def answer(page: Any, view: dict[str, Any], name: str) -> None:
    """Make a move by clicks."""
    click_move(page, view, next(move for move in view["moves"] if move[0] == name))


def shown(page: Any, game: str, level: str, number: int) -> dict[str, Any]:
    """The exercise as the server sees it, once the page shows it."""
    page.locator(".exercise .azb-hit").first.wait_for()
    path = f"../../../api/exercises/{game}/{level}/{number}"
    found: dict[str, Any] = page.evaluate(f"() => fetch('{path}').then((a) => a.json())")
    return found


@pytest.mark.parametrize("page", [{}, PHONE], indirect=True)
def test_a_wrong_answer_is_refuted_on_the_board(page: Any, server: str) -> None:
    page.goto(server.rstrip("/") + f"/exercises/{HALMA}/hard/3")
    view = shown(page, HALMA, "hard", 3)
    answer(page, view, "6off")
    page.locator(".judged", has_text="Not this one: 6off loses. White answers 3f5.").wait_for()
    assert "last move" in page.locator("[data-square='f5']").get_attribute("aria-label")
    assert page.evaluate("document.activeElement.textContent") == "Try again"
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.get_by_role("button", name="Try again").click()
    answer(page, view, "1a3")
    page.locator(".judged", has_text="Right: 1a3 wins.").wait_for()
    assert not page.locator(".exercise section").get_by_text("in a row").count()
    page.get_by_role("link", name="Next", exact=True).click()
    page.wait_for_url(f"**/exercises/{HALMA}/hard/4")


def test_streaks_count_right_answers_at_the_first_try(page: Any, server: str) -> None:
    for number in (1, 2):
        page.goto(server.rstrip("/") + f"/exercises/{HALMA}/easy/{number}")
        view = shown(page, HALMA, "easy", number)
        answer(page, view, sorted(find_exercise(HALMA, "easy", number).question.kept)[0])
        page.get_by_text(f"{number} in a row").wait_for()
    page.goto(server)
    page.get_by_role("link", name="All exercises").click()
    page.get_by_text("2 in a row at the first try; most so far: 2").wait_for()
    page.get_by_role("link", name="Halma-Dominari, easy: 2 of").click()
    page.wait_for_url(f"**/exercises/{HALMA}/easy/3")
    exercise = find_exercise(HALMA, "easy", 3)
    answer(page, shown(page, HALMA, "easy", 3), exercise.question.worst)
    page.get_by_text("0 in a row at the first try; most so far: 2").wait_for()


def test_the_exercise_of_the_day_is_on_the_start_page(page: Any, server: str) -> None:
    page.goto(server)
    page.get_by_role("link", name="Exercise of the day").click()
    page.locator(".exercise .azb-hit").first.wait_for()
    daily = daily_exercise()
    view = page.evaluate(
        f"() => fetch('../api/exercises/{daily.game}/{daily.level}/{daily.number}')"
        ".then((a) => a.json())"
    )
    answer(page, view, sorted(daily.question.kept)[0])
    page.locator(".judged", has_text="Right").wait_for()
    page.goto(server)
    page.get_by_role("link", name=", solved").wait_for()


def test_what_is_no_exercise_leads_back(page: Any, server: str) -> None:
    page.goto(server.rstrip("/") + "/exercises/chess/easy/1")
    page.locator(".problem .error", has_text="no such exercise").wait_for()


def test_a_click_that_makes_no_move_is_explained(page: Any, server: str) -> None:
    page.goto(server.rstrip("/") + f"/exercises/{HALMA}/hard/3")
    shown(page, HALMA, "hard", 3)
    page.locator("[data-square='f5']").click()
    page.locator(".azb-said:not(:empty)").wait_for()
