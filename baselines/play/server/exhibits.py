"""The gallery of the server: recorded games for everyone to look at."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from azumaya.baselines.play.gallery import Exhibit, gallery_line
from azumaya.baselines.play.replay import (
    content_policy,
    replay_page,
    replay_script,
    replay_style,
    reviewed_game,
)
from azumaya.baselines.play.server.answers import JSONAnswer
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.once import Once
from azumaya.baselines.play.server.reviews import Reviews
from azumaya.baselines.play.server.store import OF_GALLERY
from azumaya.baselines.play.server.workers import Workers

A_PAGE_MS = 2000
"""What playing through a long game takes, without the time to compile its rules."""
PAGES = 32
"""Replays that are kept, of some 100 kB each."""
PICTURES = 256
"""Pictures of last positions that are kept, of some 30 kB each."""
KEEP = {"Cache-Control": "max-age=3600"}


class Exhibits:
    """The pages of a gallery.

    Args:
        exhibits: the games.
        workers: who makes the pages.
        reviews: what searches say of the games.
    """

    def __init__(self, exhibits: Sequence[Exhibit], workers: Workers, reviews: Reviews) -> None:
        self._exhibits, self._workers, self._reviews = exhibits, workers, reviews
        self._descriptions, self._pages, self._pictures = Once(1), Once(PAGES), Once(PICTURES)
        self._replays = Once(PAGES)

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/api/gallery", self.listed),
            Route("/api/gallery/{number:int}/replay", self.replay),
            Route("/api/gallery/{number:int}/review", self.review, methods=["POST"]),
            Route("/gallery/{number:int}.svg", self.picture),
            Route("/gallery/{number:int}", self.watch),
        ]

    async def listed(self, request: Request) -> Response:
        """All games."""
        return JSONAnswer(await self._descriptions.get(None, self._described))

    async def _described(self) -> list[dict[str, Any]]:
        """One game after the other: each may compile its rules, and others search in between."""
        return [await self._made(described, exhibit) for exhibit in self._exhibits]

    async def picture(self, request: Request) -> Response:
        """The last position of a game."""
        number = self._number(request)
        drawing = partial(self._made, drawn, self._exhibits[number])
        picture = await self._pictures.get(number, drawing)
        return Response(picture, media_type="image/svg+xml", headers=KEEP)

    async def watch(self, request: Request) -> Response:
        """A game as a replay, with the graph of its values."""
        number = self._number(request)
        shown = self._exhibits[number]
        making = partial(self._made, replay_page, [shown.record], None, None, [shown.values])
        return replay_answer(await self._pages.get(number, making))

    async def replay(self, request: Request) -> Response:
        """All positions of a game and their known values, for the page that analyses it."""
        number = self._number(request)
        shown = self._exhibits[number]
        making = partial(self._made, reviewed_game, shown.record, shown.values)
        return JSONAnswer(await self._replays.get(number, making))

    async def review(self, request: Request) -> Response:
        """What a search says of a game, as far as it has come."""
        shown = self._exhibits[self._number(request)]
        return JSONAnswer(await self._reviews.look(OF_GALLERY + version(shown), 0, shown.record))

    async def _made(self, *work: Any) -> Any:
        return await self._workers.run(*work, milliseconds=A_PAGE_MS)

    def _number(self, request: Request) -> int:
        number = int(request.path_params["number"])
        if number >= len(self._exhibits):
            raise RefusalError(404, "there is no such game in the gallery")
        return number


def version(exhibit: Exhibit) -> str:
    """What tells a game from those of other galleries."""
    return hashlib.sha256(gallery_line(exhibit).encode()).hexdigest()[:12]


def described(exhibit: Exhibit) -> dict[str, Any]:
    """What the list of the gallery says about a game.

    `version` belongs into the address of its picture, which browsers keep: with another gallery,
    the number is another game's.
    """
    return {
        "title": exhibit.title, "players": exhibit.players, "date": exhibit.record.date,
        "story": exhibit.story,
        "version": version(exhibit),
    }  # fmt: skip


def drawn(exhibit: Exhibit) -> str:
    """The last position of a game, as a picture."""
    picture: str = exhibit.end.svg(last_action=exhibit.last_action)
    return picture


def replay_answer(page: str) -> Response:
    """The page of a replay, which may run its own script alone."""
    policy = content_policy(replay_script(), replay_style())
    framed = "frame-ancestors 'none'"  # which pages cannot say of themselves
    return HTMLResponse(page, headers={"Content-Security-Policy": f"{policy}; {framed}"})
