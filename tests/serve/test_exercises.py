"""Exercises on the server: which there are, what they show, how moves are judged."""

from __future__ import annotations

import datetime

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.exercises import LEVELS, daily_exercise, exercise_games, find_exercise
from azumaya.baselines.play.server import exercises
from azumaya.envs.render.pointing import why_not
from tests.serve.requests import refused

PATH = "/api/exercises/halma_dominari/hard/3"


def test_all_exercises_are_listed(client: TestClient) -> None:
    listed = client.get("/api/exercises").json()
    assert [each["name"] for each in listed] == exercise_games()
    for each in listed:
        assert each["levels"] == {v: find_exercise(each["name"], v).of for v in LEVELS}
    daily = client.get("/api/exercises/daily").json()
    found = daily_exercise(datetime.date.fromisoformat(daily["day"]))
    assert (daily["game"], daily["level"], daily["number"]) == (
        found.game, found.level, found.number,
    )  # fmt: skip


def test_an_exercise_shows_a_task_and_no_values(client: TestClient) -> None:
    view = client.get(PATH).json()
    assert view["status"] == "Black to move: find a move that wins"
    assert view["yours"]
    assert sorted(move[0] for move in view["moves"]) == ["1a3", "6off"]
    assert not {"values", "kept", "right"} & set(view)
    assert "player_" not in str([view["status"], view["notes"], view["trays"]])


def test_moves_are_judged_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    right = client.post(f"{PATH}/judge", json={"move": "1a3"}).json()
    assert right["right"]
    assert len(right["views"]) == 1
    wrong = client.post(f"{PATH}/judge", json={"move": "6off"}).json()
    assert (wrong["right"], wrong["line"]) == (False, ["3f5"])
    assert [view["yours"] for view in wrong["views"]] == [False, False]
    assert wrong["words"] == "Not this one: 6off loses. White answers 3f5."
    monkeypatch.setattr(exercises, "judged", lambda *_: pytest.fail("judged again"))
    assert client.post(f"{PATH}/judge", json={"move": "6off"}).json() == wrong


def test_clicks_that_make_no_move_are_explained(client: TestClient) -> None:
    start = find_exercise("halma_dominari", "hard", 3).start()
    for cells in ([0], [*range(8)]):
        said = client.post(f"{PATH}/explain", json={"cells": cells}).json()["sentences"]
        assert len(said) == len(why_not(start, cells))


def test_what_is_refused(client: TestClient) -> None:
    for path in ("chess/hard/3", "halma_dominari/harder/3", "halma_dominari/hard/0",
                 "sudoku_tiles/easy/1"):  # fmt: skip
        refused(client.get(f"/api/exercises/{path}"), 404, "no such exercise")
    refused(client.post(f"{PATH}/judge", json={"move": "1a2"}), 400, "legal move")
    refused(client.post(f"{PATH}/judge", json={"move": ["1a3"]}), 400, "legal move")
    refused(client.post(f"{PATH}/judge", json=[]), 400, "object")
    board = find_exercise("halma_dominari", "hard", 3).start().game.observation.cells
    for cells in ([board], [*range(9)]):
        refused(client.post(f"{PATH}/explain", json={"cells": cells}), 400, "cells: ")
    for page in ("/exercises", "/exercises/daily", "/exercises/halma_dominari/hard/3"):
        assert "<main" in client.get(page).text
