"""What agents and hints need is compiled once, before they are asked."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from azumaya.baselines.play import gallery
from azumaya.baselines.play.server import readiness
from azumaya.baselines.play.server.app import make_app
from azumaya.baselines.play.server.readiness import Readiness, brief_name
from azumaya.baselines.play.server.store import Store
from azumaya.baselines.play.server.workers import Here, Workers
from azumaya.envs import Position

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("player", "name"),
    [
        ("human", None),
        ("greedy", "greedy"),
        ("champion", "champion"),
        ("uct:100000", "uct:1ms"),
        ("puct:20ms:runs/moyo/policy", "puct:1ms:runs/moyo/policy"),
        ("runs/moyo/policy", None),
    ],
)
def test_agents_that_stand_for_others(player: str, name: str | None) -> None:
    assert brief_name(player) == name


class Compiling:
    """Workers, threads here, whose first search takes until `finish` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, count: int = 2) -> None:
        monkeypatch.setattr(readiness, "think", self.think)
        monkeypatch.setattr(readiness, "hint", self.hint)
        self.done: list[str] = []
        self.over = 0
        self.begun, self.finish, self.fails = threading.Event(), threading.Event(), False
        self.workers = Workers(count, waiting=8, caller=Here)
        self.readiness = Readiness(self.workers)

    def think(self, name: str, position: Position, key: int) -> None:
        self.done.append(f"{name} {position.game.name}")
        self.begun.set()
        assert self.finish.wait(60)
        self.over += 1
        if self.fails:
            raise OSError("no room on the disk")

    def hint(self, position: Position, milliseconds: float, key: int) -> None:
        self.done.append(f"hint {position.game.name}")


async def test_all_visitors_wait_for_one_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    compiling, here = Compiling(monkeypatch), Position("score_dominari", seed=1)

    for _ in range(3):
        compiling.readiness.begin(["human", "uct:100ms"], here)
    waits = [asyncio.ensure_future(compiling.readiness.agent("uct:5", here)) for _ in range(3)]
    waits.append(asyncio.ensure_future(compiling.readiness.hint(here)))
    await asyncio.sleep(0.05)
    assert not any(wait.done() for wait in waits)
    waits[0].cancel()  # this visitor leaves
    compiling.finish.set()
    await asyncio.gather(*waits[1:])
    await compiling.readiness.agent("uct:5", Position("halma_dominari", seed=1))
    assert compiling.done == ["uct:1ms score_dominari", "hint score_dominari",
                              "uct:1ms halma_dominari"]  # fmt: skip


async def test_hints_do_not_keep_agents_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hints are compiled after the agents, and meanwhile an agent can think for long."""
    compiling, here = Compiling(monkeypatch), Position("score_dominari", seed=1)
    hinting, answered = threading.Event(), threading.Event()

    def slow_hint(position: Position, milliseconds: float, key: int) -> None:
        compiling.done.append("hint" if compiling.over else "hint beside the agent")
        hinting.set()
        assert answered.wait(60)

    monkeypatch.setattr(readiness, "hint", slow_hint)

    compiling.readiness.begin(["human", "uct:2000ms"], here)
    assert await asyncio.to_thread(compiling.begun.wait, 60)
    compiling.finish.set()
    await compiling.readiness.agent("uct:2000ms", here)
    assert await asyncio.to_thread(hinting.wait, 60)
    work = compiling.workers.run(compiling.think, "uct:2000ms", here, 0, milliseconds=2000)
    await asyncio.wait_for(work, 60)
    answered.set()
    await compiling.readiness.hint(here)
    assert compiling.done == ["uct:1ms score_dominari", "hint", "uct:2000ms score_dominari"]


def test_hints_wait_for_the_agents_of_their_own_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of several games are compiled one at a time, or they would take all processes."""
    compiling, here = Compiling(monkeypatch), Position("score_dominari", seed=1)
    others = [Position(name, seed=1) for name in ("halma_dominari", "vierer_dominari")]
    going, most = 0, 0

    def hint(position: Position, milliseconds: float, key: int) -> None:
        nonlocal going, most
        going += 1
        most = max(most, going)
        compiling.hint(position, milliseconds, key)
        time.sleep(0.05)  # longer than the other needs to begin
        going -= 1

    monkeypatch.setattr(readiness, "hint", hint)

    async def check() -> None:
        compiling.readiness.begin(["human", "uct:100ms"], here)
        assert await asyncio.to_thread(compiling.begun.wait, 60)
        hints = [compiling.readiness.hint(other) for other in others]
        await asyncio.wait_for(asyncio.gather(*hints), 60)
        compiling.finish.set()
        await compiling.readiness.hint(here)

    try:
        asyncio.run(check())
    finally:
        compiling.finish.set()
    assert compiling.done == ["uct:1ms score_dominari", "hint halma_dominari",
                              "hint vierer_dominari", "hint score_dominari"]  # fmt: skip
    assert most == 1


async def test_a_compilation_that_fails_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told: the search itself will say what is wrong."""
    compiling, here = Compiling(monkeypatch, count=1), Position("score_dominari", seed=1)
    compiling.finish.set()

    for fails in (True, False, False):
        compiling.fails = fails
        await compiling.readiness.agent("greedy", here)
    assert compiling.done == ["greedy score_dominari"] * 2


async def test_a_single_process_is_not_kept_busy_with_hints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiling, here = Compiling(monkeypatch, count=1), Position("score_dominari", seed=1)
    compiling.finish.set()

    compiling.readiness.begin(["human", "greedy"], here)
    await compiling.readiness.agent("greedy", here)
    assert compiling.done == ["greedy score_dominari"]
    await compiling.readiness.hint(here)
    assert compiling.done == ["greedy score_dominari", "hint score_dominari"]


def test_a_start_plays_through_no_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page must not wait for the rules of every game in the gallery to be compiled."""

    def replayed(record: Any) -> Any:
        raise AssertionError(f"{record.environment} was played through")

    monkeypatch.setattr(gallery, "replay", replayed)
    make_app(Store(tmp_path / "games.sqlite3"), workers=0)
