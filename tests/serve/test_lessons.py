"""Lessons: every move that makes a point is accepted, no other is, and each step can be done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.lessons import begin_step, try_move
from azumaya.envs.lesson import Step
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES, find_game
from azumaya.envs.render.layout import layout_of
from tests.serve.requests import GAME, refused

LEARNT = [name for name in GAMES if find_game(name).words.lesson]


def lines(game: str, made: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All beginnings of a lesson, whichever of the right moves are made."""
    yield made
    steps = find_game(game).words.lesson
    if len(made) < len(steps):
        here = begin_step(find_game(game), made)
        for move in here.legal_moves():
            if try_move(here, steps[len(made)], move).right:
                yield from lines(game, (*made, move))


@pytest.mark.parametrize("game", LEARNT)
def test_each_step_can_be_done_whatever_was_played_before(game: str) -> None:
    steps = find_game(game).words.lesson
    every = list(lines(game))
    for made in every:
        here = begin_step(find_game(game), made)
        assert not here.is_over
        if len(made) < len(steps):
            assert any(line[: len(made)] == made and len(line) > len(made) for line in every)
            assert set(steps[len(made)].cells) <= set(layout_of(here.scene().board).names)
    assert max(map(len, every)) == len(steps) == 5


def makes_the_point(here: Position, step: Step, move: str) -> bool:
    """Fills a cell that the sentence names, or blocks all of them if they are the opponent's."""
    after, scene = here.copy().play(move), here.scene()
    known = layout_of(scene.board).names
    cells = {known.index(name) for name in step.cells}
    if {scene.grounds[cell] for cell in cells} != {"dark"}:
        return move[1:] in step.cells
    return after.is_over or cells <= after.scene().dead


def test_the_moves_of_a_step_are_those_that_make_its_point() -> None:
    steps = find_game(GAME).words.lesson
    for made in lines(GAME):
        if len(made) == len(steps):
            continue
        here, step = begin_step(find_game(GAME), made), steps[len(made)]
        for move in here.legal_moves():
            assert try_move(here, step, move).right == makes_the_point(here, step, move), move


def test_a_lesson_by_requests(client: TestClient) -> None:
    one = f"/api/lessons/{GAME}"
    made: list[str] = []
    for move in ("6f3", "8d5", "2f1", "8h8", "3e3"):
        step = client.post(one, json={"made": made}).json()
        assert (step["number"], step["of"], step["done"]) == (len(made) + 1, 5, False)
        wrong = next(each[0] for each in reversed(step["moves"]) if each[0] != move)
        tried = client.post(f"{one}/try", json={"made": made, "move": wrong}).json()
        if not tried["right"]:
            assert (tried["views"], tried["words"].split()[0]) == ([], wrong)
        tried = client.post(f"{one}/try", json={"made": made, "move": move}).json()
        assert tried["right"]
        assert len(tried["views"]) == (1 if not made else 2)
        made.append(move)
    end = client.post(one, json={"made": made}).json()
    assert (end["done"], end["moves"], end["toMove"]) == (True, [], 0)
    options = {"position": end["position"]}
    begun = client.post("/api/games", json={"game": GAME, "options": options, "second": "random"})
    assert begun.json()["text"] == end["position"]


def test_what_a_lesson_refuses(client: TestClient) -> None:
    one = f"/api/lessons/{GAME}"
    refused(client.post("/api/lessons/abalone", json={"made": []}), 404, "no lesson")
    refused(client.post(one, json={"made": 3}), 400, "made")
    refused(client.post(one, json={"made": ["2i8"]}), 400, "step 1", "is allowed")
    refused(client.post(one, json={"made": ["6f9"]}), 400, "rule 3")
    refused(client.post(one, json={"made": ["6f3"] * 6}), 400, "5 steps")
    refused(client.post(f"{one}/try", json={"made": [], "move": 3}), 400, "move")
    answer = client.post(f"{one}/explain", json={"made": [], "cells": [5], "label": "6"})
    assert "rule 3" in answer.json()["sentences"][0]
