"""The server's pages and its interface: JSON requests on games, each for those with its links."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from azumaya.baselines.agents.asking import AgentFailedError
from azumaya.baselines.play.gallery import read_gallery
from azumaya.baselines.play.replay import replay_page, reviewed_game
from azumaya.baselines.play.review import Seen
from azumaya.baselines.play.server.access import Access
from azumaya.baselines.play.server.answers import JSONAnswer, body_of, object_of, unless_left
from azumaya.baselines.play.server.choices import Choices, milliseconds_of
from azumaya.baselines.play.server.exercises import Exercises
from azumaya.baselines.play.server.exhibits import A_PAGE_MS, PAGES, Exhibits, replay_answer
from azumaya.baselines.play.server.games import Games
from azumaya.baselines.play.server.guard import LOOPBACK, Guard
from azumaya.baselines.play.server.lessons import Lessons
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.once import Once
from azumaya.baselines.play.server.own_files import KINDS, own_file, own_files
from azumaya.baselines.play.server.readiness import Readiness
from azumaya.baselines.play.server.reviews import Reviews
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.baselines.play.server.views import past
from azumaya.baselines.play.server.workers import Workers, hint, think
from azumaya.baselines.search.analysis import HINT_MILLISECONDS
from azumaya.envs.render.board import BOARD_SCRIPTS, web_file

COOKIE = "azumaya_visitor"
"""How the name of the cookie begins. The store's number follows, since browsers send the cookies of
one server to all on the same machine; earlier versions left it out."""
A_YEAR = 365 * 24 * 3600
PATHS = (
    "/", "/g/{game}", "/g/{game}/analysis", "/gallery", "/gallery/{number:int}/analysis",
    "/exercises", "/exercises/daily", "/exercises/{game}/{level}/{number:int}", "/lessons/{game}",
)  # fmt: skip
"""Where the page is."""
BOARD = (
    *BOARD_SCRIPTS, "graph.js", "replay.js", "widget.js", "board.css", "replay.css",
)  # fmt: skip
"""Files of the board and of replays, which other pages and notebooks share."""


class Server:
    """The endpoints.

    What takes a few milliseconds in a game at hand is done by the event loop itself, as a thread
    would double its processor time. Threads begin and open games, since that may compile rules or
    replay many moves; processes search.

    Args:
        games: the games.
        choices: what visitors may choose.
        workers: who searches.
        limits: the server's limits.
        cookie: the name of the cookie with the visitor's token.
        reviews: what searches say of games that are over.
    """

    def __init__(
        self, games: Games, choices: Choices, workers: Workers, limits: Limits, cookie: str,
        reviews: Reviews,
    ) -> None:  # fmt: skip
        self.games, self.choices, self.workers = games, choices, workers
        self.limits, self.cookie, self.reviews = limits, cookie, reviews
        self.readiness = reviews.readiness
        self._searches, self._pages, self._replays = Once(), Once(PAGES), Once(PAGES)

    def routes(self) -> list[Route]:
        """The routes."""
        one = "/api/games/{game}"
        return [
            *(Route(path, app_page) for path in PATHS),
            Route("/static/{name}", self.static),
            Route("/api/choices", self.offered),
            Route("/api/games", self.listed),
            Route("/api/games", self.begin, methods=["POST"]),
            Route(one, self.look),
            Route(one, self.delete, methods=["DELETE"]),
            Route(f"{one}/record", self.record),
            Route(f"{one}/replay", self.replay),
            *(
                Route(f"{one}/{name}", endpoint, methods=["POST"])
                for name, endpoint in {
                    "move": self.move, "answer": self.answer, "undo": self.undo,
                    "explain": self.explain, "hint": self.hint,
                    "review": self.review, "resign": self.resign, "offer": self.offer,
                    "decline": self.decline,
                }.items()
            ),
            Route("/watch/{share}", self.watch),
        ]  # fmt: skip

    # ---- pages ----

    async def nothing(self, request: Request) -> Response:
        """What is at no other address: a page that says so."""
        raise RefusalError(404, "there is nothing at this address")

    async def static(self, request: Request) -> Response:
        """A script or style sheet."""
        name = request.path_params["name"]
        kind = KINDS.get(name.rpartition(".")[2])
        if kind is None or name not in (*BOARD, *own_files()):
            raise RefusalError(404, "there is no such file")
        text = web_file(name) if name in BOARD else own_file(name)
        return Response(text, media_type=kind, headers={"Cache-Control": "no-cache"})

    async def watch(self, request: Request) -> Response:
        """A game as a replay, for those who were given its link; with its analysis, if any."""
        kept = await run_in_threadpool(self.games.shared, request.path_params["share"])
        review = await run_in_threadpool(self.reviews.kept, kept.id, kept.changes)
        made = partial(self._page_of, kept, review)
        key = kept.id, kept.changes, review is None
        return replay_answer(await self._pages.get(key, made))

    async def _page_of(self, kept: Kept, review: Sequence[Seen] | None) -> Any:
        record = await run_in_threadpool(self.games.watched, kept)
        called = self.choices.names(kept.game, kept.players, ())
        return await self.workers.run(
            partial(replay_page, reviews=[review], called=called), [record], milliseconds=A_PAGE_MS,
            visitor=kept.visitor,
        )  # fmt: skip

    # ---- games ----

    async def offered(self, request: Request) -> Response:
        """What may be chosen."""
        return JSONAnswer(self.choices.described)

    async def listed(self, request: Request) -> Response:
        """The visitor's games."""
        visitor = self._token(request)
        return JSONAnswer(await run_in_threadpool(self.games.listed, visitor) if visitor else [])

    async def begin(self, request: Request) -> Response:
        """Begin a game; whoever has no token of this server yet gets one."""
        wish = await body_of(request, self.limits.body)
        visitor = await run_in_threadpool(self.games.visitor, self._token(request))
        opened = await run_in_threadpool(self.games.begin, visitor, wish)
        answer = JSONAnswer(await run_in_threadpool(self.games.view, opened), 201)
        self.readiness.begin(opened.kept.players, opened.table.here)
        answer.set_cookie(
            self.cookie, visitor, max_age=A_YEAR, httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
            path=None,  # that of the interface, which a proxy may have put below a prefix
        )  # fmt: skip
        return answer

    async def look(self, request: Request) -> Response:
        """The view of a game; nothing if the page knows all of it, or an earlier position."""
        opened = await self._opened(request)
        if request.query_params.get("known") == opened.opened.news:
            return JSONAnswer({})
        ply = request.query_params.get("ply", "")
        if ply.isdecimal():
            return JSONAnswer(past(opened, int(ply[:6])))
        return JSONAnswer(self.games.view(opened))

    async def delete(self, request: Request) -> Response:
        """Delete a game; returns the visitor's other games."""
        visitor = self._token(request)
        await run_in_threadpool(self.games.delete, request.path_params["game"], visitor)
        return await self.listed(request)

    async def record(self, request: Request) -> Response:
        """The record of a game, as a file to keep."""
        opened = await self._opened(request)
        line = self.games.record(opened).to_json()
        name = f"{opened.kept.game}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(line + "\n", media_type="application/x-ndjson", headers=headers)

    async def replay(self, request: Request) -> Response:
        """All positions of a game that is over, for the page that analyses it."""
        opened = await self._opened(request)
        record = self.games.finished(opened)
        made = partial(
            self.workers.run, reviewed_game, record, milliseconds=A_PAGE_MS,
            visitor=opened.kept.visitor,
        )  # fmt: skip
        shown = await self._replays.get((opened.kept.id, opened.changes), made)
        return JSONAnswer({**shown, "called": self.games.called(opened)})

    async def review(self, request: Request) -> Response:
        """What a search says of a game that is over, as far as it has come."""
        opened, _ = await self._asked(request)
        opened.check_player()
        record = self.games.finished(opened)
        kept = opened.kept
        found = await self.reviews.look(kept.id, opened.changes, record, kept.visitor)
        return JSONAnswer(found)

    async def move(self, request: Request) -> Response:
        """Make a move."""
        opened, body = await self._asked(request)
        return JSONAnswer(self.games.move(opened, body.get("changes"), body.get("move")))

    async def undo(self, request: Request) -> Response:
        """Take a move back."""
        opened, body = await self._asked(request)
        return JSONAnswer(self.games.undo(opened, body.get("changes")))

    async def resign(self, request: Request) -> Response:
        """Give the game up."""
        opened, body = await self._asked(request)
        self.games.agreements.resign(opened, body.get("changes"))
        return JSONAnswer(self.games.view(opened))

    async def offer(self, request: Request) -> Response:
        """Offer the other player something, or agree to it."""
        opened, body = await self._asked(request)
        self.games.agreements.offer(opened, body.get("changes"), body.get("what"))
        return JSONAnswer(self.games.view(opened))

    async def decline(self, request: Request) -> Response:
        """Decline an offer."""
        opened, body = await self._asked(request)
        self.games.agreements.decline(opened, body.get("changes"))
        return JSONAnswer(self.games.view(opened))

    async def answer(self, request: Request) -> Response:
        """Let the agent move whose turn it is; the answer comes when it has moved."""
        opened, _ = await self._asked(request)
        (name, position, key), changes = self.games.thinking(opened), opened.changes

        async def search() -> Any:
            await self.readiness.agent(name, position)
            return await self.workers.run(
                think, name, position, key, milliseconds=milliseconds_of(name),
                seconds=self.limits.move_seconds, visitor=opened.kept.visitor,
            )  # fmt: skip

        moving = self._searches.get((opened.kept.id, changes), search)
        move = await unless_left(request, moving)
        return JSONAnswer(self.games.answer(opened, changes, move))

    async def explain(self, request: Request) -> Response:
        """Why a person's clicks make no move."""
        opened, body = await self._asked(request)
        cells, label = body.get("cells"), body.get("label", "")
        sentences = self.games.explain(opened, body.get("changes"), cells, label)
        return JSONAnswer({"sentences": sentences})

    async def hint(self, request: Request) -> Response:
        """What a short search says about the moves."""
        opened, body = await self._asked(request)
        usual = min(HINT_MILLISECONDS, self.limits.search)
        milliseconds = body.get("milliseconds", usual)
        wanted = self.games.hinted(opened, body.get("changes"), milliseconds)

        async def search() -> Any:
            await self.readiness.hint(wanted[0])
            return await self.workers.run(
                hint, *wanted, milliseconds=milliseconds, seconds=self.limits.move_seconds,
                visitor=opened.kept.visitor,
            )  # fmt: skip

        key = opened.kept.id, opened.changes, milliseconds
        return JSONAnswer(await unless_left(request, self._searches.get(key, search)))

    # ---- requests ----

    def _token(self, request: Request) -> str:
        return request.cookies.get(self.cookie) or request.cookies.get(COOKIE, "")

    async def _opened(self, request: Request) -> Access:
        wanted = request.path_params["game"], self._token(request)
        ready = self.games.at_hand(*wanted)
        if ready is not None:
            return ready
        opened = await run_in_threadpool(self.games.open, *wanted)
        return self.games.at_hand(*wanted) or opened  # only this loop may end a game

    async def _asked(self, request: Request) -> tuple[Access, dict[str, Any]]:
        body = await object_of(request, self.limits.body)
        return await self._opened(request), body


async def app_page(request: Request, status: int = 200) -> Response:
    """The page; its script reads the address to know what to show, and asks for it."""
    # Below the prefix of a proxy, which this server is not told, only relative addresses lead.
    root = "../" * (request.scope["path"].count("/") - 1) or "./"
    return HTMLResponse(own_file("app.html").replace("{root}", root), status)


async def left(request: Request, error: Exception) -> Response:
    """The answer to a client that has left, which nobody gets."""
    return Response(status_code=400)


async def refused(request: Request, error: Exception) -> Response:
    """The answer to what cannot be done."""
    status = error.status if isinstance(error, RefusalError) else 400
    if status == 404 and "text/html" in request.headers.get("accept", ""):
        return await app_page(request, 404)  # for a person who follows a link
    return JSONAnswer({"error": str(error)}, status)


async def failed(request: Request, error: Exception) -> Response:
    """The answer where an agent could not give a move."""
    return JSONAnswer({"error": str(error)}, 502)


async def not_kept(request: Request, error: Exception) -> Response:
    """The answer where the file of the games cannot be read or written."""
    return JSONAnswer({"error": f"the server cannot keep games now: {error}"}, 503)


def make_app(
    store: Store,
    agents: Iterable[str] = (),
    hosts: Iterable[str] = LOOPBACK,
    limits: Limits | None = None,
    workers: int = 2,
    gallery: Path | None = None,
) -> Starlette:
    """The server as an ASGI application.

    Args:
        store: where the games are kept; closed when the application shuts down.
        agents: agents to offer besides the usual ones, such as paths of checkpoints.
        hosts: the names by which the server may be called.
        limits: its limits.
        workers: processes that search; 0 for a thread.
        gallery: a file of game records to show; None for the games that come with the package.

    Raises:
        ValueError: there is no such agent, or the gallery has a line that is no record.
        OSError: the gallery cannot be read.
    """
    bounds = limits or Limits()
    choices = Choices(agents, bounds)
    pool = Workers(workers, bounds.waiting, bounds.waiting_of_one)
    cookie = f"{COOKIE}_{store.number:x}"
    reviews = Reviews(store, pool, Readiness(pool), bounds)
    server = Server(Games(store, choices, bounds), choices, pool, bounds, cookie, reviews)
    exercises = Exercises(pool, reviews.readiness, bounds)
    exhibits = Exhibits(read_gallery(gallery), pool, reviews)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        pool.warm()
        yield
        pool.close()
        store.close()

    made = Starlette(
        routes=[
            *server.routes(), *exhibits.routes(), *exercises.routes(),
            *Lessons(choices, bounds).routes(),
            Route("/{path:path}", server.nothing),
        ],
        middleware=[Middleware(Guard, hosts=hosts, body=bounds.body)],
        exception_handlers={
            ValueError: refused, RefusalError: refused, AgentFailedError: failed,
            sqlite3.Error: not_kept, ClientDisconnect: left,
        },
        lifespan=lifespan,
    )  # fmt: skip
    made.router.redirect_slashes = False  # to an address from the root
    return made
