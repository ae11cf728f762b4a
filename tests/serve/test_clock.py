"""Clocks: the server counts the time of each side, also through a restart, and ends the game."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server.changes import Changes
from azumaya.baselines.play.server.games import Games
from tests.serve.requests import GAME, JSON, another, begin, refused, send
from tests.serve.test_two_people import look, move

CLOCK = {"minutes": 1, "increment": 2}
PARTS = "vierer_dominari"
"""A game with turns of several moves."""


class Time:
    """The time of the tests, which goes on only when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        monkeypatch.setattr("time.time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def left(client: TestClient, name: str) -> list[float]:
    found: list[float] = look(client, name)["clock"]["left"]
    return found


def test_each_side_has_its_time(client: TestClient, clock: Time) -> None:
    """The first turn of each is free, then whoever is to move pays, and gains with each turn."""
    assert begin(client)["clock"] is None
    game = begin(client, clock=CLOCK)["id"]
    for expected in ([62, 60], [62, 62]):
        clock.now += 500
        assert look(client, game)["clock"]["running"] is None
        assert move(client, game)["clock"]["left"] == expected
    clock.now += 10
    seen = look(client, game)["clock"]
    assert (seen["left"], seen["running"], seen["minutes"]) == ([52, 62], 0, 1)
    assert move(client, game)["clock"]["left"] == [54, 62]
    clock.now += 5
    back = send(client, look(client, game), "undo").json()
    assert back["clock"]["left"] == [52, 57], "what the move gained is taken back with it"


def test_the_first_turn_is_free_with_all_its_moves(client: TestClient, clock: Time) -> None:
    view = begin(client, options={"handicap": "1, 3"}, clock=CLOCK)
    for mover in (1, 1, 1, 0):
        clock.now += 500
        assert view["toMove"] == mover
        assert look(client, view["id"])["clock"]["running"] is None
        view = move(client, view["id"])
    assert view["clock"]["left"] == [62, 62]
    assert view["clock"]["running"] == 1


def test_nobody_loses_on_time_by_taking_a_move_back(client: TestClient, clock: Time) -> None:
    game = begin(client, clock=CLOCK)["id"]
    for _ in range(2):
        move(client, game)
    clock.now += 61.5
    assert move(client, game)["clock"]["left"] == [2.5, 62]
    move(client, game)
    clock.now += 2
    assert look(client, game)["clock"]["left"] == [0.5, 64]
    for _ in range(2):
        back = send(client, look(client, game), "undo").json()
    assert back["clock"]["left"] == [0.5, 62]
    assert not back["over"]


def test_a_turn_of_several_moves_gains_once(client: TestClient, clock: Time) -> None:
    view = begin(client, PARTS, clock=CLOCK)
    turns = 0
    while turns == view["ply"] and not view["over"]:
        before, view = view["toMove"], move(client, view["id"])
        turns += view["toMove"] != before
    assert turns == view["ply"] - 1
    assert sum(view["clock"]["left"]) == 120 + 2 * turns


def test_who_runs_out_of_time_loses(client: TestClient, clock: Time) -> None:
    view = begin(client, second="friend", clock=CLOCK)
    friend = another(client)
    move(client, view["id"])
    move(friend, view["friend"])
    late = look(client, view["id"])
    clock.now += 62
    refused(send(client, late, "move", move=late["moves"][0][0]), 409, "at move 2")
    over = look(friend, view["friend"])
    assert (over["over"], over["returns"], over["clock"]["left"][0]) == (True, [-1, 1], 0)
    assert over["task"].endswith("ran out of time.")
    assert look(friend, view["watch"])["clock"]["running"] is None
    (listed,) = client.get("/api/games").json()
    assert listed["result"] == "You lose"


def test_the_time_of_an_agent_is_not_counted(client: TestClient, clock: Time) -> None:
    view = begin(client, second="random", clock=CLOCK)
    assert view["clock"]["timed"] == [True, False]
    for _ in range(2):
        view = send(client, move(client, view["id"]), "answer").json()
        clock.now += 3
    view = move(client, view["id"])
    clock.now += 500
    assert look(client, view["id"])["thinking"]
    assert left(client, view["id"])[0] == 60 + 3 * 2 - 2 * 3


def test_a_clock_survives_a_restart(opened: Any, clock: Time) -> None:
    """Without the time while the server was down, and that of the move under way."""
    with opened() as client:
        view = begin(client, clock=CLOCK)
        for _ in range(2):
            move(client, view["id"])
        clock.now += 5
        move(client, view["id"])
        clock.now += 7
    clock.now += 10_000
    with opened() as client:
        clock.now += 1
        assert left(client, view["id"]) == [59, 61]


@pytest.mark.parametrize(
    "wish", [3, {}, {"minutes": 0}, {"minutes": True}, {"minutes": 5, "increment": -1},
             {"minutes": 1000}, {"minutes": float("nan")}]
)  # fmt: skip
def test_what_is_no_clock(client: TestClient, wish: object) -> None:
    content = json.dumps({"game": "sudoku_moyo", "clock": wish})
    assert client.post("/api/games", content=content, headers=JSON).status_code == 400


def test_only_the_event_loop_ends_a_game(
    opened: Any, clock: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads open games; two that ended the same one would count its changes twice."""
    with opened() as client:
        view = begin(client, clock=CLOCK)
        for _ in range(2):
            move(client, view["id"])
    ending: list[int] = []
    end = Changes.end
    monkeypatch.setattr(
        Changes, "end", lambda *given: (ending.append(threading.get_ident()), end(*given))[1]
    )
    with opened() as client:
        clock.now += 70
        assert look(client, view["id"])["over"]
        assert client.portal is not None
        assert ending == [client.portal.call(threading.get_ident)]


def test_to_open_a_game_in_memory_does_not_end_it(clock: Time, games: Games) -> None:
    """A thread may come to open one that another has just opened."""
    game = games.begin("me", {"game": GAME, "clock": CLOCK})
    for changes in range(2):
        games.move(game, changes, game.table.here.legal_moves()[0])
    clock.now += 70
    assert not games.open(game.name, "me").opened.is_over
    assert games.at_hand(game.name, "me") is not None
    assert game.opened.is_over
