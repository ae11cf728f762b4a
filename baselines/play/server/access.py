"""Who may do what in a game: its owner, a friend who plays by a link, and those who look on.

A game has three names. Its id belongs to the owner, and works only with the owner's cookie. The
other two are links, the id followed by a secret: whoever has one may play the friend's seat, or
look on.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from azumaya.baselines.arena.entrants import HUMAN
from azumaya.baselines.play.server.clock import Clock, running
from azumaya.baselines.play.server.limits import RefusalError
from azumaya.baselines.play.server.seats import FRIEND
from azumaya.baselines.play.server.store import Kept
from azumaya.baselines.play.table import Table
from azumaya.envs.scene import Stone

NOT_YOURS = "there is no such game, or it is not yours"
RESIGNED, OUT_OF_TIME = "resigned:", "time:"
AGREED = "agreed"
DRAW, TAKEBACK, REMATCH, SWAPPED = "draw", "takeback", "rematch", "swapped"
"""What a player can offer the other one; `SWAPPED` is a rematch with sides swapped."""


@dataclass(frozen=True)
class Offer:
    """What a player has offered the other one.

    Attributes:
        what: `DRAW`, `TAKEBACK`, `REMATCH` or `SWAPPED`.
        seat: the player.
    """

    what: str
    seat: int


@dataclass
class OpenGame:
    """A game in memory. Only the event loop reads and changes it, so it needs no lock.

    Attributes:
        kept: the game as it began.
        table: the game as it stands.
        changes: how often a move was made, or moves were taken back. What was meant for a game
            that has changed since is told apart by this: the number of moves may be the same again.
        ending: how the players have ended it: `RESIGNED` or `OUT_OF_TIME` and the player's number,
            or `AGREED` for a draw; empty if they have not.
        clock: its clock as of the last change, if it has one.
        offer: what is offered now. It ends with the next move, and is not kept.
        offers: how often an offer was made or declined.
        joined: whether the friend has opened the link since the game was opened.
        stones: by the number of moves made, what stands on the board then; of the last views.
        counted: its positions as of the last request, if it is kept ready, otherwise 0.
    """

    kept: Kept
    table: Table
    changes: int
    ending: str = ""
    clock: Clock | None = None
    offer: Offer | None = None
    offers: int = 0
    joined: bool = False
    stones: dict[int, tuple[Stone | None, ...]] = field(default_factory=dict)
    counted: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the game is over by its rules, or the players have ended it."""
        return bool(self.ending) or self.table.here.is_over

    @property
    def loser(self) -> int | None:
        """The player who has resigned or run out of time, if any."""
        return int(self.ending[-1]) if self.ending.startswith((RESIGNED, OUT_OF_TIME)) else None

    @property
    def running(self) -> int | None:
        """The player whose time runs, if any."""
        return None if self.clock is None or self.is_over else running(self.table)

    def clock_at(self, now: float) -> Clock | None:
        """The clock at a time, in seconds since 1970."""
        return None if self.clock is None else self.clock.counted(self.running, now)

    @property
    def returns(self) -> tuple[float, float]:
        """The returns of both players."""
        if self.loser is not None:
            return (1.0, -1.0) if self.loser else (-1.0, 1.0)
        first, second = self.table.here.returns()
        return (0.0, 0.0) if self.ending else (float(first), float(second))

    @property
    def news(self) -> str:
        """Changes with all that a page shows of the game."""
        has_rematch = bool(self.kept.rematch)  # offers are counted from 0 after a restart
        return f"{self.changes}-{self.offers}-{int(self.joined)}-{int(has_rematch)}"


@dataclass(frozen=True)
class Access:
    """A game as whoever asks for it may use it.

    Attributes:
        opened: the game.
        name: the name by which it was asked for.
        seats: the players whose moves the asker makes; none for those who look on.
        friend: the name for the friend, which only the owner sees; empty if no friend plays.
    """

    opened: OpenGame
    name: str
    seats: tuple[int, ...]
    friend: str = ""

    @property
    def kept(self) -> Kept:
        """The game as it began."""
        return self.opened.kept

    @property
    def table(self) -> Table:
        """The game as it stands."""
        return self.opened.table

    @property
    def changes(self) -> int:
        """Those of the game."""
        return self.opened.changes

    @property
    def rematch(self) -> str:
        """The name by which the asker finds the next game of the same two; empty if none."""
        game, _, _ = self.kept.rematch.partition(".")
        if not game or not self.seats:
            return self.kept.rematch
        return game + self.name.removeprefix(self.kept.id)

    @property
    def may_move(self) -> bool:
        """Whether it is the asker's turn."""
        return not self.opened.is_over and self.table.here.to_move in self.seats

    @property
    def is_shared(self) -> bool:
        """Whether someone else makes moves in the game, or can end it, so that a page must ask."""
        return not self.seats or FRIEND in self.kept.players

    def check_player(self) -> None:
        """Raises `RefusalError` if the asker only looks on."""
        if not self.seats:
            raise RefusalError(403, "only those who play this game can do that")


def id_of(name: str) -> str:
    """The id in a name of a game."""
    return name.partition(".")[0]


def access(opened: OpenGame, name: str, visitor: str) -> Access:
    """What may be done by whoever asks for a game.

    Args:
        opened: the game.
        name: one of its names.
        visitor: the visitor's token.

    Raises:
        RefusalError: there is no such game for them.
    """
    kept = opened.kept
    seats = seats_of(kept, name, visitor)
    if name != kept.id:
        opened.joined = opened.joined or bool(seats)
        return Access(opened, name, seats)
    link = f"{kept.id}.{friend_key(kept.series or kept.id, visitor)}" if kept.guest else ""
    return Access(opened, name, seats, link)


def seats_of(kept: Kept, name: str, visitor: str) -> tuple[int, ...]:
    """The players whose moves somebody makes who asks for a game by a name; raises as `access`."""
    _, _, key = name.partition(".")
    if key and secrets.compare_digest(kept.guest, digest(key)):
        return _seats(kept, FRIEND)
    if key and secrets.compare_digest(digest(kept.share), digest(key)):
        return ()
    if name != kept.id:
        raise RefusalError(404, NOT_YOURS)
    check_owner(kept, visitor)
    return owner_seats(kept)


def owner_seats(kept: Kept) -> tuple[int, ...]:
    """The players whose moves the owner of a game makes."""
    return _seats(kept, HUMAN)


def _seats(kept: Kept, name: str) -> tuple[int, ...]:
    return tuple(n for n, player in enumerate(kept.players) if player == name)


def check_owner(kept: Kept, visitor: str) -> None:
    """Raises `RefusalError` if a game is another visitor's."""
    if not secrets.compare_digest(kept.visitor, digest(visitor)):
        raise RefusalError(404, NOT_YOURS)


def friend_key(game: str, visitor: str) -> str:
    """The secret in the friend's link to a game, and to those that follow it as rematches.

    It follows from the owner's, so that no file holds it.
    """
    return hmac.new(_bytes(visitor), game.encode(), "sha256").hexdigest()[:32]


def digest(token: str) -> str:
    """What is kept of a visitor's token, so that the file alone opens no game."""
    return hashlib.sha256(_bytes(token)).hexdigest()


def _bytes(token: str) -> bytes:
    return token.encode(errors="surrogatepass")
