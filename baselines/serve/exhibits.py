"""The gallery of the server: recorded games for everyone to look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from azumaya.baselines.arena.gallery import Exhibit
from azumaya.baselines.replay import content_policy, replay_page, replay_script, replay_style
from azumaya.baselines.serve.answers import JSONAnswer
from azumaya.baselines.serve.limits import RefusalError
from azumaya.baselines.serve.workers import Workers

A_PAGE_MS = 2000
"""What the replay of a long game takes."""
A_GALLERY_MS = 5000
"""What it takes to play all games of the gallery, without the time to compile their rules."""
KEEP = {"Cache-Control": "max-age=3600"}


class Exhibits:
    """The pages of a gallery.

    Args:
        exhibits: the games.
        workers: who makes the pages.
    """

    def __init__(self, exhibits: Sequence[Exhibit], workers: Workers) -> None:
        self._exhibits, self._workers = exhibits, workers
        self._described: list[dict[str, Any]] | None = None
        self._pages: dict[int, str] = {}
        self._pictures: dict[int, str] = {}

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/gallery", self.listed),
            Route("/gallery/{number:int}.svg", self.picture),
            Route("/gallery/{number:int}", self.watch),
        ]

    async def listed(self, request: Request) -> Response:
        """All games."""
        if self._described is None:
            self._described = await self._workers.run(
                described, self._exhibits, milliseconds=A_GALLERY_MS
            )
        return JSONAnswer(self._described)

    async def picture(self, request: Request) -> Response:
        """The last position of a game."""
        number = self._number(request)
        if number not in self._pictures:
            self._pictures[number] = await self._workers.run(
                drawn, self._exhibits[number], milliseconds=A_GALLERY_MS
            )
        return Response(self._pictures[number], media_type="image/svg+xml", headers=KEEP)

    async def watch(self, request: Request) -> Response:
        """A game as a replay, with the graph of its values."""
        number = self._number(request)
        if number not in self._pages:
            shown = self._exhibits[number]
            self._pages[number] = await self._workers.run(
                replay_page, [shown.record], None, None, [shown.values], milliseconds=A_PAGE_MS
            )
        return replay_answer(self._pages[number])

    def _number(self, request: Request) -> int:
        number = int(request.path_params["number"])
        if number >= len(self._exhibits):
            raise RefusalError(404, "there is no such game in the gallery")
        return number


def described(exhibits: Sequence[Exhibit]) -> list[dict[str, Any]]:
    """What the list of the gallery says about each game."""
    return [
        {
            "title": each.title, "players": each.record.players, "date": each.record.date,
            "story": each.story,
        }
        for each in exhibits
    ]  # fmt: skip


def drawn(exhibit: Exhibit) -> str:
    """The last position of a game, as a picture."""
    picture: str = exhibit.end.svg(last_action=exhibit.last_action)
    return picture


def replay_answer(page: str) -> Response:
    """The page of a replay, which may run its own script alone."""
    policy = content_policy(replay_script(), replay_style())
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})
