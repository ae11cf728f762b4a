"""The games on a server: begun, opened, moved in, ended, kept."""

from __future__ import annotations

import datetime
import itertools
import secrets
import time
from dataclasses import replace
from typing import Any

from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.play.server.access import (
    NOT_YOURS,
    Access,
    OpenGame,
    access,
    check_owner,
    digest,
    id_of,
    seats_of,
)
from azumaya.baselines.play.server.agreements import Agreements
from azumaya.baselines.play.server.changes import Changes, check_changes
from azumaya.baselines.play.server.choices import (
    Choices,
    check_game,
    checked_texts,
    option_values,
    read_wish,
)
from azumaya.baselines.play.server.limits import Limits, RefusalError, is_number
from azumaya.baselines.play.server.memory import Memory
from azumaya.baselines.play.server.seats import FRIEND, seated
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.baselines.play.server.views import explained, may_undo, view
from azumaya.baselines.play.table import Table
from azumaya.baselines.play.words import sides
from azumaya.envs.notation import GameRecord
from azumaya.envs.position import Position
from azumaya.envs.render.board import view_of

LISTED = 500
"""Games that the list of a visitor shows, the latest: with 2,000 it took 0.1 s."""


class Games:
    """All games of a server.

    Args:
        store: where they are kept.
        choices: what may be chosen.
        limits: the server's limits.

    Attributes:
        agreements: what players end or agree on.
    """

    def __init__(self, store: Store, choices: Choices, limits: Limits) -> None:
        self._store, self._choices, self._limits = store, choices, limits
        self._memory, self._started = Memory(), time.time()
        self._changes = Changes(store, self._memory, choices, limits)
        self.agreements = Agreements(store, self._changes)

    def visitor(self, token: str) -> str:
        """The token if it has a game here, otherwise a new one: nobody may choose theirs."""
        return token if token and self._store.count(digest(token)) else secrets.token_urlsafe(32)

    # ---- begin and open ----

    def begin(self, visitor: str, wish: Any) -> Access:
        """Begin a game; returns it as its owner may use it.

        Args:
            visitor: the visitor's token.
            wish: `game`, and optionally `options`, `first`, `second`, `seed` and `clock`.

        Raises:
            ValueError: the wish cannot be met.
        """
        kept, players = read_wish(self._choices, visitor, wish)
        self._changes.make_room(kept.visitor)
        opened = self._prepared(kept)
        for player in players:
            if player.agent is not None:
                check_agent(player.agent, opened.table.here, player.name)
        self._store.add(kept)
        return access(self._memory.put(opened), kept.id, visitor)

    def _table(self, kept: Kept) -> Table:
        """A game from its start, with the moves made so far. It needs no agent to be looked at."""
        game = self._choices.game(kept.game)
        typed = option_values(game, checked_texts(game, kept.options))
        given = {**kept.trained, **typed}
        options = {name: value for name, value in given.items() if value is not None}
        first, second = map(seated, kept.players)
        table = Table((first, second), kept.seed, [Position(game, seed=kept.seed, **options)])
        for move in kept.moves:
            table.play(move)
        return table

    def open(self, name: str, visitor: str) -> Access:
        """A game by one of its names; that of another visitor is refused as if there were none.

        Raises:
            RefusalError: there is no such game.
        """
        kept = self._store.find(id_of(name))
        if kept is None:
            raise RefusalError(404, NOT_YOURS)
        seats_of(kept, name, visitor)
        return access(self._memory.put(self._prepared(kept)), name, visitor)

    def _prepared(self, kept: Kept) -> OpenGame:
        """A game for which all that moves, views and explanations need is compiled or loaded."""
        clock = kept.clock
        if clock is not None and clock.since < self._started:  # what a restart took is nobody's
            clock = replace(clock, since=self._started)
        opened = OpenGame(kept, self._table(kept), kept.changes, kept.ending, clock)
        here = opened.table.here
        view_of(here)
        if not here.is_over:
            legal = here.legal_actions()
            others = (action for action in range(here.num_actions) if action not in legal)
            here.copy().play(legal[0])
            for action in (legal[0], *itertools.islice(others, 1)):
                here.explain(action)
        return opened

    def at_hand(self, name: str, visitor: str) -> Access | None:
        """As `open`, but only if the game is in memory, otherwise None.

        This reads no file, and its cost does not grow with the number of games, so that the event
        loop can call it, which alone ends games in which a time has run out.
        """
        opened = self._memory.find(id_of(name))
        if opened is None:
            return None
        found = access(opened, name, visitor)
        self._changes.end_in_time(opened)
        return found

    def shared(self, share: str) -> Kept:
        """The game that those may watch who were given its link; raises `RefusalError`."""
        kept = self._store.shared(share)
        if kept is None:
            raise RefusalError(404, "there is no such game")
        return kept

    def watched(self, kept: Kept) -> GameRecord:
        """The record of a game that may be watched; raises `RefusalError`."""
        return _record(self._table(kept), kept)

    def record(self, game: Access) -> GameRecord:
        """The record of a game as far as it was played; raises `RefusalError`."""
        kept = self._store.find(game.kept.id)
        if kept is None:
            raise RefusalError(404, NOT_YOURS)
        return _record(game.table, kept)

    def finished(self, game: Access) -> GameRecord:
        """The record of a game to be reviewed; raises `RefusalError`."""
        if not game.opened.is_over:
            raise RefusalError(409, "a game can be analysed when it is over")
        return self.record(game)

    def called(self, game: Access) -> list[str]:
        """What the asker calls both players, with the side where they are called nothing."""
        side = sides(game.table.here)
        return [name or side[n] for n, name in enumerate(self._names(game))]

    def listed(self, visitor: str) -> list[dict[str, Any]]:
        """The games of a visitor, the last touched first."""
        return [
            {
                "id": kept.id, "game": self._choices.title(kept.game),
                "players": kept.players, "moves": len(kept.moves), "result": kept.result,
                "names": self._changes.owners_names(kept),
                "touched": kept.touched,
            }
            for kept in self._store.of_visitor(digest(visitor), LISTED)
        ]  # fmt: skip

    def delete(self, name: str, visitor: str) -> None:
        """Delete a game of a visitor; that of another one is refused as if there were none.

        Raises:
            RefusalError: there is no such game.
        """
        kept = self._store.find(name)
        if kept is None:
            raise RefusalError(404, NOT_YOURS)
        check_owner(kept, visitor)
        self._store.remove(name)
        self._memory.forget([name])

    # ---- moves ----

    def move(self, game: Access, changes: Any, move: Any) -> dict[str, Any]:
        """Make a move of a person; returns the new view.

        Raises:
            ValueError: the move cannot be made.
            sqlite3.Error: it cannot be kept; nothing was changed.
        """
        if not isinstance(move, str):
            raise RefusalError(400, "move: the name of a move is needed")
        game.check_player()
        check_changes(game, changes)
        if not game.may_move:
            raise RefusalError(409, "it is not your turn")
        self._changes.play(game.opened, move)
        return self.view(game)

    def answer(self, game: Access, changes: int, move: str) -> dict[str, Any]:
        """Make an agent's move, unless the game has gone on or back since; returns the view.

        Args:
            game: the game.
            changes: its changes when the agent was asked.
            move: the agent's move.

        Raises:
            ValueError: the move cannot be made.
            sqlite3.Error: it cannot be kept; nothing was changed.
        """
        if game.changes == changes and game.table.agent is not None:
            self._changes.play(game.opened, move)
        return self.view(game)

    def undo(self, game: Access, changes: Any) -> dict[str, Any]:
        """Take moves back to the last one of a person; returns the view.

        Raises:
            RefusalError: there is none, or another player has to agree.
            sqlite3.Error: this cannot be kept; nothing was changed.
        """
        game.check_player()
        check_changes(game, changes)
        if not may_undo(game):
            raise RefusalError(409, "a move can be taken back only if both players agree")
        if game.table.undone is None:
            raise RefusalError(409, "there is nothing to undo")
        self._changes.go_back(game.opened, game.table.undone)
        return self.view(game)

    # ---- what is shown ----

    def _names(self, game: Access) -> list[str]:
        return self._choices.names(game.kept.game, game.kept.players, game.seats)

    def view(self, game: Access) -> dict[str, Any]:
        """What the page shows of a game."""
        return view(game, self._names(game))

    def explain(self, game: Access, changes: Any, cells: Any, label: Any) -> list[str]:
        """Why pointing at some cells makes no move; raises `RefusalError`."""
        check_changes(game, changes)
        return explained(game.table.here, cells, label)

    def thinking(self, game: Access) -> tuple[str, Position, int]:
        """The agent to move, the position, and the key of its draws.

        Raises:
            RefusalError: it is no agent's turn, the asker does not play, or the server no longer
                offers this agent.
        """
        table = game.table
        if game.opened.is_over or table.agent is None:
            raise RefusalError(409, "no agent is to move")
        game.check_player()
        name = table.players[table.here.to_move].name
        try:
            player = self._choices.player(name)
            check_game(player, table.here.game)
        except RefusalError as error:
            raise RefusalError(410, f"this game cannot go on here: {error}") from error
        return name, table.here, table.key

    def hinted(self, game: Access, changes: Any, milliseconds: Any) -> tuple[Position, float, int]:
        """What is needed to search for a hint.

        Raises:
            RefusalError: the game is over or at another move, the time is too long, or the hint
                would be unfair.
        """
        game.check_player()
        check_changes(game, changes)
        if not is_number(milliseconds) or not 0 < milliseconds <= self._limits.search:
            raise RefusalError(400, f"milliseconds: above 0 and at most {self._limits.search:g}")
        if game.opened.is_over:
            raise RefusalError(409, "the game is over")
        if FRIEND in game.kept.players:
            raise RefusalError(409, "against a friend there are no hints")
        return game.table.here, float(milliseconds), game.table.key


def _record(table: Table, kept: Kept) -> GameRecord:
    """The record of a game, of the day when it last changed."""
    day = datetime.datetime.fromtimestamp(kept.touched, datetime.UTC).date()
    return replace(table.record(), date=day.isoformat())
