"""Lessons on the server, for everyone: the page says which moves it has made."""

from __future__ import annotations

from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from azumaya.baselines.play.lessons import begin_step, try_move
from azumaya.baselines.play.server.answers import JSONAnswer, object_of
from azumaya.baselines.play.server.choices import Choices
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.views import explained, views_of_line
from azumaya.baselines.play.words import sides, worded
from azumaya.envs.game import Game
from azumaya.envs.position import Position
from azumaya.envs.render.board import view_of
from azumaya.envs.render.layout import layout_of


class Lessons:
    """The lessons of the server.

    Args:
        choices: the games.
        limits: the server's limits.
    """

    def __init__(self, choices: Choices, limits: Limits) -> None:
        self._choices, self._limits = choices, limits

    def routes(self) -> list[Route]:
        """The routes."""
        one = "/api/lessons/{game}"
        return [
            Route(one, self.look, methods=["POST"]),
            Route(f"{one}/try", self.attempt, methods=["POST"]),
            Route(f"{one}/explain", self.explain, methods=["POST"]),
        ]

    async def look(self, request: Request) -> Response:
        """The step that follows the moves made, or the end of the lesson."""
        body, game = await self._asked(request)
        made = moves_of(body, game)
        return JSONAnswer(await run_in_threadpool(lambda: view(game, made)))

    async def attempt(self, request: Request) -> Response:
        """Whether a move makes the point of a step, with the positions that follow if it does."""
        body, game = await self._asked(request)
        made, move = moves_of(body, game), body.get("move")
        if not isinstance(move, str) or len(made) == len(game.words.lesson):
            raise RefusalError(400, "move: the name of a move in a step of the lesson is needed")
        return JSONAnswer(await run_in_threadpool(lambda: tried(game, made, move)))

    async def explain(self, request: Request) -> Response:
        """Why a person's clicks make no move."""
        body, game = await self._asked(request)
        made, cells, label = moves_of(body, game), body.get("cells"), body.get("label", "")

        def sentences() -> list[str]:
            return explained(begin_step(game, made), cells, label)

        return JSONAnswer({"sentences": await run_in_threadpool(sentences)})

    async def _asked(self, request: Request) -> tuple[dict[str, Any], Game]:
        body = await object_of(request, self._limits.body)
        name = request.path_params["game"]
        game = self._choices.game(name)
        if not game.words.lesson:
            raise RefusalError(404, f"{game.title} has no lesson")
        return body, game


def moves_of(body: dict[str, Any], game: Game) -> list[str]:
    """The learner's moves so far, in the body of a request; raises `RefusalError`."""
    made = body.get("made")
    if not isinstance(made, list) or not all(isinstance(move, str) for move in made):
        raise RefusalError(400, "made: the names of the moves so far are needed")
    return made


def view(game: Game, made: list[str]) -> dict[str, Any]:
    """What the page shows of a lesson after some moves."""
    here, steps = begin_step(game, made), game.words.lesson
    is_done = len(made) == len(steps)
    step = None if is_done else steps[len(made)]
    return {
        **worded(view_of(here, movable=not is_done), sides(here)),
        "game": game.name, "title": game.title, "options": {}, "yours": not is_done,
        "say": step.say if step else game.words.idea,
        "about": about(here, step.cells if step else ()),
        "number": len(made) + 1, "of": len(steps), "done": is_done,
        "position": str(here), "toMove": here.to_move,
    }  # fmt: skip


def about(here: Position, names: tuple[str, ...]) -> list[int]:
    """The cells of some names."""
    known = layout_of(here.scene().board).names
    return [known.index(name) for name in names]


def tried(game: Game, made: list[str], move: str) -> dict[str, Any]:
    """What a move in a step is worth, and the positions after it and after the answer."""
    here = begin_step(game, made)
    found = try_move(here, game.words.lesson[len(made)], move)
    return {"right": found.right, "words": found.words, "views": views_of_line(here, found.line)}
