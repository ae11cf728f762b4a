"""Visitors of the load test, who play and check every answer.

A visitor follows its game by the rules, without the server. It also makes mistakes, and tries to
read and change the games of others.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from typing import Any

from azumaya.baselines.play.server.games import LISTED
from azumaya.envs import GAMES, Position
from tests.serve.connection import Answer, Connection, DroppedError

OPTIONS = {"abalone": {"max_plies": 60}}
"""Options that end long games early."""
STEPS = {
    "move": 70, "look": 8, "undo": 4, "explain": 4, "listed": 4, "intrude": 4, "mistake": 3,
    "record": 2, "page": 1,
}  # fmt: skip
"""How often a visitor does what, in proportion."""
AGENT_SHARE = 0.25
"""The share of games against random moves; in the others one visitor plays both sides."""
PAGES = ("/", "/static/board.js", "/static/app.js", "/static/board.css", "/api/choices")
MOST_FAULTS = 20
BUSY_SECONDS = 0.5
"""A visitor's patience before it asks again for an agent's answer that was put off."""


class Tally:
    """What the visitors of a process met with.

    Attributes:
        seconds: the times of the answers, by kind of request.
        faults: what went wrong, the first few in words.
        fault_count: how often something went wrong.
        busy: how often an agent's answer was put off, since too many searches were under way.
        retries: how many requests were sent twice, since the server had closed an idle connection.
    """

    def __init__(self) -> None:
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.faults: list[str] = []
        self.fault_count = self.busy = self.retries = 0

    def fault(self, what: str) -> None:
        """Note that something is wrong."""
        self.fault_count += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(what)

    def check(self, holds: bool, what: str) -> None:
        """Note it if something does not hold."""
        if not holds:
            self.fault(what)


class Visitor:
    """Someone who plays one game after the other.

    Args:
        address: the server's host and port.
        seed: draws games and moves.
        tally: where answers are noted.
        others: all visitors of the process, in whose games this one tries to meddle.
        second: the second player of all games; None to draw it.
    """

    def __init__(
        self, address: tuple[str, int], seed: int, tally: Tally, others: list[Visitor],
        second: str | None = None,
    ) -> None:  # fmt: skip
        self.connection, self.tally, self.others = Connection(*address), tally, others
        self.rng, self.second = random.Random(seed), second
        self.games: list[str] = []
        self.position: Position | None = None
        self.view: dict[str, Any] = {}
        self.moves: list[str] = []

    async def ask(self, kind: str, path: str, body: Any = None, status: int = 200) -> Answer | None:
        """Send a request and note how long the answer took; None if it has not this status."""
        try:
            answer = await self.connection.ask(path, body)
        except DroppedError as error:
            self.tally.fault(f"dropped: {error}")
            return None
        self.tally.seconds[kind].append(answer.seconds)
        self.tally.retries += answer.retried
        if answer.status == 503 and kind == "answer":
            self.tally.busy += 1
            await asyncio.sleep(BUSY_SECONDS)
            return await self.ask(kind, path, body, status)
        if answer.status != status:
            self.tally.fault(f"{kind} {path}: {answer.status} {answer.content[:300]!r}")
            return None
        return answer

    async def step(self) -> None:
        """Do one thing: begin a game, let the agent answer, move, or something else."""
        if self.position is None or self.position.is_over:
            await self.begin()
        elif self.view["thinking"]:
            await self.change("answer", {})
        else:
            (kind,) = self.rng.choices(list(STEPS), list(STEPS.values()))
            await getattr(self, kind)()

    async def begin(self, game: str | None = None) -> None:
        """Begin a game with a person first."""
        if self.position is not None:
            await self.look()
        name = game or self.rng.choice(list(GAMES))
        options = OPTIONS.get(name, {})
        seed = self.rng.randrange(2**31)
        second = self.second or ("random" if self.rng.random() < AGENT_SHARE else "human")
        wish = {"game": name, "seed": seed, "second": second,
                "options": {key: str(value) for key, value in options.items()}}  # fmt: skip
        answer = await self.ask("begin", "/api/games", wish, 201)
        self.position = None
        if answer is not None:
            self.start = Position(name, seed=seed, **options)
            self.position, self.moves, self.view = self.start.copy(), [], answer.json()
            self.games.append(self.view["id"])
            self.compare("begin")

    # ---- own games ----

    async def move(self) -> None:
        """Make a move."""
        assert self.position is not None
        await self.change("move", {"move": self.rng.choice(self.position.legal_moves())})

    async def change(self, kind: str, body: dict[str, Any]) -> None:
        """Ask for a change of the game, and follow it."""
        answer = await self.ask(
            kind, f"/api/games/{self.view['id']}/{kind}", {"changes": self.view["changes"], **body}
        )
        if answer is None:
            await self.look(afresh=True)  # what was asked may have been done
            return
        self.view = answer.json()
        self.moves.append(body.get("move") or self.view["made"][-1])
        assert self.position is not None
        self.position.play(self.moves[-1])
        self.compare(kind)

    async def undo(self) -> None:
        """Go back to the last move of a person."""
        human = [player == "human" for player in self.view["players"]]
        persons = [ply for ply, mover in enumerate(self.view["movers"]) if human[mover]]
        if not persons:
            return
        path = f"/api/games/{self.view['id']}/undo"
        answer = await self.ask("undo", path, {"changes": self.view["changes"]})
        if answer is None:
            await self.look(afresh=True)
            return
        self.view = answer.json()
        self.replay(self.moves[: persons[-1]])
        self.compare("undo")

    async def look(self, afresh: bool = False) -> None:
        """See the game again; `afresh` takes the server's word for the moves."""
        answer = await self.ask("look", f"/api/games/{self.view['id']}")
        if answer is not None:
            self.view = answer.json()
            if afresh:
                self.replay(self.view["made"])
            self.compare("look", whole=True)

    def replay(self, moves: list[str]) -> None:
        """Play moves from the start."""
        self.position, self.moves = self.start.copy(), list(moves)
        for move in self.moves:
            self.position.play(move)

    def compare(self, kind: str, whole: bool = False) -> None:
        """Whether the server's game is what the visitor's own moves made it."""
        view, here = self.view, self.position
        assert here is not None
        same = view["id"] == self.games[-1] and view["made"] == self.moves
        same = same and (view["over"], view["toMove"]) == (here.is_over, here.to_move)
        if whole:
            same = same and view["text"] == str(here) and view["returns"] == list(here.returns())
        self.tally.check(same, f"{kind}: {view['id']} is not what its moves made it")

    # ---- other requests ----

    async def explain(self) -> None:
        """Ask why a click makes no move."""
        cell = self.rng.randrange(36)
        body = {"changes": self.view["changes"], "cells": [cell], "label": ""}
        await self.ask("explain", f"/api/games/{self.view['id']}/explain", body)

    async def listed(self) -> None:
        """The list has the visitor's own games, the latest first, and no others."""
        answer = await self.ask("listed", "/api/games")
        if answer is not None:
            listed = [game["id"] for game in answer.json()]
            latest = self.games[: -LISTED - 1 : -1]
            self.tally.check(listed == latest, f"listed: {listed} instead of {latest}")

    async def record(self) -> None:
        """The record has the moves made."""
        answer = await self.ask("record", f"/api/games/{self.view['id']}/record")
        if answer is not None:
            self.tally.check(answer.json()["moves"] == self.moves, "record: other moves")

    async def page(self) -> None:
        """Load the page with all it needs."""
        for path in PAGES:
            await self.ask("page", path)

    async def mistake(self) -> None:
        """What is wrong is refused, and changes nothing."""
        path, changes = f"/api/games/{self.view['id']}", self.view["changes"]
        for name, body, status in (
            ("move", {"changes": changes, "move": "nonsense"}, 400),
            ("move", {"changes": changes + 1, "move": self.view["moves"][0][0]}, 409),
            ("hint", {"changes": changes, "milliseconds": 1e9}, 400),
            ("answer", {}, 409),
        ):
            await self.ask("mistake", f"{path}/{name}", body, status)

    async def intrude(self) -> None:
        """The game of another visitor is neither shown nor changed."""
        other = self.rng.choice(self.others)
        if other is self or not other.view:
            return
        path, view = f"/api/games/{other.view['id']}", other.view
        move = view["moves"][0][0] if view["moves"] else "1a1"
        body = {"changes": view["changes"], "move": move, "cells": [0], "milliseconds": 1}
        name = self.rng.choice(("", "/record", "/move", "/undo", "/answer", "/explain", "/hint"))
        await self.ask("intrude", path + name, None if name in ("", "/record") else body, 404)
