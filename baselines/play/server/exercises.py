"""Exercises on the server, for everyone: nothing about them is kept here."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from azumaya.baselines.arena.exams import ExamError, load_exam
from azumaya.baselines.play.exercises import (
    LEVELS,
    Exercise,
    daily_exercise,
    exercise_games,
    find_exercise,
    judge,
)
from azumaya.baselines.play.server.answers import JSONAnswer, object_of
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.once import Once
from azumaya.baselines.play.server.readiness import Readiness
from azumaya.baselines.play.server.views import explained, views_of_line
from azumaya.baselines.play.server.workers import Workers
from azumaya.baselines.play.words import notes, sides
from azumaya.envs import OptionError
from azumaya.envs.registry import find_game
from azumaya.envs.render.board import view_of

JUDGED_MS = 1000
"""What the search for a refutation takes at most, without the time to compile it."""
KEPT = 512
"""Answers that are kept, of some 60 kB each."""


class Exercises:
    """The exercises of the server.

    Args:
        workers: who searches for refutations.
        readiness: knows what has been compiled.
        limits: the server's limits.
    """

    def __init__(self, workers: Workers, readiness: Readiness, limits: Limits) -> None:
        self._workers, self._readiness, self._limits = workers, readiness, limits
        self._listed, self._judged = Once(1), Once(KEPT)

    def routes(self) -> list[Route]:
        """The routes."""
        one = "/api/exercises/{game}/{level}/{number:int}"
        return [
            Route("/api/exercises", self.listed),
            Route("/api/exercises/daily", self.daily),
            Route(one, self.look),
            Route(f"{one}/judge", self.judge, methods=["POST"]),
            Route(f"{one}/explain", self.explain, methods=["POST"]),
        ]

    async def listed(self, request: Request) -> Response:
        """How many exercises there are, by game and level."""
        making = partial(run_in_threadpool, counted)
        return JSONAnswer(await self._listed.get(None, making))

    async def daily(self, request: Request) -> Response:
        """Which exercise is that of today."""
        today = datetime.datetime.now(datetime.UTC).date()
        found = await run_in_threadpool(daily_exercise, today)
        return JSONAnswer({**about(found), "day": today.isoformat()})

    async def look(self, request: Request) -> Response:
        """The position of an exercise, how to point at its moves, and what is to be done."""
        return JSONAnswer(await run_in_threadpool(lambda: view(self._found(request))))

    async def judge(self, request: Request) -> Response:
        """What a move is worth; a wrong one with what refutes it, position by position."""
        body = await object_of(request, self._limits.body)
        exercise = await run_in_threadpool(self._found, request)
        move = body.get("move")
        if not isinstance(move, str) or move not in exercise.question.values:
            raise RefusalError(400, "move: the name of a legal move is needed")

        async def search() -> Any:
            await self._readiness.hint(exercise.start())
            return await self._workers.run(
                judged, exercise, move, milliseconds=JUDGED_MS, seconds=self._limits.move_seconds
            )

        return JSONAnswer(await self._judged.get((exercise, move), search))

    async def explain(self, request: Request) -> Response:
        """Why a person's clicks make no move."""
        body = await object_of(request, self._limits.body)

        def sentences() -> list[str]:
            start = self._found(request).start()
            return explained(start, body.get("cells"), body.get("label", ""))

        return JSONAnswer({"sentences": await run_in_threadpool(sentences)})

    @staticmethod
    def _found(request: Request) -> Exercise:
        place = request.path_params
        try:
            return find_exercise(place["game"], place["level"], int(place["number"]))
        except (OptionError, ExamError) as error:
            raise RefusalError(404, f"there is no such exercise: {error}") from None


def counted() -> list[dict[str, Any]]:
    """The games that have exercises, with their titles and the number of exercises by level."""
    return [
        {
            "name": name, "title": find_game(name).title,
            "levels": {level: find_exercise(name, level).of for level in LEVELS},
        }
        for name in exercise_games()
    ]  # fmt: skip


def about(exercise: Exercise) -> dict[str, Any]:
    """What names an exercise."""
    return {
        "game": exercise.game, "title": find_game(exercise.game).title, "level": exercise.level,
        "number": exercise.number, "of": exercise.of,
    }  # fmt: skip


def view(exercise: Exercise) -> dict[str, Any]:
    """The position of an exercise as the page shows it."""
    options, start = load_exam(exercise.game).options, exercise.start()
    shown = view_of(start)
    return {
        **shown,
        **notes(shown, sides(start)),
        **about(exercise),
        "status": exercise.task,
        "yours": True,
        "options": {name: str(value) for name, value in options.items()},
    }


def judged(exercise: Exercise, move: str) -> dict[str, Any]:
    """What a move is worth, and the positions after it and after what refutes it."""
    found = judge(exercise, move)
    views = views_of_line(exercise.start(), (found.move, *found.line))
    return {"right": found.right, "line": found.line, "words": found.words, "views": views}
