"""A visitor of the server without a browser, for the tests."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from azumaya.baselines.play.server.app import COOKIE, make_app
from azumaya.baselines.play.server.limits import Limits
from azumaya.baselines.play.server.store import Store

GAME = "sudoku_moyo"
LIMITS = Limits(games_of_one=12, search=200)


JSON = {"content-type": "application/json"}


def visitor(
    store: Store, limits: Limits = LIMITS, cookie: str | None = None, **settings: Any
) -> TestClient:
    """The only visitor of a server; the cookie may be one from before it was restarted."""
    app = make_app(store, limits=limits, workers=0, **settings)
    return TestClient(
        app, base_url="http://localhost:8123", cookies={COOKIE: cookie} if cookie else None
    )


def another(client: TestClient) -> TestClient:
    """Another browser at the same server."""
    return TestClient(client.app, base_url=str(client.base_url))


def delete(client: TestClient, name: str, **headers: str) -> Any:
    return client.delete(f"/api/games/{name}", headers={**JSON, **headers})


def begin(client: TestClient, game: str = GAME, **wish: Any) -> dict[str, Any]:
    answer = client.post("/api/games", json={"game": game, "seed": 1, **wish})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


def send(client: TestClient, view: dict[str, Any], name: str, **body: Any) -> Any:
    about = {"changes": view["changes"], **body}
    return client.post(f"/api/games/{view['id']}/{name}", json=about)


def token(client: TestClient) -> str:
    """What the server knows a visitor by."""
    (found,) = client.cookies.values()
    return str(found)


def refused(answer: Any, status: int, *words: str) -> None:
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]
