"""Games on the server: whole games, undo, and which of them stay in memory."""

from __future__ import annotations

import datetime
import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.agents import GreedyAgent
from azumaya.baselines.arena.entrants import Entrant, trained_options
from azumaya.baselines.play.server import choices, memory
from azumaya.baselines.play.server.access import digest
from azumaya.baselines.play.server.changes import A_MONTH, AN_HOUR
from azumaya.baselines.play.server.choices import Choices
from azumaya.baselines.play.server.games import Games
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.store import LATER, Kept, Store
from azumaya.envs import GAMES, OptionError, Position, find_game
from azumaya.envs.notation import GameRecord, replay
from tests.cases import YARDSTICK
from tests.serve.requests import GAME, LIMITS, begin, delete, refused, send, visitor

SHORT = {"abalone": {"max_plies": "30"}}


@pytest.mark.parametrize("game", [*GAMES, YARDSTICK.name])
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


def test_what_cannot_be_kept_is_not_made(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk a game stays as it was last kept, and goes on once there is room again."""
    view = begin(client, second="greedy")
    view = send(client, view, "move", move=view["moves"][0][0]).json()
    answered = send(client, view, "answer").json()
    path = f"/api/games/{view['id']}"

    def full(*arguments: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "_run", full)
        move = answered["moves"][0][0]
        refused(send(client, answered, "move", move=move), 503, "cannot keep", "disk is full")
        refused(send(client, answered, "undo"), 503, "cannot keep")
        refused(client.post("/api/games", json={"game": GAME}), 503, "cannot keep")
    assert client.get(path).json() == answered
    back = send(client, answered, "undo").json()
    with monkeypatch.context() as broken:
        view = send(client, back, "move", move=back["moves"][0][0]).json()
        broken.setattr(Store, "_run", full)
        refused(send(client, view, "answer"), 503, "cannot keep")
    assert client.get(path).json() == view
    assert send(client, view, "answer").json()["ply"] == 2


def test_what_explanations_need_is_compiled_before(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of moves that are legal and of others; everyone would wait for the event loop."""
    asked, whole = [], Position.explain

    def explain(self: Position, move: str | int) -> str:
        asked.append(move in self.legal_actions())
        return whole(self, move)

    monkeypatch.setattr(Position, "explain", explain)
    begin(client)
    assert asked == [True, False]


def test_a_late_answer_of_a_search_changes_nothing(games: Games) -> None:
    """While an agent thinks, the person takes a move back: its answer is dropped."""
    opened = games.begin("me", {"game": GAME, "second": "greedy", "seed": 1})
    games.move(opened, 0, opened.table.here.legal_moves()[0])
    move = games.thinking(opened)[1].legal_moves()[0]
    games.undo(opened, 1)
    games.move(opened, 2, opened.table.here.legal_moves()[1])
    assert games.answer(opened, 1, move)["ply"] == 1
    assert games.answer(opened, 3, opened.table.here.legal_moves()[0])["ply"] == 2


def test_what_was_meant_for_another_move_is_refused(opened: Any) -> None:
    """The number of moves is the same again once another one was made; also after a restart."""
    with opened() as client:
        view = begin(client)
        first, other = (move[0] for move in view["moves"][:2])
        late = send(client, view, "move", move=first).json()
        view = send(client, late, "undo").json()
        view = send(client, view, "move", move=other).json()
    with opened() as client:
        assert client.get(f"/api/games/{view['id']}").json() == view
        assert view["ply"] == late["ply"]
        refused(send(client, late, "move", move=late["moves"][-1][0]), 409, "at move 1")
        for name, body in (("undo", {}), ("explain", {"cells": [0]}), ("hint", {})):
            refused(send(client, late, name, **body), 409, "at move 1")
        assert send(client, view, "undo").json()["ply"] == 0


def test_a_game_in_use_is_one_game(games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game may be put out of memory while an agent thinks: its answer must not revive old moves.

    Otherwise the answer would be added to an old copy, which then replaces what was made since.
    """
    monkeypatch.setattr(memory, "IN_MEMORY", 1)
    opened = games.begin("me", {"game": GAME, "second": "greedy", "seed": 1})
    first, other = opened.table.here.legal_moves()[:2]
    games.move(opened, 0, first)
    thinking = games.thinking(opened)[1]
    games.begin("someone", {"game": GAME})
    again = games.open(opened.kept.id, "me")
    games.undo(again, 1)
    games.move(again, 2, other)
    games.answer(opened, 1, thinking.legal_moves()[0])
    del opened, again
    games.begin("someone", {"game": GAME})
    assert games.open(games.listed("me")[0]["id"], "me").table.moves == [other]


def test_long_games_leave_memory_first(games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "POSITIONS_IN_MEMORY", 4)
    kept = [games.begin("me", {"game": GAME, "seed": n}).kept.id for n in range(9)]
    at_hand = [games.at_hand(name, "me") is not None for name in kept]
    assert at_hand == [False] * 5 + [True] * 4


def test_a_game_that_grows_pushes_others_out(games: Games, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves count towards the limit of positions, and moves taken back no longer do."""
    monkeypatch.setattr(memory, "POSITIONS_IN_MEMORY", 6)
    kept = [games.begin("me", {"game": GAME, "seed": n}).kept.id for n in range(3)]

    def grow(game: str, moves: int) -> None:
        for _ in range(moves):
            opened = games.open(game, "me")
            games.move(opened, opened.changes, opened.table.here.legal_moves()[0])
        games.open(game, "me")

    def ready() -> list[bool]:
        return [games.at_hand(name, "me") is not None for name in kept]

    grow(kept[2], 3)
    assert ready() == [True] * 3  # 1 + 1 + 4 positions
    opened = games.open(kept[2], "me")
    for _ in range(2):
        games.undo(opened, opened.changes)
    grow(kept[2], 0)
    grow(kept[1], 2)
    assert ready() == [True] * 3  # 1 + 3 + 2
    grow(kept[2], 1)
    assert ready() == [False, True, True]  # 3 + 3
    games.open(kept[0], "me")
    assert ready() == [True, False, True]  # 1 + 3; the game touched the longest ago has left


def test_a_game_that_is_deleted_is_gone_and_makes_room(tmp_path: Path) -> None:
    """Also from memory; a move that was on its way when it was deleted is refused."""
    limits = replace(LIMITS, games_of_one=2)
    with visitor(Store(tmp_path / "games.sqlite3"), limits) as client:
        view, other = begin(client), begin(client)
        refused(client.post("/api/games", json={"game": GAME}), 429, "you have 2 games", "delete")
        left = delete(client, view["id"])
        assert left.status_code == 200
        assert [game["id"] for game in left.json()] == [other["id"]]
        refused(client.get(f"/api/games/{view['id']}"), 404, "not yours")
        refused(delete(client, view["id"]), 404, "not yours")
        refused(send(client, view, "move", move=view["moves"][0][0]), 404, "not yours")
        assert client.get(f"/watch/{view['share']}").status_code == 404
        begin(client)


def test_games_that_nobody_plays_make_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """First those without a move, then those not touched for a month, the oldest first."""
    games = Games(Store(":memory:"), Choices((), LIMITS), replace(LIMITS, games=3))
    now = 1_700_000_000.0

    def later(seconds: float) -> None:
        nonlocal now
        now += seconds
        monkeypatch.setattr(time, "time", lambda: now)

    def begun(moves: int = 0) -> str:
        later(1)
        opened = games.begin("me", {"game": GAME, "seed": 1})
        for _ in range(moves):
            games.move(opened, opened.changes, opened.table.here.legal_moves()[0])
        return opened.kept.id

    def there() -> set[str]:
        return {game["id"] for game in games.listed("me")}

    played, empty = begun(2), [begun(), begun()]
    with pytest.raises(RefusalError, match="no more than 3"):
        begun()
    later(AN_HOUR)
    recent = begun(1)
    assert there() == {played, empty[1], recent}
    assert games.at_hand(empty[0], "me") is None
    begun(1)
    with pytest.raises(RefusalError, match="no more than 3"):
        begun()
    later(A_MONTH - 2)
    last = begun()
    assert recent in there()
    assert last in there()
    assert played not in there()


def hidden_order(client: TestClient) -> dict[str, Any]:
    """The order of the tiles, which only the server knows."""
    view = begin(client, "sudoku_tiles")
    for _ in range(3):
        view = send(client, view, "move", move=view["moves"][0][0]).json()
    return view


def resigned(client: TestClient) -> dict[str, Any]:
    return dict(send(client, begin(client), "resign").json())


@pytest.mark.parametrize("play", [hidden_order, resigned])
def test_games_survive_a_restart(play: Callable[[TestClient], Any], opened: Any) -> None:
    with opened() as client:
        view = play(client)
    with opened() as client:
        assert client.get(f"/api/games/{view['id']}").json() == view


@pytest.fixture
def _trained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let agents be checkpoints of `GAME`, trained with the territory that they are called."""

    def found(name: str, evaluated: bool = False) -> Entrant:
        options = {"territory": name, "handicap": None}
        return Entrant(name, GreedyAgent(), find_game(GAME), options) if evaluated else find(name)

    find = choices.find_entrant
    monkeypatch.setattr(choices, "find_entrant", found)


@pytest.mark.usefixtures("_trained")
def test_checkpoints_play_with_the_options_they_were_trained_with(opened: Any) -> None:
    """As in `azumaya play`; and still after a restart without them."""
    with opened(agents=["corners", "rows"]) as client:
        games = {
            "corners": begin(client, second="corners"),
            "rows": begin(client, second="corners", options={"territory": "rows"}),
            "standard": begin(client, second="corners", options={"territory": "none"}),
        }
        wish = {"game": "abalone", "first": "corners"}
        refused(client.post("/api/games", json=wish), 400, f"plays {GAME} only")
    both = [choices.find_entrant(name, evaluated=True) for name in ("corners", "rows")]
    with pytest.raises(OptionError, match="trained with different options"):
        trained_options(find_game(GAME), both, {})
    with opened() as client:
        for territory, view in games.items():
            assert client.get(f"/api/games/{view['id']}").json() == view
            record = GameRecord.from_json(client.get(f"/api/games/{view['id']}/record").text)
            assert record.options.get("territory", "standard") == territory


def test_a_kept_game_can_be_looked_at_without_its_agent(opened: Any) -> None:
    """The server may have been started again without it; only its moves are missing."""
    with opened(agents=["uct:16"]) as client:
        view = begin(client, second="uct:16")
        view = send(client, view, "move", move=view["moves"][0][0]).json()
    with opened() as client:
        path = f"/api/games/{view['id']}"
        assert client.get(path).json() == view
        record = GameRecord.from_json(client.get(f"{path}/record").text)
        assert record.players == ("human", "uct:16")
        assert client.get(f"/watch/{view['share']}").status_code == 200
        refused(send(client, view, "answer"), 410, "cannot go on here", "'uct:16'")
        assert send(client, view, "undo").json()["yours"]


@pytest.mark.usefixtures("_trained")
def test_a_checkpoint_of_another_game_makes_no_move() -> None:
    """A path that was offered for one game may later hold a checkpoint of another."""
    store = Store(":memory:")
    store.add(Kept("id", "share", digest("me"), "abalone", {}, ("rows", "human"), 1))
    with visitor(store, cookie="me", agents=["rows"]) as client:
        view = client.get("/api/games/id").json()
        assert view["thinking"]
        refused(send(client, view, "answer"), 410, f"plays {GAME} only")


def test_a_game_that_is_no_longer_offered_spoils_no_list() -> None:
    store = Store(":memory:")
    store.add(Kept("id", "share", digest("me"), "gone_game", {}, ("human", "human"), 1))
    with visitor(store, cookie="me") as client:
        assert client.get("/api/games").json()[0]["game"] == "gone_game"
        refused(client.get("/api/games/id"), 400, "game 'gone_game'")


def test_records_have_the_day_of_the_last_change(
    games: Games, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the day when they are downloaded."""
    day = datetime.datetime(2023, 11, 14, 23, 30, tzinfo=datetime.UTC)
    opened = games.begin("me", {"game": GAME, "seed": 1})
    monkeypatch.setattr(time, "time", day.timestamp)
    games.move(opened, 0, opened.table.here.legal_moves()[0])
    games.agreements.resign(opened, 1)
    monkeypatch.undo()
    assert games.record(opened).date == games.finished(opened).date == "2023-11-14"
    assert games.watched(games.shared(opened.kept.share)).date == "2023-11-14"


def test_files_of_earlier_versions_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite3"
    kept = Kept("id", "share", digest("me"), GAME, {}, ("human", "human"), 1, trained={"a": 1})
    store = Store(file)
    store.add(kept)
    store._run("DROP TRIGGER no_rematch_without_game", ())
    store._run("DROP INDEX games_of_rematches", ())
    for column in LATER:
        store._run(f"ALTER TABLE games DROP COLUMN {column.split()[0]}", ())
    store.close()
    for _ in range(2):
        store = Store(file)
        found = store.find("id")
        assert found is not None
        assert replace(found, touched=0.0) == replace(kept, trained={})
        store.close()
