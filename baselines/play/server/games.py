"""The games on a server: begun, opened by their owners alone, moved in, kept."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from azumaya.baselines.agents.asking import check_agent
from azumaya.baselines.arena.entrants import HUMAN, Entrant, trained_options
from azumaya.baselines.play.server import people
from azumaya.baselines.play.server.choices import Choices, checked_texts, option_values
from azumaya.baselines.play.server.limits import Limits, RefusalError
from azumaya.baselines.play.server.seats import seated
from azumaya.baselines.play.server.store import Kept, Store
from azumaya.baselines.play.table import Table
from azumaya.baselines.play.words import in_words, notes, sides
from azumaya.baselines.system.files import is_count, shown
from azumaya.envs.game import Game
from azumaya.envs.notation import GameRecord
from azumaya.envs.position import MAX_SEED, Position
from azumaya.envs.render.board import view_of
from azumaya.envs.render.layout import layout_of
from azumaya.envs.render.pointing import why_not

IN_MEMORY = 1_500
"""Games that are kept ready; others are played again from the start when they are opened."""
POSITIONS_IN_MEMORY = 100_000
"""Positions of all games that are kept ready. A position takes up to 1.5 kB."""
LISTED = 50
"""Games that the list of a visitor shows."""
NOT_YOURS = "there is no such game, or it is not yours"
MOST_CELLS = 8
"""Cells that a question may name."""
AN_HOUR, A_MONTH = 3600, 30 * 24 * 3600
"""Where there are too many games, those without a move are dropped after an hour, others after a
month without one."""
DROPPED = 0.01
"""The share of the games that is dropped at once, since looking for them takes a while."""


@dataclass
class OpenGame:
    """A game in memory. Only the event loop reads and changes it, so it needs no lock.

    Attributes:
        kept: the game as it began.
        table: the game as it stands.
        changes: how often a move was made, or moves were taken back. What was meant for a game
            that has changed since is told apart by this: the number of moves may be the same again.
        counted: its positions as of the last request, if it is kept ready, otherwise 0.
    """

    kept: Kept
    table: Table
    changes: int
    counted: int = 0


class Games:
    """All games of a server.

    Args:
        store: where they are kept.
        choices: what may be chosen.
        limits: the server's limits.
    """

    def __init__(self, store: Store, choices: Choices, limits: Limits) -> None:
        self._store, self._choices, self._limits = store, choices, limits
        self._ready: OrderedDict[str, OpenGame] = OrderedDict()
        self._positions = 0
        # A game in use is the same object for all requests, even once it is no longer kept ready.
        self._in_use: WeakValueDictionary[str, OpenGame] = WeakValueDictionary()
        self._lock = threading.Lock()

    def visitor(self, token: str) -> str:
        """The token if it has a game here, otherwise a new one: nobody may choose theirs."""
        return token if token and self._store.count(digest(token)) else secrets.token_urlsafe(32)

    # ---- begin and open ----

    def begin(self, visitor: str, wish: Any) -> OpenGame:
        """Begin a game.

        Args:
            visitor: the visitor's token.
            wish: `game`, and optionally `options`, `first`, `second` and `seed`.

        Raises:
            ValueError: the wish cannot be met.
        """
        if not isinstance(wish, Mapping):
            raise RefusalError(400, "a JSON object is needed")
        game, owner = self._choices.game(wish.get("game")), digest(visitor)
        self._check_room(owner)
        players = (self._choices.player(wish.get("first", HUMAN)),
                   self._choices.player(wish.get("second", HUMAN)))  # fmt: skip
        for player in players:
            _check_game(player, game)
        names = (players[0].name, players[1].name)
        seed = wish.get("seed")
        if seed is None:
            seed = secrets.randbits(31)
        if not is_count(seed) or seed > MAX_SEED >> 1:
            raise RefusalError(400, f"seed={shown(seed)}: a whole number from 0 is needed")
        texts = checked_texts(game, wish.get("options", {}))
        kept = Kept(
            secrets.token_urlsafe(16), secrets.token_urlsafe(16), owner, game.name, texts, names,
            seed, trained=_trained(game, players, texts),
        )  # fmt: skip
        opened = self._prepared(kept)
        for player in players:
            if player.agent is not None:
                check_agent(player.agent, opened.table.here, player.name)
        self._store.add(kept)
        self._put(opened)
        return opened

    def _check_room(self, owner: str) -> None:
        most = self._limits.games
        if self._store.count() >= most and not self._drop(max(1, round(DROPPED * most))):
            raise RefusalError(503, f"the server keeps no more than {most:,} games")
        if self._store.count(owner) >= self._limits.games_of_one:
            most = self._limits.games_of_one
            raise RefusalError(429, f"you have {most:,} games already; delete one first")

    def _drop(self, count: int) -> bool:
        """Delete games that nobody plays; returns whether there was one."""
        now = time.time()
        dropped = self._store.remove_oldest(count, now - AN_HOUR, now - A_MONTH)
        for name in dropped:
            self._forget(name)
        return bool(dropped)

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

    def open(self, name: str, visitor: str) -> OpenGame:
        """A game of a visitor; that of another one is refused as if there were none.

        Raises:
            RefusalError: there is no such game.
        """
        opened = self.at_hand(name, visitor)
        if opened is not None:
            return opened
        return self._put(self._prepared(self._kept(name, visitor)))

    def _kept(self, name: str, visitor: str) -> Kept:
        kept = self._store.find(name)
        if kept is None:
            raise RefusalError(404, NOT_YOURS)
        _check_owner(kept, visitor)
        return kept

    def _prepared(self, kept: Kept) -> OpenGame:
        """A game for which all that moves, views and explanations need is compiled or loaded."""
        opened = OpenGame(kept, self._table(kept), kept.changes)
        here = opened.table.here
        view_of(here)
        if not here.is_over:
            legal = here.legal_actions()
            others = (action for action in range(here.num_actions) if action not in legal)
            here.copy().play(legal[0])
            for action in (legal[0], *itertools.islice(others, 1)):
                here.explain(action)
        return opened

    def at_hand(self, name: str, visitor: str) -> OpenGame | None:
        """A game of a visitor if it is in memory.

        This reads no file, and its cost does not grow with the number of games, so that the event
        loop can call it.

        Raises:
            RefusalError: it is another visitor's.
        """
        with self._lock:  # also while it is put first: it may just be deleted
            opened = self._in_use.get(name)
            if opened is None:
                return None
            _check_owner(opened.kept, visitor)
            return self._put_first(opened)

    def _put(self, opened: OpenGame) -> OpenGame:
        with self._lock:
            return self._put_first(self._in_use.setdefault(opened.kept.id, opened))

    def _put_first(self, opened: OpenGame) -> OpenGame:
        """Keep a game ready, and those used longest ago no longer; under the lock."""
        self._ready[opened.kept.id] = opened
        self._ready.move_to_end(opened.kept.id)
        self._count(opened, len(opened.table.history))
        while len(self._ready) > 1 and self._is_full():
            self._count(self._ready.popitem(last=False)[1], 0)
        return opened

    def _forget(self, name: str) -> None:
        """Keep a deleted game no longer."""
        with self._lock:
            self._in_use.pop(name, None)
            ready = self._ready.pop(name, None)
            if ready is not None:
                self._count(ready, 0)

    def _is_full(self) -> bool:
        """Whether more is kept ready than there is room for."""
        return len(self._ready) > IN_MEMORY or self._positions > POSITIONS_IN_MEMORY

    def _count(self, opened: OpenGame, positions: int) -> None:
        """Update the running total with the positions that a game now adds to it."""
        self._positions += positions - opened.counted
        opened.counted = positions

    def shared(self, share: str) -> Kept:
        """The game that those may watch who were given its link; raises `RefusalError`."""
        kept = self._store.shared(share)
        if kept is None:
            raise RefusalError(404, "there is no such game")
        return kept

    def watched(self, kept: Kept) -> GameRecord:
        """The record of a game that may be watched; raises `RefusalError`."""
        return _record(self._table(kept), kept)

    def record(self, opened: OpenGame) -> GameRecord:
        """The record of a game as far as it was played; raises `RefusalError`."""
        kept = self._store.find(opened.kept.id)
        if kept is None:
            raise RefusalError(404, NOT_YOURS)
        return _record(opened.table, kept)

    def finished(self, opened: OpenGame) -> GameRecord:
        """The record of a game to be reviewed; raises `RefusalError`."""
        if not opened.table.here.is_over:
            raise RefusalError(409, "a game can be analysed when it is over")
        return opened.table.record()

    def called(self, opened: OpenGame) -> list[str]:
        """What people call both players, with the side where they are called `You`."""
        side = sides(opened.table.history[0])
        return [name or side[n] for n, name in enumerate(self._names(opened))]

    def listed(self, visitor: str) -> list[dict[str, Any]]:
        """The games of a visitor, the last touched first."""
        return [
            {
                "id": kept.id, "game": self._choices.title(kept.game),
                "players": kept.players, "moves": len(kept.moves), "result": kept.result,
                "names": self._choices.names(kept.game, kept.players), "touched": kept.touched,
            }
            for kept in self._store.of_visitor(digest(visitor), LISTED)
        ]  # fmt: skip

    def delete(self, name: str, visitor: str) -> None:
        """Delete a game of a visitor; that of another one is refused as if there were none.

        Raises:
            RefusalError: there is no such game.
        """
        self._kept(name, visitor)
        self._store.remove(name)
        self._forget(name)

    # ---- moves ----

    def move(self, opened: OpenGame, changes: Any, move: Any) -> dict[str, Any]:
        """Make a move of a person; returns the new view.

        Raises:
            ValueError: the move cannot be made.
            sqlite3.Error: it cannot be kept; nothing was changed.
        """
        if not isinstance(move, str):
            raise RefusalError(400, "move: the name of a move is needed")
        table = opened.table
        self._check_changes(opened, changes)
        if table.here.is_over or table.agent is not None:
            raise RefusalError(409, "it is not your turn")
        self._play(opened, move)
        return self.view(opened)

    def answer(self, opened: OpenGame, changes: int, move: str) -> dict[str, Any]:
        """Make an agent's move, unless the game has gone on or back since; returns the view.

        Args:
            opened: the game.
            changes: its changes when the agent was asked.
            move: the agent's move.

        Raises:
            ValueError: the move cannot be made.
            sqlite3.Error: it cannot be kept; nothing was changed.
        """
        if opened.changes == changes and opened.table.agent is not None:
            self._play(opened, move)
        return self.view(opened)

    def _play(self, opened: OpenGame, move: str) -> None:
        table = opened.table
        if len(table.moves) >= self._limits.plies:
            raise RefusalError(409, f"a game here has at most {self._limits.plies:,} moves")
        after = table.here.copy().play(move)  # only a legal move is kept
        result = people.outcome(after, self._names(opened)) if after.is_over else ""
        # What cannot be kept is not made either, otherwise it would be lost with the process.
        self._keep(opened, [*table.moves, move], result)
        table.play(move)

    def _keep(self, opened: OpenGame, moves: Sequence[str], result: str = "") -> None:
        changes = self._store.keep_moves(opened.kept.id, moves, result)
        if changes is None:  # it was deleted meanwhile
            self._forget(opened.kept.id)
            raise RefusalError(404, NOT_YOURS)
        opened.changes = changes

    def undo(self, opened: OpenGame, changes: Any) -> dict[str, Any]:
        """Take moves back to the last one of a person; returns the view.

        Raises:
            RefusalError: there is none.
            sqlite3.Error: this cannot be kept; nothing was changed.
        """
        table = opened.table
        self._check_changes(opened, changes)
        if table.undone is None:
            raise RefusalError(409, "there is nothing to undo")
        self._keep(opened, table.moves[: table.undone])
        table.undo()
        return self.view(opened)

    @staticmethod
    def _check_changes(opened: OpenGame, changes: Any) -> None:
        if not is_count(changes):
            raise RefusalError(400, "changes: the number in the view of the game is needed")
        if changes != opened.changes:
            raise RefusalError(409, f"the game is at move {len(opened.table.moves)} by now")

    # ---- what is shown ----

    def _names(self, opened: OpenGame) -> list[str]:
        return self._choices.names(opened.kept.game, opened.kept.players)

    def view(self, opened: OpenGame) -> dict[str, Any]:
        """What the page shows of a game."""
        table, kept = opened.table, opened.kept
        here, agent = table.here, table.agent
        yours = not here.is_over and agent is None
        shown = view_of(here, table.last_action, movable=yours)
        return {
            **shown,
            **notes(shown, sides(here)),
            **people.turn(table, self._names(opened)),
            "id": kept.id,
            "share": kept.share,
            "game": here.game.name,
            "title": here.game.title,
            "idea": here.game.words.idea,
            "players": kept.players,
            "options": kept.options,
            "seed": kept.seed,
            "ply": len(table.moves),
            "changes": opened.changes,
            "made": list(table.moves),
            "movers": [position.to_move for position in table.history[:-1]],
            "yours": yours,
            "toMove": here.to_move,
            "thinking": agent is not None,
            "over": here.is_over,
            "returns": here.returns(),
            "canUndo": table.undone is not None,
            "text": str(here),
        }

    def explain(self, opened: OpenGame, changes: Any, cells: Any, label: Any) -> list[str]:
        """Why pointing at some cells makes no move; raises `RefusalError`."""
        self._check_changes(opened, changes)
        return explained(opened.table.here, cells, label)

    def thinking(self, opened: OpenGame) -> tuple[str, Position, int]:
        """The agent to move, the position, and the key of its draws.

        Raises:
            RefusalError: it is no agent's turn, or the server no longer offers this agent.
        """
        table = opened.table
        if table.agent is None:
            raise RefusalError(409, "no agent is to move")
        name = table.players[table.here.to_move].name
        try:
            player = self._choices.player(name)
            _check_game(player, table.here.game)
        except RefusalError as error:
            raise RefusalError(410, f"this game cannot go on here: {error}") from error
        return name, table.here, table.key

    def hinted(
        self, opened: OpenGame, changes: Any, milliseconds: Any
    ) -> tuple[Position, float, int]:
        """What is needed to search for a hint.

        Raises:
            RefusalError: the game is over or at another move, or the time is too long.
        """
        self._check_changes(opened, changes)
        numeric = isinstance(milliseconds, int | float) and not isinstance(milliseconds, bool)
        if not numeric or not 0 < milliseconds <= self._limits.search:
            raise RefusalError(400, f"milliseconds: above 0 and at most {self._limits.search:g}")
        if opened.table.here.is_over:
            raise RefusalError(409, "the game is over")
        return opened.table.here, float(milliseconds), opened.table.key


def explained(position: Position, cells: Any, label: Any) -> list[str]:
    """Why pointing at some cells makes no move; raises `RefusalError`."""
    known = len(layout_of(position.scene().board).centres)
    if not isinstance(label, str) or not isinstance(cells, list) or len(cells) > MOST_CELLS:
        raise RefusalError(400, f"cells: up to {MOST_CELLS} cells and a label are needed")
    if not all(is_count(cell) and cell < known for cell in cells):
        raise RefusalError(400, f"cells: whole numbers from 0 to {known - 1} are needed")
    both = sides(position)
    return [in_words(sentence, both) for sentence in why_not(position, cells, label)]


def _check_game(player: Entrant, game: Game) -> None:
    if player.game is not None and player.game is not game:
        raise RefusalError(400, f"player {player.name}: plays {player.game.name} only")


def _trained(game: Game, players: Sequence[Entrant], texts: Mapping[str, str]) -> dict[str, Any]:
    """The options of the checkpoints among the players that no text replaces."""
    trained = trained_options(game, players, option_values(game, texts))
    return {name: value for name, value in trained.items() if name not in texts}


def _record(table: Table, kept: Kept) -> GameRecord:
    """The record of a game, of the day when it last changed."""
    day = datetime.datetime.fromtimestamp(kept.touched, datetime.UTC).date()
    return replace(table.record(), date=day.isoformat())


def _check_owner(kept: Kept, visitor: str) -> None:
    if not secrets.compare_digest(kept.visitor, digest(visitor)):
        raise RefusalError(404, NOT_YOURS)


def digest(token: str) -> str:
    """What is kept of a visitor's token, so that the file alone opens no game."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
