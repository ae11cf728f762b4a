"""The server as a visitor's browser sees it, without a browser."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from azumaya.baselines.commands import app as commands
from azumaya.baselines.serve import games as served_games
from azumaya.baselines.serve.app import COOKIE, make_app
from azumaya.baselines.serve.choices import Choices, milliseconds_of
from azumaya.baselines.serve.games import Games
from azumaya.baselines.serve.limits import Limits, RefusalError
from azumaya.baselines.serve.store import Store
from azumaya.baselines.serve.workers import Workers
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.notation import GameRecord, replay

GAME = "sudoku_moyo"
SHORT = {"abalone": {"max_plies": "30"}}
LIMITS = Limits(games_of_one=12, search=200)


def visitor(store: Store, limits: Limits = LIMITS, **settings: Any) -> TestClient:
    app = make_app(store, limits=limits, workers=0, **settings)
    return TestClient(app, base_url="http://localhost:8123")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with visitor(Store(tmp_path / "games.sqlite3")) as made:
        yield made


def begin(client: TestClient, game: str = GAME, **wish: Any) -> dict[str, Any]:
    answer = client.post("/api/games", json={"game": game, "seed": 1, **wish})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


def send(client: TestClient, view: dict[str, Any], name: str, **body: Any) -> Any:
    return client.post(f"/api/games/{view['id']}/{name}", json={"ply": view["ply"], **body})


def refused(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]


# ---- whole games ----


@pytest.mark.parametrize("game", GAMES)
def test_whole_games(client: TestClient, game: str) -> None:
    """A random person against random moves; the record replays to the same end."""
    options = SHORT.get(game, {})
    view = begin(client, game, second="random", options=options)
    position = Position(game, seed=1, **{name: int(text) for name, text in options.items()})
    rng = random.Random(0)
    while not view["over"]:
        if view["thinking"]:
            view = send(client, view, "answer").json()
            position.play(view["made"][-1])
        else:
            assert [name for name, _, _ in view["moves"]] == position.legal_moves()
            move = rng.choice(view["moves"])[0]
            view = send(client, view, "move", move=move).json()
            position.play(move)
        assert view["text"] == str(position)
        assert view["ply"] == len(view["made"])
    assert view["returns"] == list(position.returns())
    assert not view["moves"]
    refused(send(client, view, "move", move=view["made"][0]), 409, "not your turn")
    refused(send(client, view, "answer"), 409, "no agent")
    record = GameRecord.from_json(client.get(f"/api/games/{view['id']}/record").text)
    assert list(replay(record))[-1] == position
    assert record.players == ("human", "random")


def test_undo_goes_back_to_the_persons_move(client: TestClient) -> None:
    view = begin(client, second="greedy")
    assert not view["canUndo"]
    refused(send(client, view, "undo"), 409, "nothing to undo")
    first = view["moves"][0][0]
    view = send(client, view, "move", move=first).json()
    assert view["thinking"]
    view = send(client, view, "answer").json()
    assert view["ply"] == 2
    view = send(client, view, "undo").json()
    assert (view["ply"], view["yours"]) == (0, True)


def test_an_agent_may_begin(client: TestClient) -> None:
    view = begin(client, first="greedy", second="human")
    assert view["thinking"]
    assert not view["moves"]
    refused(send(client, view, "move", move="1e6"), 409, "not your turn")
    assert send(client, view, "answer").json()["yours"]


def test_a_late_answer_of_a_search_changes_nothing(client: TestClient) -> None:
    """While an agent thinks, the person takes a move back: its answer is dropped."""
    games = Games(Store(":memory:"), Choices((), LIMITS), LIMITS)
    opened = games.begin("me", {"game": GAME, "second": "greedy", "seed": 1})
    games.move(opened, 0, opened.table.here.legal_moves()[0])
    thinking = games.thinking(opened)[1]
    move = thinking.legal_moves()[0]
    games.undo(opened, 1)
    games.move(opened, 0, opened.table.here.legal_moves()[1])
    assert games.answer(opened, thinking, move)["ply"] == 1
    here = opened.table.here
    assert games.answer(opened, here, here.legal_moves()[0])["ply"] == 2


def test_a_game_in_use_is_one_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """A game may be put out of memory while an agent thinks: its answer must not revive old moves.

    Otherwise the answer would be added to an old copy, which then replaces what was made since.
    """
    monkeypatch.setattr(served_games, "IN_MEMORY", 1)
    games = Games(Store(":memory:"), Choices((), LIMITS), LIMITS)
    opened = games.begin("me", {"game": GAME, "second": "greedy", "seed": 1})
    first, other = opened.table.here.legal_moves()[:2]
    games.move(opened, 0, first)
    thinking = games.thinking(opened)[1]
    games.begin("someone", {"game": GAME})
    again = games.open(opened.kept.id, "me")
    games.undo(again, 1)
    games.move(again, 0, other)
    games.answer(opened, thinking, thinking.legal_moves()[0])
    del opened, again
    games.begin("someone", {"game": GAME})
    assert games.open(games.listed("me")[0]["id"], "me").table.moves == [other]


def test_long_games_leave_memory_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_games, "POSITIONS_IN_MEMORY", 4)
    games = Games(Store(":memory:"), Choices((), LIMITS), LIMITS)
    kept = [games.begin("me", {"game": GAME, "seed": n}).kept.id for n in range(9)]
    at_hand = [games.at_hand(name, "me") is not None for name in kept]
    assert at_hand == [False] * 5 + [True] * 4


def test_a_game_that_grows_pushes_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves count towards the limit of positions, and moves taken back no longer do."""
    monkeypatch.setattr(served_games, "POSITIONS_IN_MEMORY", 6)
    games = Games(Store(":memory:"), Choices((), LIMITS), LIMITS)
    kept = [games.begin("me", {"game": GAME, "seed": n}).kept.id for n in range(3)]

    def grow(game: str, moves: int) -> None:
        for _ in range(moves):
            opened = games.open(game, "me")
            games.move(opened, len(opened.table.moves), opened.table.here.legal_moves()[0])
        games.open(game, "me")

    def ready() -> list[bool]:
        return [games.at_hand(name, "me") is not None for name in kept]

    grow(kept[2], 3)
    assert ready() == [True] * 3  # 1 + 1 + 4 positions
    opened = games.open(kept[2], "me")
    games.undo(opened, 3)
    games.undo(opened, 2)
    grow(kept[2], 0)
    grow(kept[1], 2)
    assert ready() == [True] * 3  # 1 + 3 + 2
    grow(kept[2], 1)
    assert ready() == [False, True, True]  # 3 + 3
    games.open(kept[0], "me")
    assert ready() == [True, False, True]  # 1 + 3; the game touched the longest ago has left


def test_finding_a_game_in_memory_looks_at_no_other() -> None:
    """The event loop does it for every request."""
    games = Games(Store(":memory:"), Choices((), LIMITS), LIMITS)
    mine, other = (games.begin("me", {"game": GAME, "seed": n}) for n in range(2))
    del other.table  # whoever looks at it raises
    assert games.at_hand(mine.kept.id, "me") is mine


@pytest.mark.parametrize(
    ("player", "milliseconds"),
    [
        ("random", 0),
        ("greedy", 0),
        ("champion", 0),
        ("uct:100ms", 100),
        ("champion:2000ms", 2000),
        ("puct:2000ms", 2000),
        ("puct:0.5ms:runs/moyo/policy", 0.5),
        ("uct:100000", inf),
        ("alphabeta:50000", inf),
        ("puct:200:runs/moyo/policy", inf),
        ("runs/moyo/policy", inf),
        ("program:./my_bot", inf),
    ],
)
def test_how_long_a_player_searches(player: str, milliseconds: float) -> None:
    assert milliseconds_of(player) == milliseconds


def test_long_searches_that_wait_hold_up_no_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of those that wait is one for short searches, and one for long searches."""
    monkeypatch.setattr(Workers, "_new_pool", lambda self: ThreadPoolExecutor(2))
    workers, finish = Workers(2, waiting=3), threading.Event()

    async def check() -> None:
        def start(count: int, work: Callable[..., Any], milliseconds: float) -> list[Any]:
            runs = (workers.run(work, 10, milliseconds=milliseconds) for _ in range(count))
            return [asyncio.ensure_future(run) for run in runs]

        try:
            long = start(3, finish.wait, inf)
            await asyncio.sleep(0)
            with pytest.raises(RefusalError):
                await workers.run(finish.wait, 10, milliseconds=inf)
            short = start(3, abs, 0)
            await asyncio.sleep(0)
            with pytest.raises(RefusalError):
                await workers.run(abs, 10)
            assert await asyncio.gather(*short) == [10] * 3
            assert not any(run.done() for run in long)
        finally:
            finish.set()
        await asyncio.gather(*long)

    asyncio.run(check())
    workers.close()


def test_short_searches_pass_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two workers, threads here, one is left for short work."""
    monkeypatch.setattr(Workers, "_new_pool", lambda self: ThreadPoolExecutor(2))
    workers = Workers(2, waiting=8)

    async def both() -> list[str]:
        done: list[str] = []

        async def work(name: str, seconds: float) -> None:
            await workers.run(time.sleep, seconds, milliseconds=1000 * seconds)
            done.append(name)

        await asyncio.gather(*(work("long", 0.3) for _ in range(2)), work("short", 0.01))
        return done

    assert asyncio.run(both()) == ["short", "long", "long"]
    workers.close()


def test_hints_say_what_moves_lead_to(client: TestClient) -> None:
    history, rng = [Position(GAME, seed=1)], random.Random(3)
    while not history[-1].is_over:
        history.append(history[-1].copy().play(rng.choice(history[-1].legal_actions())))
    view = begin(client, options={"position": str(history[-3])})
    hint = send(client, view, "hint", milliseconds=100).json()
    assert {move["verdict"] for move in hint["moves"]} <= {"wins", "loses", "draws"}
    assert hint["exact"]
    assert "best" in hint["summary"]


def test_explanations_name_the_rule(client: TestClient) -> None:
    view = begin(client)
    cell = next(n for n, each in enumerate(view["cells"]) if "given" in each[4])
    sentences = send(client, view, "explain", cells=[cell]).json()["sentences"]
    assert len(sentences) == 1
    assert view["cells"][cell][0] in sentences[0]
    for bad in ({"cells": [81]}, {"cells": "a"}, {"cells": [0], "label": 5}, {"cells": [0] * 99}):
        refused(send(client, view, "explain", **bad), 400, "cells")


# ---- refusals and limits ----


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
        ({"options": {"puzzle": "/etc/passwd"}}, ["option puzzle: could name a file"]),
        ({"options": {"handicap": "__import__('os').system('true')"}}, ["handicap"]),
        ({"options": {"position": "x" * 3000}}, ["position: longer than"]),
        ({"options": {"position": "hello"}}, ["position"]),
        ({"options": [1]}, ["options"]),
        ({"seed": -1}, ["seed=-1"]),
        ({"seed": True}, ["seed=True"]),
        ({"seed": 2**64}, ["seed="]),
    ],
)
def test_what_cannot_be_begun(client: TestClient, wish: dict[str, Any], words: list[str]) -> None:
    refused(client.post("/api/games", json={"game": GAME, **wish}), 400, *words)
    assert client.get("/api/games").json() == []


def test_moves_that_are_refused(client: TestClient) -> None:
    view = begin(client)
    illegal = "1a1" if "1a1" not in [move[0] for move in view["moves"]] else "2a1"
    refused(send(client, view, "move", move=illegal), 400, illegal)
    refused(send(client, view, "move", move="nonsense"), 400, "nonsense")
    refused(send(client, view, "move", move=7), 400, "move")
    refused(send(client, {**view, "ply": 3}, "move", move=view["moves"][0][0]), 409, "at move 0")
    refused(send(client, {**view, "ply": "0"}, "move", move=view["moves"][0][0]), 400, "ply")
    refused(send(client, view, "hint", milliseconds=201), 400, "at most 200")
    refused(send(client, view, "hint", milliseconds="1"), 400, "milliseconds")
    refused(client.post(f"/api/games/{view['id']}/move", json=[]), 400, "object")
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_a_body_has_a_limit(client: TestClient) -> None:
    head = {"content-type": "application/json"}
    large = json.dumps({"game": "x" * LIMITS.body})
    refused(client.post("/api/games", content=large, headers=head), 413, "at most")
    pieces = (large[n : n + 999].encode() for n in range(0, len(large), 999))
    refused(client.post("/api/games", content=pieces, headers=head), 413, "at most")
    refused(client.post("/api/games", content="[" * 5000, headers=head), 400, "nested")
    refused(client.post("/api/games", content="{", headers=head), 400, "not JSON")
    refused(client.post("/api/games", content="{}", headers={"content-type": "text/plain"}), 415)


def test_games_have_limits(tmp_path: Path) -> None:
    limits = Limits(games=3, games_of_one=2, plies=1, search=100)
    app = make_app(Store(tmp_path / "games.sqlite3"), limits=limits, workers=0)
    one, two = (TestClient(app, base_url="http://localhost") for _ in range(2))
    view = begin(one)
    begin(one)
    refused(one.post("/api/games", json={"game": GAME}), 429, "you have 2 games")
    begin(two)
    refused(two.post("/api/games", json={"game": GAME}), 503, "no more than 3")
    view = send(one, view, "move", move=view["moves"][0][0]).json()
    refused(send(one, view, "move", move=view["moves"][0][0]), 409, "at most 1 moves")


def test_searches_that_wait_have_a_limit(tmp_path: Path) -> None:
    limits = Limits(waiting=0)
    with visitor(Store(tmp_path / "games.sqlite3"), limits) as client:
        view = begin(client, first="greedy")
        refused(send(client, view, "answer"), 503, "try again")


# ---- who may do what ----


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 400),
        ({"host": "localhost.evil.example"}, 400),
        ({"host": ""}, 400),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
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
    if status == 400:
        assert client.get("/", headers=headers).status_code == 400


def test_only_get_and_post(client: TestClient) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.request(method, "/api/games").status_code == 405
    assert "access-control-allow-origin" not in client.get("/").headers


def test_no_visitor_sees_or_changes_anothers_game(tmp_path: Path) -> None:
    app = make_app(Store(tmp_path / "games.sqlite3"), limits=LIMITS, workers=0)
    mine, other = (TestClient(app, base_url="http://localhost") for _ in range(2))
    view = begin(mine, second="greedy")
    begin(other)
    path = f"/api/games/{view['id']}"
    assert len({mine.cookies[COOKIE], other.cookies[COOKIE], view["id"], view["share"]}) == 4
    for name in ("move", "answer", "undo", "explain", "hint"):
        body = {"move": view["moves"][0][0], "cells": [0]}
        refused(send(other, view, name, **body), 404, "not yours")
    for look in (path, f"{path}/record"):
        refused(other.get(look), 404, "not yours")
        refused(TestClient(app, base_url="http://localhost").get(look), 404, "not yours")
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
    token = client.cookies[COOKIE]
    assert len(token) >= 43
    again = client.post("/api/games", json={"game": GAME})
    assert client.cookies[COOKIE] == token, again.headers


def test_what_is_kept_opens_no_game(tmp_path: Path) -> None:
    """The token itself is in no file, and the file is the owner's alone."""
    file = tmp_path / "games.sqlite3"
    with visitor(Store(file)) as client:
        begin(client)
        token = client.cookies[COOKIE]
    assert token.encode() not in file.read_bytes()
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


# ---- what survives ----


def test_games_survive_a_restart(tmp_path: Path) -> None:
    """The hidden order of the tiles is the same as before, too."""
    file = tmp_path / "games.sqlite3"
    with visitor(Store(file)) as client:
        view = begin(client, "sudoku_tiles")
        for _ in range(3):
            view = send(client, view, "move", move=view["moves"][0][0]).json()
        cookie = client.cookies[COOKIE]
    with visitor(Store(file)) as client:
        client.cookies[COOKIE] = cookie
        assert client.get(f"/api/games/{view['id']}").json() == view


def test_agents_that_the_server_was_started_with(tmp_path: Path) -> None:
    with visitor(Store(tmp_path / "a.sqlite3"), agents=["uct:16"]) as client:
        names = [player["name"] for player in client.get("/api/choices").json()["players"]]
        assert "uct:16" in names
        assert "uct:500ms" not in names  # longer than a search may take here
        view = begin(client, "score_dominari", first="uct:16")
        assert send(client, view, "answer").json()["ply"] == 1
    with pytest.raises(OptionError, match="nobody"):
        make_app(Store(tmp_path / "b.sqlite3"), agents=["nobody"])


def _get(url: str, cookie: str = "", body: Any = None) -> Any:
    head = {"Cookie": cookie, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=300)


def _started(*words: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "azumaya.baselines.cli", "serve", "--no-browser", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[0]


def _children(pid: int) -> list[Path]:
    """The processes that a process started, as folders, where the system has such."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():
        return []
    found = [Path(f"/proc/{child}") for child in children.read_text().split()]
    assert found
    return found


def _gone(processes: list[Path]) -> None:
    """Wait until these have ended."""
    until = time.monotonic() + 30
    while any(_runs(process) for process in processes):
        assert time.monotonic() < until, "processes are left over"
        time.sleep(0.05)


def _runs(process: Path) -> bool:
    """Whether a process is there, and no zombie that nobody has asked after."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _play_beside_a_search(url: str) -> None:
    """While a search is under way, another visitor begins a game and moves."""
    wish = {"game": GAME, "first": "uct:1500ms", "seed": 1}
    answer = _get(f"{url}api/games", body=wish)
    cookie, view = answer.headers["Set-Cookie"].partition(";")[0], json.load(answer)
    game = f"{url}api/games/{view['id']}"
    with ThreadPoolExecutor(1) as pool:
        searched = pool.submit(_get, f"{game}/answer", cookie, {"ply": 0})
        other = _get(f"{url}api/games", body={"game": GAME, "seed": 1})
        theirs, there = other.headers["Set-Cookie"].partition(";")[0], json.load(other)
        move = {"ply": 0, "move": there["moves"][0][0]}
        assert json.load(_get(f"{url}api/games/{there['id']}/move", theirs, move))["ply"] == 1
        assert not searched.done()
        assert json.load(searched.result())["ply"] == 1


@pytest.mark.skipif(os.name != "posix", reason="kills processes by signals")
def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """The command itself, with a search in a process of its own, killed without warning."""
    words = ("--port", "0", "--workers", "1", "--state", str(tmp_path / "games.sqlite3"))
    process, url = _started(*words)
    try:
        answer = _get(f"{url}api/games", body={"game": GAME, "second": "greedy", "seed": 1})
        cookie, view = answer.headers["Set-Cookie"].partition(";")[0], json.load(answer)
        game = f"{url}api/games/{view['id']}"
        move = {"ply": 0, "move": view["moves"][0][0]}
        assert json.load(_get(f"{game}/move", cookie, move))["ply"] == 1
        view = json.load(_get(f"{game}/answer", cookie, {"ply": 1}))
        assert view["ply"] == 2
        searching = _children(process.pid)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    _gone(searching)
    process, url = _started(*words)
    try:
        began = time.monotonic()
        assert json.load(_get(f"{url}api/games/{view['id']}", cookie)) == view
        assert time.monotonic() - began < 30
        _play_beside_a_search(url)
    finally:
        searching = _children(process.pid)
        process.terminate()
        assert process.wait(30) in (0, -signal.SIGTERM)
    _gone(searching)


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_a_search_process_that_is_killed_is_replaced() -> None:
    workers = Workers(1, waiting=4)
    try:
        first = asyncio.run(workers.run(os.getpid))
        os.kill(first, signal.SIGKILL)
        assert asyncio.run(workers.run(os.getpid)) not in (first, os.getpid())
    finally:
        workers.close()


def test_a_state_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """Not the gallery, which is read after it."""
    file = tmp_path / "file"
    file.write_text("this is no database, and no folder " * 50)
    for words, home, said in (
        ((), file, f"--state {file}"),  # the folder of the default file cannot be made
        (("--state", str(tmp_path)), tmp_path, f"--state {tmp_path}: Is a directory"),
        (("--state", str(file)), tmp_path, f"--state {file}: file is not a database"),
        (("--state", str(file / "a")), tmp_path, "there is no folder"),
    ):
        done = CliRunner().invoke(
            commands,
            ["serve", "--port", "0", "--no-browser", *words],
            env={"COLUMNS": "400", "XDG_STATE_HOME": str(home)},
        )
        assert done.exit_code == 2
        assert said in done.output
        assert "--gallery" not in done.output
