"""Analysis of games that are over: in the background, once, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from azumaya.baselines.play.gallery import Exhibit, gallery_line
from azumaya.baselines.play.review import Seen, mistakes, review_of
from azumaya.baselines.play.server import reviews as server_reviews
from azumaya.baselines.play.server.limits import Limits
from azumaya.baselines.play.server.store import Store
from azumaya.benchmarks.studies.gallery_maker import play
from azumaya.envs.notation import replay
from tests.processes import eventually
from tests.serve.requests import begin, delete, refused, send, visitor

QUICK = Limits(search=2)


def finished(client: TestClient) -> dict[str, Any]:
    """A short game that is over."""
    view = begin(client, "score_dominari", second="human")
    while not view["over"]:
        view = send(client, view, "move", move=view["moves"][0][0]).json()
    return view


def reviewed(client: TestClient, path: str, **body: Any) -> dict[str, Any]:
    """The whole review of a game; with an empty cache the search is compiled first."""
    found: dict[str, Any] = {}

    def is_whole() -> bool:
        answer = client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        found.update(answer.json())
        return len(found["plies"]) == found["positions"]

    eventually(is_whole)
    return found


def until_kept(client: TestClient, view: dict[str, Any]) -> None:
    """Wait until a review that has been found is kept, which takes a moment."""
    eventually(lambda: '"review"' in client.get(f"/watch/{view['share']}").text)


def test_a_colour_that_was_chosen_is_the_players_in_the_analysis(client: TestClient) -> None:
    view = begin(client, second="friend", options={"setup": "choose"})
    view = send(client, view, "move", move="dark").json()
    assert view["sides"] == ["dark", "light"]
    assert send(client, view, "resign").json()["over"]
    shown = client.get(f"/api/games/{view['id']}/replay").json()
    assert (shown["called"], shown["games"][0]["sides"]) == (["You", "light"], ["dark", "light"])
    last = shown["parts"][shown["games"][0]["frames"][-1]["status"]]
    assert "Light: choose who starts" in last
    assert '"players":["Dark","Light"],' in client.get(f"/watch/{view['share']}").text


def test_a_game_is_searched_once_and_the_result_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also across a restart; those with the link see it; without the game it is gone."""
    file = tmp_path / "games.sqlite3"
    with visitor(Store(file), QUICK) as client:
        view = finished(client)
        path, watch = f"/api/games/{view['id']}/review", f"/watch/{view['share']}"
        assert '"values"' not in client.get(watch).text
        found = reviewed(client, path)
        assert found["positions"] == view["ply"] + 1
        assert [each["mover"] for each in found["plies"][:-1]] == view["movers"]
        assert found["plies"][-1] == {
            "value": view["returns"][0], "exact": True, "mover": view["toMove"], "best": None,
        }  # fmt: skip
        until_kept(client, view)
        cookies = client.cookies
    monkeypatch.setattr(server_reviews, "seen", lambda *_, **__: pytest.fail("searched again"))
    with visitor(Store(file), QUICK) as client:
        client.cookies = cookies
        assert client.post(path, json={}).json() == found
        assert '"review"' in client.get(watch).text
        shown = client.get(f"/api/games/{view['id']}/replay").json()
        assert shown["games"][0]["moves"] == view["made"]
        assert len(shown["games"][0]["frames"]) == found["positions"]
        delete(client, view["id"])
    store = Store(file)
    assert store.review(view["id"], view["changes"]) is None
    store.keep_review(view["id"], 0, [])
    assert store.review(view["id"], 0) is None
    store.close()


def test_only_the_owner_has_a_game_analysed_and_only_when_it_is_over() -> None:
    with visitor(Store(":memory:"), QUICK) as client:
        view = begin(client, "score_dominari")
        path = f"/api/games/{view['id']}"
        refused(client.post(f"{path}/review", json={}), 409, "when it is over")
        refused(client.get(f"{path}/replay"), 409, "when it is over")
        client.cookies.clear()
        refused(client.post(f"{path}/review", json={}), 404, "not yours")


def test_a_search_that_fails_is_told_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do searches that failed keep a visitor, who was not told of them, from others."""

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("no memory")

    with visitor(Store(":memory:"), QUICK) as client:
        games = [finished(client) for _ in range(server_reviews.OF_ONE + 2)]
        path, *failing, last = (f"/api/games/{game['id']}/review" for game in games)
        with monkeypatch.context() as patch:
            patch.setattr(server_reviews, "seen", fail)
            answers = [client.post(path, json={})]
            while answers[-1].status_code == 200:
                answers.append(client.post(path, json={}))
            refused(answers[-1], 400, "no memory")
        assert reviewed(client, path)["positions"] == games[0]["ply"] + 1
        until_kept(client, games[0])  # until then it counts as one of the visitor's
        with monkeypatch.context() as patch:
            patch.setattr(server_reviews, "seen", fail)
            for each in failing:
                assert client.post(each, json={}).status_code == 200
            eventually(lambda: client.post(last, json={}).status_code == 200)


def test_games_of_the_gallery_are_analysed(tmp_path: Path) -> None:
    record, file = play("score_dominari", "greedy random", 1), tmp_path / "games.jsonl"
    values = tuple(0.25 for _ in range(len(record.moves) + 1))
    file.write_text(gallery_line(Exhibit(record, values)) + "\n")
    with visitor(Store(":memory:"), QUICK, gallery=file) as client:
        (game,) = client.get("/api/gallery/0/replay").json()["games"]
        assert game["values"] == list(values)
        found = reviewed(client, "/api/gallery/0/review")
        assert found["plies"][-1]["value"] == record.returns[0]
        assert client.post("/api/gallery/1/review", json={}).status_code == 404


def test_best_moves_and_mistakes_of_a_game() -> None:
    """Where both values are proven, mistakes are the moves that give something away."""
    record = play("vierer_dominari", "random random", 3)
    found = review_of(record, nodes=20_000)
    positions = list(replay(record))
    for seen, position in zip(found, positions, strict=True):
        if seen["best"] is not None:
            name, _, path = seen["best"]
            assert name in position.legal_moves()
            assert set(path) <= set(range(36))
    wrong = mistakes(found, record.moves)
    exact = [n for n in range(len(record.moves)) if found[n]["exact"] and found[n + 1]["exact"]]

    def gain(n: int, ply: int) -> float:
        return found[ply]["value"] * (-1 if found[n]["mover"] else 1)

    assert all(gain(n, n + 1) <= gain(n, n) for n in exact), "nobody gains by a move of their own"
    lost = [n for n in exact if gain(n, n + 1) < gain(n, n)]
    assert lost
    assert [n for n in wrong if n in exact] == lost
    assert mistakes(found[:1], record.moves) == []


def test_an_estimate_must_fall_far_to_be_a_mistake() -> None:
    def at(value: float, mover: int, exact: bool = False) -> Seen:
        return Seen(value=value, exact=exact, mover=mover, best=["best", "", [0]])

    plies = [at(0.5, 0), at(0.2, 1), at(0.7, 0), at(-0.9, 1), at(-0.9, 0)]
    assert mistakes(plies, ["a", "b", "c", "d"]) == [1, 2]
    assert mistakes(plies, ["a", "best", "c", "d"]) == [2]
    assert mistakes([at(9.0, 0), at(8.0, 1)], ["a"]) == []
    assert mistakes([at(0.4, 0), at(0.0, 1)], ["a"]) == [0]
    for first, second in ((True, False), (False, True)):
        assert mistakes([at(0.2, 0, first), at(-0.1, 1, second)], ["a"]) == []
    assert mistakes([at(1.0, 0, True), at(0.9, 1, True)], ["a"]) == []
    assert mistakes([at(0.0, 0, True), at(-1.0, 1, True)], ["a"]) == [0]
