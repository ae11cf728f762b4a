"""What the server refuses, and who may see or change what."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.server.access import digest
from azumaya.baselines.play.server.app import COOKIE
from azumaya.baselines.play.server.limits import Limits
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.envs.puzzles.bank import load_bank
from tests.serve.requests import (
    GAME,
    JSON,
    LIMITS,
    another,
    begin,
    delete,
    refused,
    send,
    token,
    visitor,
)


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"game": "chess"}, ["game 'chess'"]),
        ({"game": 5}, ["game '5'"]),
        ({"second": "nobody"}, ["player 'nobody'"]),
        ({"second": "/etc/passwd"}, ["player '/etc/passwd'"]),
        ({"second": "uct:5000ms"}, ["at most 200 ms"]),
        ({"second": "uct:100000000"}, ["player"]),
        ({"second": ["human"]}, ["player"]),
        ({"options": {"territory": "moon"}}, ["territory"]),
        ({"options": {"teritory": "rows"}}, ["did you mean 'territory'"]),
        *(
            ({"options": {name: "/etc/passwd"}}, ["option puzzle: could name a file"])
            for name in ("puzzle", " puzzle", "puzzle ", "\tpuzzle\n", "\u2003puzzle")
        ),
        ({"options": {"puzzle=/etc/passwd": "1"}}, ["'puzzle=/etc/passwd'", "no such option"]),
        ({"options": {"puzzle=": "/etc/passwd"}}, ["'puzzle='", "no such option"]),
        ({"options": {"=puzzle": "/etc/passwd"}}, ["'=puzzle'", "no such option"]),
        ({"options": {"": "/etc/passwd"}}, ["''", "no such option"]),
        ({"options": {"handicap": "1", " handicap": "2"}}, ["option 'handicap': given twice"]),
        ({"options": {"handicap": "__import__('os').system('true')"}}, ["handicap"]),
        ({"options": {"position": "x" * 3000}}, ["'position': longer than"]),
        ({"options": {"\ud800": "x" * 3000}}, ["'\\ud800': longer than"]),
        ({"options": {"\ud800": "1", " \ud800": "2"}}, ["'\\ud800': given twice"]),
        ({"options": {"\ud800": "1"}}, ["\\ud800", "no such option"]),
        ({"options": {"handicap": "\ud800"}}, ["handicap"]),
        ({"options": {"position": "\ud800"}}, ["position"]),
        ({"options": {"position": "hello"}}, ["position"]),
        ({"options": [1]}, ["options"]),
        ({"seed": -1}, ["seed=-1"]),
        ({"seed": True}, ["seed=True"]),
        ({"seed": 2**63}, ["seed=", f"from 0 to {2**63 - 1} is needed"]),
    ],
)
def test_what_cannot_be_begun(client: TestClient, wish: dict[str, Any], words: list[str]) -> None:
    wished = json.dumps({"game": GAME, **wish})
    refused(client.post("/api/games", content=wished, headers=JSON), 400, *words)
    assert client.get("/api/games").json() == []


@pytest.mark.parametrize("name", ["puzzle", " puzzle"])
def test_a_kept_game_names_no_file_either(tmp_path: Path, name: str) -> None:
    """An earlier version let names with spaces pass, so what is kept is checked again."""
    puzzle = tmp_path / "puzzle.txt"
    puzzle.write_text("".join(map(str, load_bank()[0].ravel())))
    store = Store(":memory:")
    store.add(Kept("id", "share", digest("me"), GAME, {name: str(puzzle)}, ("human", "human"), 1))
    with visitor(store, cookie="me") as client:
        for path in ("/api/games/id", "/watch/share"):
            refused(client.get(path), 400, "option puzzle: could name a file")


def test_moves_that_are_refused(client: TestClient) -> None:
    view = begin(client)
    illegal = "1a1" if "1a1" not in [move[0] for move in view["moves"]] else "2a1"
    refused(send(client, view, "move", move=illegal), 400, illegal)
    refused(send(client, view, "move", move="nonsense"), 400, "nonsense")
    refused(send(client, view, "move", move=7), 400, "move")
    for changes, status, words in ((3, 409, "at move 0"), ("0", 400, "changes")):
        wrong = {**view, "changes": changes}
        refused(send(client, wrong, "move", move=view["moves"][0][0]), status, words)
    for name, body in (("hint", {"milliseconds": 1}), ("explain", {"cells": [0]})):
        refused(send(client, {**view, "changes": 3}, name, **body), 409, "at move 0")
        refused(send(client, {**view, "changes": None}, name, **body), 400, "changes")
    refused(send(client, view, "hint", milliseconds=201), 400, "at most 200")
    refused(send(client, view, "hint", milliseconds="1"), 400, "milliseconds")
    refused(client.post(f"/api/games/{view['id']}/move", json=[]), 400, "object")
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_a_body_has_a_limit(client: TestClient) -> None:
    large = json.dumps({"game": "x" * LIMITS.body})
    refused(client.post("/api/games", content=large, headers=JSON), 413, "at most")
    pieces = (large[n : n + 999].encode() for n in range(0, len(large), 999))
    refused(client.post("/api/games", content=pieces, headers=JSON), 413, "at most")
    refused(client.post("/api/games", content="[" * 5000, headers=JSON), 400, "nested")
    refused(client.post("/api/games", content="{", headers=JSON), 400, "not JSON")
    refused(client.post("/api/games", content="{}", headers={"content-type": "text/plain"}), 415)


def test_games_have_limits(tmp_path: Path) -> None:
    limits = Limits(games=3, games_of_one=2, plies=1, search=100)
    one = visitor(Store(tmp_path / "games.sqlite3"), limits)
    view = begin(one)
    begin(another(one))
    begin(another(one))
    refused(one.post("/api/games", json={"game": GAME}), 503, "no more than 3")
    view = send(one, view, "move", move=view["moves"][0][0]).json()
    refused(send(one, view, "move", move=view["moves"][0][0]), 409, "at most 1 moves")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 400),
        ({"host": "localhost.evil.example"}, 400),
        ({"host": ""}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://["}, 403),
        ({"origin": "http://localhost:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://localhost:8123"}, 201),
        ({"host": "127.0.0.1:8123"}, 201),
        ({"host": "[::1]:8123"}, 201),
    ],
)
def test_host_and_origin(client: TestClient, headers: dict[str, str], status: int) -> None:
    answer = client.post("/api/games", json={"game": GAME}, headers=headers)
    assert answer.status_code == status, answer.text
    if "origin" in headers and status == 403:
        assert f"Origin is {headers['origin']}, its Host localhost:8123" in answer.json()["error"]
    if status == 400:
        assert client.get("/", headers=headers).status_code == 400


def test_deleting_is_guarded_like_posting(client: TestClient) -> None:
    view = begin(client)
    for headers, status in (
        ({"host": "evil.example"}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
    ):
        refused(delete(client, view["id"], **headers), status)
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_only_get_post_and_delete(client: TestClient) -> None:
    for method in ("PUT", "OPTIONS", "PATCH"):
        assert client.request(method, "/api/games").status_code == 405
    for path in ("/api/games", "/api/choices", "/", "/watch/x"):
        assert client.request("DELETE", path, headers=JSON).status_code == 405
    assert "access-control-allow-origin" not in client.get("/").headers


def test_no_visitor_sees_or_changes_anothers_game(tmp_path: Path) -> None:
    mine = visitor(Store(tmp_path / "games.sqlite3"))
    other, stranger = another(mine), another(mine)
    view = begin(mine, second="greedy")
    begin(other)
    path = f"/api/games/{view['id']}"
    assert len({token(mine), token(other), view["id"], view["share"]}) == 4
    for name in ("move", "answer", "undo", "explain", "hint"):
        body = {"move": view["moves"][0][0], "cells": [0]}
        refused(send(other, view, name, **body), 404, "not yours")
    refused(delete(other, view["id"]), 404, "not yours")
    refused(delete(stranger, view["id"]), 404)
    for look in (path, f"{path}/record"):
        refused(other.get(look), 404, "not yours")
        refused(stranger.get(look), 404, "not yours")
    refused(other.get(f"/api/games/{view['share']}"), 404, "no such game")
    assert view["id"] not in other.get("/api/games").text
    assert [game["id"] for game in mine.get("/api/games").json()] == [view["id"]]
    watched = other.get(f"/watch/{view['share']}")
    assert watched.status_code == 200
    assert view["id"] not in watched.text
    assert mine.get(path).json() == view


def test_the_cookie_is_no_ones_but_the_servers(client: TestClient) -> None:
    answer = client.post("/api/games", json={"game": GAME})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=" not in cookie  # browsers take that of the request, below any prefix
    given = token(client)
    assert len(given) >= 43
    again = client.post("/api/games", json={"game": GAME})
    assert token(client) == given, again.headers


def test_a_token_that_the_server_has_not_given_is_replaced(tmp_path: Path) -> None:
    """Otherwise whoever can set a cookie in somebody's browser knows what opens their games."""
    mine = visitor(Store(tmp_path / "games.sqlite3"))
    begin(mine)
    (name,) = mine.cookies
    for forged in ("x", "x" * 43, token(mine)[:-1], f"{token(mine)}x", '"', "\udcff"):
        for cookie in (name, COOKIE):
            other = another(mine)
            sent = {"cookie": f"{cookie}={forged}".encode(errors="surrogateescape")}
            assert other.get("/api/games", headers=sent).json() == []
            assert other.post("/api/games", json={"game": GAME}, headers=sent).status_code == 201
            assert list(other.cookies) == [name]
            assert token(other) not in (forged, token(mine))


def test_servers_on_one_machine_keep_their_visitors(tmp_path: Path) -> None:
    """Browsers send the cookies of each to both; in an earlier version they had one name."""
    cookies: dict[str, str] = {}
    stores = [Store(tmp_path / name) for name in ("a", "b")]
    with visitor(stores[0]) as one, visitor(stores[1]) as other:
        begin(one)
        cookies[COOKIE] = token(one)
        for client in (other, one):
            client.cookies.update(cookies)
            begin(client)
            cookies.update(client.cookies)
        assert len(cookies) == 3
        for client, count in ((one, 2), (other, 1)):
            client.cookies.update(cookies)
            assert len(client.get("/api/games").json()) == count


def test_what_is_kept_opens_no_game(tmp_path: Path) -> None:
    """The token itself is in no file, and the file is the owner's alone."""
    file = tmp_path / "games.sqlite3"
    with visitor(Store(file)) as client:
        begin(client)
        given = token(client)
    assert given.encode() not in file.read_bytes()
    if os.name == "posix":
        assert file.stat().st_mode & 0o077 == 0


def test_pages_and_files(client: TestClient) -> None:
    for path, kind in (
        ("/", "html"),
        ("/static/board.js", "javascript"),
        ("/static/app.css", "css"),
    ):
        answer = client.get(path)
        assert answer.status_code == 200
        assert kind in answer.headers["content-type"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/static/app.html", "/static/..%2fapp.py", "/static/board.py", "/nothing"):
        assert client.get(path).status_code == 404


def test_no_address_begins_at_the_root(client: TestClient) -> None:
    """A proxy may have put the server below a prefix; `test_prefix.py` plays there."""
    view = begin(client)
    for path, root in (("/", "./"), ("/gallery", "./"), (f"/g/{view['id']}", "../")):
        page = client.get(path).text
        found = re.findall(r'(?:href|src)="([^"]*)"', page)
        assert [each for each in found if not each.startswith(root)] == ["data:,"]
        assert f'"{root}static/app.js"' in page
    for name in ("app.js", "board.js", "app.css", "board.css"):
        assert re.findall(r"""["'`(]/\w[^"'`)]*""", client.get(f"/static/{name}").text) == []
    assert not any("location" in client.get(path).headers for path in ("/gallery/", "/api/games/"))
