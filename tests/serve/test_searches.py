"""Searches on the server: who waits for whom, agents, hints and explanations."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.play.server import app, once
from azumaya.baselines.play.server.app import make_app
from azumaya.baselines.play.server.choices import Choices, milliseconds_of
from azumaya.baselines.play.server.games import Games
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.once import Once
from azumaya.baselines.play.server.store import Store
from azumaya.baselines.play.server.workers import Here, Workers, think
from azumaya.baselines.values.champion import champion_file
from azumaya.envs import GAMES, OptionError, Position
from azumaya.envs.notation import GameRecord
from tests.cases import COMPLETE, YARDSTICK, random_line
from tests.odd_agents import ODD
from tests.serve.requests import GAME, begin, refused, send, visitor

pytestmark = pytest.mark.anyio

Hire = Callable[..., Workers]


@pytest.fixture
def hired() -> Iterator[Hire]:
    """Makes workers, which are closed after the test."""
    made = list[Workers]()

    def hire(count: int, waiting: int = 8, **settings: Any) -> Workers:
        made.append(Workers(count, waiting=waiting, **settings))
        return made[-1]

    yield hire
    for workers in made:
        workers.close()


@pytest.mark.parametrize(
    ("player", "milliseconds"),
    [
        ("random", 0),
        ("uct:100ms", 100),
        ("champion:2000ms", 2000),
        ("puct:0.5ms:runs/moyo/policy", 0.5),
        ("uct:100000", inf),
        ("runs/moyo/policy", inf),
    ],
)
def test_how_long_a_player_searches(player: str, milliseconds: float) -> None:
    assert milliseconds_of(player) == milliseconds


async def test_long_searches_that_wait_hold_up_no_short_ones(hired: Hire) -> None:
    """The limit of those that wait is one for short searches, and one for long searches."""
    workers, finish = hired(2, waiting=3, caller=Here), threading.Event()

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


def test_short_searches_pass_long_ones(hired: Hire) -> None:
    """Of two workers, threads here, one is left for short work."""
    workers, passed = hired(2, caller=Here), threading.Event()

    async def both() -> list[Any]:
        long = (workers.run(passed.wait, 60, milliseconds=inf) for _ in range(2))
        return await asyncio.gather(*long, workers.run(passed.set))

    assert asyncio.run(both()) == [True, True, None]


async def test_one_visitor_does_not_take_all_places(hired: Hire) -> None:
    """Short and long searches count; once they are over, the visitor may ask again."""
    workers, finish = hired(2, of_one=2, caller=Here), threading.Event()

    def start(visitor: str, milliseconds: float) -> Any:
        work = workers.run(finish.wait, 60, milliseconds=milliseconds, visitor=visitor)
        return asyncio.ensure_future(work)

    for _ in range(2):
        finish.clear()
        runs = [start("me", inf), start("me", 0)]
        await asyncio.sleep(0)
        with pytest.raises(RefusalError, match="your searches"):
            await start("me", 0)
        runs += [start("other", inf), start("", inf), start("", inf), start("", inf)]
        await asyncio.sleep(0)
        finish.set()
        assert await asyncio.gather(*runs) == [True] * 6


@pytest.mark.parametrize("name", ["answer", "hint"])
def test_equal_searches_are_one(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """As when a page that waits for an answer is loaded again."""
    asked: list[Position] = []
    arrived, everyone = Counter[str](), threading.Event()

    def search(*arguments: Any) -> Any:
        asked.extend(each for each in arguments if isinstance(each, Position))
        assert everyone.wait(60)
        return asked[-1].legal_moves()[0]

    def arriving(method: str) -> None:
        whole = getattr(Games, method)

        def counted(*arguments: Any) -> Any:
            found = whole(*arguments)
            arrived[method] += 1
            if arrived[method] == 3:
                everyone.set()  # the search that is joined ends only now
            return found

        monkeypatch.setattr(Games, method, counted)

    arriving("thinking" if name == "answer" else "hinted")
    monkeypatch.setattr(app, "think", search)
    monkeypatch.setattr(app, "hint", search)
    limits = Limits(waiting=1)
    with visitor(Store(":memory:"), limits) as client, ThreadPoolExecutor(3) as pool:
        view = begin(client, first="greedy")
        sent = [pool.submit(send, client, view, name) for _ in range(3)]
        answers = [each.result() for each in sent]
        assert [each.status_code for each in answers] == [200] * 3
        assert len(asked) == 1
        if name == "answer":
            assert [each.json()["ply"] for each in answers] == [1] * 3


def test_what_is_watched_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone with the link can ask for it, as often as they like; a move makes a new page."""
    made: list[GameRecord] = []

    def page(records: list[GameRecord], reviews: Any, called: Any) -> str:
        made.extend(records)
        return f"page {len(made)}"

    monkeypatch.setattr(app, "replay_page", page)
    with visitor(Store(":memory:")) as client:
        view = begin(client)
        path = f"/watch/{view['share']}"
        assert [client.get(path).text for _ in range(2)] == ["page 1"] * 2
        send(client, view, "move", move=view["moves"][0][0])
        assert [client.get(path).text for _ in range(2)] == ["page 2"] * 2
        client.delete(f"/api/games/{view['id']}", headers={"content-type": "application/json"})
        refused(client.get(path), 404, "no such game")
    assert [len(record.moves) for record in made] == [0, 1]


async def test_results_are_kept_as_long_as_there_is_room() -> None:
    """Those asked for last; what failed is made again."""
    made: list[str] = []
    once = Once(2)

    async def get(key: str, fails: bool = False) -> str:
        async def make() -> str:
            made.append(key)
            if fails:
                raise RefusalError(503, "no room")
            return key

        return str(await once.get(key, make))

    both = await asyncio.gather(get("a", True), get("a", True), return_exceptions=True)
    assert [str(each) for each in both] == ["no room"] * 2
    for key in "abacab":
        assert await get(key) == key
    assert "".join(made) == "aabcb"


def test_what_nobody_waits_for_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless somebody asks for it again soon; what is kept for later is made to the end."""
    monkeypatch.setattr(once, "SECONDS_TO_RETURN", 0.2)

    async def check(results: Once) -> list[str]:
        made, finish = list[str](), asyncio.Event()

        async def make() -> str:
            made.append("begun")
            try:
                await finish.wait()
            except asyncio.CancelledError:
                made.append("given up")
                raise
            return "done"

        async def leave(key: str) -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(results.get(key, make), 0.05)

        await leave("a")
        again = asyncio.ensure_future(results.get("a", make))
        await leave("b")
        await asyncio.sleep(0.5)
        finish.set()
        assert [await again, await results.get("b", make)] == ["done", "done"]
        return made

    assert asyncio.run(check(Once())) == ["begun", "begun", "given up", "begun"]
    assert asyncio.run(check(Once(2))) == ["begun", "begun"]


def test_searches_that_wait_have_a_limit(tmp_path: Path) -> None:
    limits = Limits(waiting=0)
    with visitor(Store(tmp_path / "games.sqlite3"), limits) as client:
        view = begin(client, first="greedy")
        refused(send(client, view, "answer"), 503, "try again")


@pytest.mark.skipif(os.name != "posix", reason="kills a process by a signal")
def test_a_search_process_that_is_killed_is_replaced(hired: Hire) -> None:
    workers = hired(1)
    first = asyncio.run(workers.run(os.getpid))
    os.kill(first, signal.SIGKILL)
    assert asyncio.run(workers.run(os.getpid)) not in (first, os.getpid())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{ODD}:Raises", "act failed: ValueError: [red]what[/b] it says"),
        (f"{ODD}:Interrupts", "act failed: KeyboardInterrupt"),
        (f"{ODD}:Repeats", f"agent {ODD}:Repeats: 1a6: "),
    ],
)
def test_an_agent_that_fails_is_told_apart_from_a_wrong_request(
    tmp_path: Path, name: str, message: str
) -> None:
    with visitor(Store(tmp_path / "games.sqlite3"), agents=[name, f"{ODD}:Names"]) as client:
        view = begin(client, first=name)
        refused(send(client, view, "answer"), 502, message)
        view = begin(client, first=f"{ODD}:Names")
        assert send(client, view, "answer").json()["ply"] == 1


@pytest.mark.skipif(os.name != "posix", reason="needs processes that can be killed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Hangs", r"no move in 0\.5 s"),
        pytest.param("Crashes", "ended its process", marks=pytest.mark.slow),
    ],
)
async def test_an_agent_that_gives_no_move_has_failed_and_others_play_on(
    name: str, message: str, hired: Hire
) -> None:
    workers, here = hired(1), Position("vierer_dominari")
    seconds = 0.5 if name == "Hangs" else 60.0
    with pytest.raises(AgentFailedError, match=f"agent {ODD}:{name}: {message}"):
        await workers.run(think, f"{ODD}:{name}", here, 0, milliseconds=inf, seconds=seconds)
    assert await workers.run(think, f"{ODD}:Names", here, 0) in here.legal_moves()


@pytest.mark.skipif(os.name != "posix", reason="needs processes that can be killed")
async def test_a_search_that_is_cancelled_ends(hired: Hire) -> None:
    """One under way, and one that waits for its process."""
    workers = hired(1)
    position = Position("vierer_dominari")

    hung = [
        asyncio.ensure_future(workers.run(think, f"{ODD}:Hangs", position, 0, seconds=600))
        for _ in range(2)
    ]
    await asyncio.sleep(0.5)
    for each in hung:
        each.cancel()
    found = await asyncio.gather(*hung, return_exceptions=True)
    assert [type(each) for each in found] == [asyncio.CancelledError] * 2
    assert await workers.run(think, f"{ODD}:Names", position, 0) in position.legal_moves()


def rest(seconds: float) -> int:
    """Which process has waited for so long."""
    time.sleep(seconds)
    return os.getpid()


async def test_waiting_for_a_process_does_not_count_as_thinking(hired: Hire) -> None:
    """Neither for one that starts, nor for one that is busy with something else."""
    workers = hired(1)

    other = asyncio.ensure_future(workers.run(rest, 1.0, milliseconds=1000))
    await asyncio.sleep(0)
    assert await workers.run(abs, -3, seconds=0.7) == 3
    assert other.done()


@pytest.mark.slow
async def test_only_the_process_of_work_that_is_given_up_is_replaced(hired: Hire) -> None:
    workers = hired(2)

    before = set(await asyncio.gather(*(workers.run(rest, 0.5) for _ in range(2))))
    assert len(before) == 2
    other = asyncio.ensure_future(workers.run(rest, 1.5))
    with pytest.raises(AgentFailedError, match=r"no move in 0\.5 s"):
        await workers.run(rest, 60.0, seconds=0.5)
    assert await other in before
    after = set(await asyncio.gather(*(workers.run(rest, 0.5) for _ in range(2))))
    assert len(after & before) == 1


def test_hints_say_what_moves_lead_to(client: TestClient) -> None:
    history = random_line(Position(GAME, seed=1), random.Random(3))
    view = begin(client, options={"position": str(history[-3])})
    hint = send(client, view, "hint", milliseconds=100).json()
    assert {move["move"] for move in hint["moves"]} == set(history[-3].legal_moves())
    assert {move["verdict"] for move in hint["moves"]} <= {"wins", "loses", "draws"}
    assert "best" in hint["summary"]


def test_explanations_name_the_rule(client: TestClient) -> None:
    view = begin(client)
    cell = next(n for n, each in enumerate(view["cells"]) if "given" in each[4])
    sentences = send(client, view, "explain", cells=[cell]).json()["sentences"]
    assert len(sentences) == 1
    assert view["cells"][cell][0] in sentences[0]
    for bad in ({"cells": [81]}, {"cells": "a"}, {"cells": [0], "label": 5}, {"cells": [0] * 99},
                {"cells": []}):  # fmt: skip
        refused(send(client, view, "explain", **bad), 400, "cells")


def test_agents_that_the_server_was_started_with(tmp_path: Path) -> None:
    with visitor(Store(tmp_path / "a.sqlite3"), agents=["uct:16"]) as client:
        names = [player["name"] for player in client.get("/api/choices").json()["players"]]
        assert "uct:16" in names
        assert "uct:500ms" not in names  # longer than a search may take here
        view = begin(client, "score_dominari", first="uct:16")
        assert send(client, view, "answer").json()["ply"] == 1
    for name, message in (("nobody", "'nobody'"), ("human", "'human': a person can play anyway")):
        with pytest.raises(OptionError, match=message):
            make_app(Store(":memory:"), agents=[name])


@pytest.mark.parametrize(
    ("search", "usual"), [(2000, "uct:100ms"), (100, "uct:100ms"), (99, "uct:20ms"), (1, "greedy")]
)
def test_the_usual_opponent_is_one_of_those_offered(search: float, usual: str) -> None:
    choices = Choices((), Limits(search=search))
    assert choices.described["default"] == usual
    assert usual in [player["name"] for player in choices.described["players"]]
    assert choices.player(usual).name == usual


def test_longer_searches_are_offered_where_they_are_allowed() -> None:
    for search in (2001, 3_600_000):
        choices = Choices((), Limits(search=search))
        names = {player["name"] for player in choices.described["players"]}
        assert {f"uct:{search}ms", f"champion:{search}ms", "uct:2000ms"} <= names
        assert choices.player(f"uct:{search}ms").name == f"uct:{search}ms"
        with pytest.raises(RefusalError, match="at most"):
            choices.player(f"uct:{search + 1}ms")


def test_games_of_ones_own_are_offered_with_those_who_play_them() -> None:
    described = Choices(("uct:16", "champion:50"), Limits()).described
    assert [game["name"] for game in described["games"]] == [*GAMES, YARDSTICK.name]
    players = {player["name"]: player["games"] for player in described["players"]}
    assert players["uct:100ms"] is players["uct:16"] is players["human"] is None
    trained = [name for name, game in GAMES.items() if champion_file(game).is_file()]
    assert set(trained) >= set(COMPLETE)
    assert players["champion"] == players["champion:20ms"] == players["champion:50"] == trained
