"""Two people at two devices: who may do what by which link, offers, resignation."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server.app import COOKIE
from azumaya.baselines.play.server.store import Store
from tests.serve.requests import GAME, another, begin, delete, refused, send, token, visitor

DRAWN = "abalone"


@pytest.fixture
def friend(client: TestClient) -> TestClient:
    """Another browser at the same server."""
    return another(client)


def look(client: TestClient, name: str, **query: str) -> dict[str, Any]:
    answer = client.get(f"/api/games/{name}", params=query)
    assert answer.status_code == 200, answer.text
    view: dict[str, Any] = answer.json()
    return view


def move(client: TestClient, name: str) -> dict[str, Any]:
    view = look(client, name)
    made = send(client, view, "move", move=view["moves"][0][0])
    assert made.status_code == 200, made.text
    after: dict[str, Any] = made.json()
    return after


@pytest.mark.parametrize("first", ["human", "friend"])
def test_each_moves_only_in_their_own_seat(
    client: TestClient, friend: TestClient, first: str
) -> None:
    second = "friend" if first == "human" else "human"
    mine = begin(client, first=first, second=second)
    theirs = look(friend, mine["friend"])
    own = int(first == "friend")
    assert (mine["seats"], theirs["seats"]) == ([own], [1 - own])
    assert (mine["yours"], theirs["yours"]) == (not own, bool(own))
    assert theirs["friend"] == ""
    assert (mine["called"][own], theirs["called"][1 - own]) == ("You", "You")
    waiting, moving = (theirs, mine) if mine["yours"] else (mine, theirs)
    asked = {mine["id"]: client, theirs["id"]: friend}
    assert waiting["status"] == f"{waiting['sides'][0].capitalize()} to move"
    assert moving["status"] == f"Your turn ({waiting['sides'][0]})"
    late = send(asked[waiting["id"]], waiting, "move", move=moving["moves"][0][0])
    refused(late, 409, "not your turn")
    move(asked[moving["id"]], moving["id"])
    assert look(asked[waiting["id"]], waiting["id"])["yours"]


def test_the_link_to_watch_changes_nothing(client: TestClient, friend: TestClient) -> None:
    view = begin(client, DRAWN, second="friend")
    seen = look(friend, view["watch"])
    assert (seen["seats"], seen["yours"], seen["moves"], seen["offers"]) == ([], False, [], [])
    body = {"move": view["moves"][0][0], "what": "draw"}
    for name in ("move", "undo", "resign", "offer", "decline", "hint", "review"):
        refused(send(friend, seen, name, **body), 403, "only those who play")
    refused(delete(friend, view["watch"]), 404)
    assert look(client, view["id"])["news"] == view["news"]
    assert view["friend"] not in str(seen)


def test_the_link_to_watch_shows_a_game_against_an_agent(
    client: TestClient, friend: TestClient
) -> None:
    view = begin(client, second="greedy")
    view = send(client, view, "move", move=view["moves"][0][0]).json()
    seen = look(friend, view["watch"])
    assert (seen["thinking"], seen["called"]) == (
        True,
        [seen["sides"][0].capitalize(), "Azumaya (easy)"],
    )
    assert (seen["follows"], view["follows"]) == (True, False)
    refused(send(friend, seen, "answer"), 403)


def test_no_other_name_opens_a_game(client: TestClient, friend: TestClient) -> None:
    """Neither its id without the cookie, nor a wrong secret, nor another game's."""
    view, other = begin(client, second="friend"), begin(client, second="friend")
    secret = other["friend"].partition(".")[2]
    for name in (view["id"], f"{view['id']}.", f"{view['id']}.{secret}", f"{view['id']}.\u00e9",
                 view["share"], f".{view['share']}", f"{view['id']}.x.y"):  # fmt: skip
        refused(friend.get(f"/api/games/{name}"), 404)
    alone = begin(client)
    refused(friend.get(f"/api/games/{alone['id']}."), 404)
    assert alone["friend"] == ""


def test_a_game_needs_a_person_here(client: TestClient) -> None:
    """Nobody could ask two agents for their moves."""
    for first, second in (("friend", "friend"), ("friend", "greedy"), ("random", "friend"),
                          ("random", "greedy")):  # fmt: skip
        wish = {"game": GAME, "first": first, "second": second}
        refused(client.post("/api/games", json=wish), 400, "one of them must be human")


def test_nobody_is_told_the_seed_which_gives_away_what_will_be_drawn(
    client: TestClient, friend: TestClient
) -> None:
    view = begin(client, "sudoku_tiles", second="friend", seed=123_456_789)
    for who, name in ((client, view["id"]), (friend, view["friend"]), (friend, view["watch"])):
        assert "123456789" not in str(look(who, name))


def test_links_survive_a_restart_and_are_not_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite3"
    with visitor(Store(file)) as client:
        view = begin(client, second="friend")
        cookie = token(client)
        move(client, view["id"])
    with closing(sqlite3.connect(file)) as kept:
        assert view["friend"].partition(".")[2] not in "\n".join(kept.iterdump())
    with visitor(Store(file)) as client:
        assert move(client, view["friend"])["ply"] == 2
        client.cookies[COOKIE] = cookie
        assert look(client, view["id"])["friend"] == view["friend"]


def test_a_page_that_knows_all_gets_nothing(client: TestClient, friend: TestClient) -> None:
    view = begin(client, second="friend")
    assert look(client, view["id"], known=view["news"]) == {}
    look(friend, view["watch"])
    assert look(client, view["id"], known=view["news"]) == {}
    look(friend, view["friend"])
    joined = look(client, view["id"], known=view["news"])
    assert (view["joined"], joined["joined"]) == (False, True)
    after = move(client, view["id"])
    assert look(friend, view["friend"], known=joined["news"])["news"] == after["news"]


@pytest.mark.parametrize("loser", [0, 1])
def test_resigning_ends_the_game(client: TestClient, friend: TestClient, loser: int) -> None:
    view = begin(client, DRAWN, second="friend")
    move(client, view["id"])
    both = ((client, view["id"]), (friend, view["friend"]))
    who, name = both[loser]
    after = send(who, look(who, name), "resign").json()
    assert after["over"]
    assert after["returns"] == ([1, -1] if loser else [-1, 1])
    assert after["task"] == f"{after['sides'][loser].capitalize()} resigned."
    assert look(*both[1 - loser])["status"] == "You win"
    for name in ("resign", "move", "offer", "hint"):
        refused(send(who, after, name, move="", what="draw"), 409)
    (listed,) = client.get("/api/games").json()
    assert listed["result"] == ("You win" if loser else "You lose")
    assert send(client, look(client, view["id"]), "review").json()["positions"] == 2
    assert client.get(f"/watch/{view['share']}").status_code == 200


def test_resigning_while_the_agent_thinks(client: TestClient) -> None:
    view = begin(client, second="greedy")
    view = send(client, view, "move", move=view["moves"][0][0]).json()
    after = send(client, view, "resign").json()
    assert (after["over"], after["thinking"], after["canUndo"]) == (True, False, False)
    assert after["status"] == "You lose"
    refused(send(client, after, "answer"), 409, "no agent")
    refused(send(client, after, "undo"), 409)


def test_a_draw_needs_both(client: TestClient, friend: TestClient) -> None:
    view = begin(client, DRAWN, second="friend")
    assert view["offers"] == ["draw"]
    mine = send(client, view, "offer", what="draw").json()
    assert send(client, mine, "offer", what="draw").json()["news"] == mine["news"]
    assert (mine["offer"], mine["over"]) == ({"what": "draw", "yours": True}, False)
    theirs = look(friend, view["friend"])
    assert theirs["offer"] == {"what": "draw", "yours": False}
    declined = send(friend, theirs, "decline").json()
    assert declined["offer"] is None
    assert look(client, view["id"])["news"] != theirs["news"]
    send(friend, declined, "offer", what="draw")
    after = send(client, view, "offer", what="draw").json()
    assert (after["over"], after["status"], after["returns"]) == (True, "A draw", [0, 0])
    assert after["task"] == "Both players agreed on a draw."


def test_a_move_ends_an_offer(client: TestClient, friend: TestClient) -> None:
    view = begin(client, DRAWN, second="friend")
    send(client, view, "offer", what="draw")
    assert move(client, view["id"])["offer"] is None
    theirs = look(friend, view["friend"])
    refused(send(friend, view | {"id": theirs["id"]}, "offer", what="draw"), 409, "at move 1")
    assert not send(friend, theirs, "offer", what="draw").json()["over"]


def test_a_move_is_taken_back_if_both_agree(client: TestClient, friend: TestClient) -> None:
    """The last one of whoever asks, with what was played since."""
    view = begin(client, second="friend")
    assert view["offers"] == []
    after = move(client, view["id"])
    assert (after["canUndo"], after["offers"]) == (False, ["takeback"])
    refused(send(client, after, "undo"), 409, "only if both players agree")
    theirs = move(friend, view["friend"])
    send(friend, theirs, "offer", what="takeback")
    back = send(client, theirs | {"id": view["id"]}, "offer", what="takeback").json()
    assert (back["ply"], back["offer"], back["yours"]) == (1, None, False)
    theirs = move(friend, view["friend"])
    send(client, theirs | {"id": view["id"]}, "offer", what="takeback")
    back = send(friend, theirs, "offer", what="takeback").json()
    assert (back["ply"], back["offer"], back["yours"]) == (0, None, False)


def test_what_cannot_be_offered(client: TestClient, friend: TestClient) -> None:
    view = begin(client, second="friend")  # a game without draws
    for what in ("draw", "takeback", "anything", 3, None):
        refused(send(client, view, "offer", what=what), 409, "cannot be offered")
    agent = begin(client, DRAWN, second="greedy")
    refused(send(client, agent, "offer", what="draw"), 409, "cannot be offered")
    refused(send(client, view, "hint"), 409, "no hints")


def test_two_people_at_one_screen_agree_at_once(client: TestClient) -> None:
    view = begin(client, DRAWN)
    assert view["offers"] == ["draw"]
    assert send(client, view, "offer", what="draw").json()["status"] == "A draw"


@pytest.mark.parametrize("what", ["rematch", "swapped"])
@pytest.mark.parametrize("offers_first", [0, 1])
def test_a_rematch_needs_both(
    client: TestClient, friend: TestClient, what: str, offers_first: int
) -> None:
    """All go to the same new game by the links they have, and to the one after that."""
    view = begin(client, second="friend", clock={"minutes": 5})
    refused(send(client, view, "offer", what=what), 409, "cannot be offered")
    names = [view["id"], view["friend"]]
    for n in range(2):
        both = list(zip((client, friend), names, strict=True))
        first, other = both[offers_first], both[1 - offers_first]
        over = send(client, look(*both[0]), "resign").json()
        assert over["offers"] == ["rematch", "swapped"]
        offered = send(first[0], look(*first), "offer", what=what).json()
        assert (offered["rematch"], offered["offer"]["yours"]) == ("", True)
        agreed = send(other[0], look(*other), "offer", what=what).json()
        assert (agreed["offers"], agreed["offer"]) == ([], None)
        names = [look(*each)["rematch"] for each in both]
        mine, theirs = look(client, names[0]), look(friend, names[1])
        assert mine["friend"] == names[1]
        own = int(what == "swapped" and n == 0)
        assert (mine["seats"], theirs["seats"]) == ([own], [1 - own])
        assert mine["clock"]["left"] == [300, 300]
        watching = look(friend, look(friend, view["watch"])["rematch"])
        assert watching["seats"] == []
        refused(client.get(f"/api/games/{names[0]}.{view['watch'].partition('.')[2]}"), 404)
    assert look(client, view["id"])["over"]
    refused(send(client, look(client, view["id"]), "offer", what=what), 409)


def rematched(client: TestClient) -> dict[str, Any]:
    """A game that was resigned, whose players have agreed on another one."""
    view = begin(client, second="friend")
    over = send(client, view, "resign").json()
    for name in (view["id"], view["friend"]):
        send(client, over | {"id": name}, "offer", what="rematch")
    return over


def test_a_rematch_survives_a_restart(opened: Any, tmp_path: Path) -> None:
    with opened() as client:
        over = rematched(client)
    with opened() as client:
        mine = look(client, look(client, over["id"], known=over["news"])["rematch"])
        theirs = look(client, look(client, over["friend"])["rematch"])
        assert (mine["seats"], theirs["seats"]) == ([0], [1])
        assert mine["friend"] == theirs["id"]
    with closing(sqlite3.connect(tmp_path / "games.sqlite3")) as kept:
        assert theirs["id"].partition(".")[2] not in "\n".join(kept.iterdump())


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_a_rematch_that_was_deleted_can_be_offered_again(opened: Any, is_in_memory: bool) -> None:
    with opened() as client:
        game = rematched(client)["id"]
        rematch = look(client, game)["rematch"]
        if is_in_memory:
            delete(client, rematch)
            assert look(client, game)["offers"] == ["rematch", "swapped"]
    with opened() as client:
        if not is_in_memory:
            delete(client, rematch)
        assert look(client, game)["rematch"] == ""
