"""The clock of a game: how much time each side has left. The server counts, not the page."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from azumaya.baselines.play.server.limits import RefusalError, is_number
from azumaya.baselines.play.server.seats import PEOPLE
from azumaya.baselines.play.table import Table

MOST_MINUTES, MOST_INCREMENT = 180, 180


@dataclass(frozen=True)
class Clock:
    """The time of both players, in seconds.

    Attributes:
        total: what each has at the beginning.
        increment: what each gets for a turn.
        left: what each had left when it was last counted.
        since: when that was, since 1970.
    """

    total: float
    increment: float
    left: tuple[float, float]
    since: float = 0.0

    def counted(self, player: int | None, now: float) -> Clock:
        """The clock now, where the time of a player has run since, or nobody's."""
        spent = now - self.since
        first, second = (
            max(0.0, left - spent) if n == player else left for n, left in enumerate(self.left)
        )
        return replace(self, left=(first, second), since=now)

    def gained(self, player: int) -> Clock:
        """The clock after a turn of a player."""
        first, second = (left + self.increment * (n == player) for n, left in enumerate(self.left))
        return replace(self, left=(first, second))

    def without(self, turns: Sequence[int]) -> Clock:
        """The clock without what both players have gained for some turns.

        It keeps what one turn gains, so that nobody loses on time by taking moves back.
        """
        first, second = (
            max(min(left, self.increment), left - self.increment * turns)
            for left, turns in zip(self.left, turns, strict=True)
        )
        return replace(self, left=(first, second))

    def anew(self) -> Clock:
        """The same for another game."""
        return Clock(self.total, self.increment, (self.total, self.total))


def read_clock(wish: Any) -> Clock | None:
    """The clock that a visitor wishes; None for none.

    Args:
        wish: None, or `minutes` for each side, and `increment`, the seconds for a turn.

    Raises:
        RefusalError: there is no such clock.
    """
    if wish is None:
        return None
    if not isinstance(wish, Mapping):
        raise RefusalError(400, "clock: minutes and an increment in seconds are needed")
    minutes, increment = wish.get("minutes"), wish.get("increment", 0)
    if not is_number(minutes) or not 0 < minutes <= MOST_MINUTES:
        raise RefusalError(400, f"clock: minutes: above 0 and at most {MOST_MINUTES}")
    if not is_number(increment) or not 0 <= increment <= MOST_INCREMENT:
        raise RefusalError(400, f"clock: increment: from 0 to {MOST_INCREMENT} seconds")
    total = 60.0 * minutes
    return Clock(total, float(increment), (total, total))


def running(table: Table) -> int | None:
    """The player whose time runs in a game that goes on.

    The first turn of each is free: the opponent may not be there yet, and rules are compiled. The
    time of an agent is not counted, since its name says how long it searches.
    """
    mover = table.here.to_move
    if table.here.is_over or table.players[mover].name not in PEOPLE:
        return None
    moves = itertools.pairwise(table.history)
    return mover if any(now.to_move == mover != then.to_move for now, then in moves) else None
