"""The command `azumaya serve` itself: killed, started again, with files it cannot use."""

from __future__ import annotations

import functools
import json
import os
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from azumaya.baselines.cli import serve
from azumaya.baselines.play.server.limits import Limits
from tests.commands import azumaya, refused
from tests.processes import eventually, running_in, serving
from tests.serve.requests import GAME


def _get(url: str, cookie: str = "", body: Any = None) -> Any:
    head = {"Cookie": cookie, "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(url, data, head), timeout=100)


_started = functools.partial(serving, "--workers", 1)


def _begun(url: str, **wish: Any) -> tuple[str, str, dict[str, Any]]:
    """A game that a new visitor begins: its address, their cookie, and what they see."""
    answer = _get(f"{url}api/games", body={"game": GAME, "seed": 1, **wish})
    view = json.load(answer)
    return f"{url}api/games/{view['id']}", answer.headers["Set-Cookie"].partition(";")[0], view


ATTEMPTS = 5
"""On a busy machine a search may be over before another visitor has been answered twice."""


def _moves_beside_a_search(url: str) -> bool:
    """Whether a visitor could begin a game and move while another one waited for a search."""
    game, cookie, _ = _begun(url, first="uct:2000ms")
    with ThreadPoolExecutor(1) as pool:
        searched = pool.submit(_get, f"{game}/answer", cookie, {})
        other, theirs, there = _begun(url)
        move = {"changes": 0, "move": there["moves"][0][0]}
        assert json.load(_get(f"{other}/move", theirs, move))["ply"] == 1
        beside = not searched.done()
        assert json.load(searched.result())["ply"] == 1
    return beside


@pytest.mark.skipif(os.name != "posix", reason="kills processes by signals")
def test_nothing_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    """The command itself, with a search in a process of its own, killed without warning."""
    words = ("--state", tmp_path / "games.sqlite3")
    with _started(*words, cwd=tmp_path) as (process, url):
        game, cookie, view = _begun(url, second="greedy")
        move = {"changes": 0, "move": view["moves"][0][0]}
        assert json.load(_get(f"{game}/move", cookie, move))["ply"] == 1
        view = json.load(_get(f"{game}/answer", cookie, {}))
        assert view["ply"] == 2
        assert len(running_in(tmp_path)) != 1, "a process searches, where the system tells"
        process.send_signal(signal.SIGKILL)
    eventually(lambda: running_in(tmp_path) == [])
    with _started(*words, cwd=tmp_path) as (process, url):
        assert json.load(_get(f"{url}api/games/{view['id']}", cookie)) == view
        assert any(_moves_beside_a_search(url) for _ in range(ATTEMPTS))
    assert process.returncode in (0, -signal.SIGTERM)
    eventually(lambda: running_in(tmp_path) == [])


HANGS = """
import pathlib, time

class Hangs:
    def act(self, positions, keys):
        pathlib.Path("asked").touch()
        time.sleep(600)
"""


def _left(url: str, path: str, cookie: str, body: bytes, *, length: int) -> socket.socket:
    """A connection on which a request was begun, for its client to leave."""
    address = ("127.0.0.1", int(url.rpartition(":")[2].rstrip("/")))
    head = (
        f"POST {path} HTTP/1.1", f"Host: localhost:{address[1]}", f"Cookie: {cookie}",
        "Content-Type: application/json", f"Content-Length: {length}", "", "",
    )  # fmt: skip
    client = socket.create_connection(address)
    client.sendall("\r\n".join(head).encode() + body)
    return client


@pytest.mark.skipif(os.name != "posix", reason="needs processes that can be killed")
@pytest.mark.slow
def test_visitors_who_leave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their searches end, so that others can have one; and nothing is written about them."""
    (tmp_path / "visiting.py").write_text(HANGS)
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "stderr").open("w") as stderr:
        words = ("--state", "games.sqlite3", "--agent", "visiting:Hangs")
        with _started(*words, stderr=stderr) as (_, url):
            game, cookie, _ = _begun(url, first="visiting:Hangs")
            path = f"/{game.removeprefix(url)}/answer"
            client = _left(url, path, cookie, b"{}", length=2)
            eventually((tmp_path / "asked").exists)
            client.close()
            _left(url, "/api/games", cookie, b"{", length=9).close()
            game, cookie, _ = _begun(url, first="greedy")
            assert json.load(_get(f"{game}/answer", cookie, {}))["ply"] == 1
            assert (tmp_path / "stderr").read_text() == ""


@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("127.0.0.1", "; --port 0 takes a free port"),  # the port is in use
        ("nowhere.invalid", "; name an address of this machine"),
        ("192.0.2.1", "; name an address of this machine"),  # of no machine at all
        ("x" * 70, "; name an address of this machine"),
    ],
)
def test_an_address_that_cannot_be_used(tmp_path: Path, host: str, said: str) -> None:
    """Another port helps only where the port is the problem."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["serve", "--no-browser", "--state", tmp_path / "a", "--host", host]
        done = azumaya(*words, "--port", port)
    assert done.exit_code == 2
    assert f"--host {host} --port {port}: " in done.output
    assert said in done.output
    assert done.output.count(";") == 1


def test_on_windows_a_port_is_not_shared_with_another_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There this option lets several listen, and the system choose between them."""
    for system, shared in (("posix", True), ("nt", False)):
        monkeypatch.setattr(serve, "os", SimpleNamespace(name=system))
        with serve._listen("127.0.0.1", 0) as listening:
            found = listening.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
            assert bool(found) == shared


def test_without_a_home_folder_a_file_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    refused(azumaya("serve", "--no-browser"), "--state: there is no home folder", "name a file")


def test_limits_can_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*given: object) -> None:
        assert Limits(search=50, games=7, move_seconds=9) in given
        raise ValueError("the limits are these")

    monkeypatch.setattr("azumaya.baselines.play.server.app.make_app", told)
    words = ("--no-browser", "--port", 0, "--state", tmp_path / "games.sqlite3")
    limits = ("--longest-search", 50, "--most-games", 7, "--move-limit", 9)
    refused(azumaya("serve", *words, *limits), "the limits are these")


def test_two_servers_do_not_share_a_state_file_nor_one_address_all_connections(
    tmp_path: Path,
) -> None:
    """Each would go on from what it has in memory, and overwrite the moves of the other."""
    words = ("--state", tmp_path / "games.sqlite3")
    with _started(*words, "--most-connections", 2) as (_, url):
        assert _begun(url)
        refused(azumaya("serve", "--no-browser", *words), "games.sqlite3: another server is using")
        assert _begun(url)
        address = ("127.0.0.1", int(url.rpartition(":")[2].rstrip("/")))
        with ExitStack() as stack:
            *_, third = [
                stack.enter_context(socket.create_connection(address, timeout=60)) for _ in range(3)
            ]
            assert third.recv(100).startswith(b"HTTP/1.1 503 ")


def test_a_state_file_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the gallery, which is read after it."""
    file = tmp_path / "file"
    file.write_text("this is no database, and no folder " * 50)
    for words, home, said in (
        ((), file, f"--state {file}"),  # the folder of the default file cannot be made
        (("--state", str(tmp_path)), tmp_path, f"--state {tmp_path}: Is a directory"),
        (("--state", str(file)), tmp_path, f"--state {file}: file is not a database"),
        (("--state", str(file / "a")), tmp_path, "there is no folder"),
        (("--allow-host", "http://x/"), tmp_path, "--allow-host http://x/: must be a name"),
    ):
        monkeypatch.setenv("XDG_STATE_HOME", str(home))
        done = azumaya("serve", "--port", 0, "--no-browser", *words)
        assert done.exit_code == 2
        assert said in done.output
        assert "--gallery" not in done.output
