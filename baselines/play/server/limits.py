"""What the server allows, and how it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard


@dataclass(frozen=True)
class Limits:
    """Limits of the server.

    Attributes:
        body: bytes of a request.
        games: games that are kept. For more, old ones that nobody plays are dropped; where there
            are none, new ones are refused.
        games_of_one: games of one visitor.
        plies: moves of a game.
        search: milliseconds of a search, for an agent's move or a hint.
        move_seconds: an agent that has not moved by then is given up.
        waiting: short searches that are under way or wait; the same limit holds for long ones.
        waiting_of_one: searches of one visitor that are under way or wait, short and long together.
    """

    body: int = 16_384
    games: int = 20_000
    games_of_one: int = 2_000
    plies: int = 2_000
    search: float = 2_000
    move_seconds: float = 120.0
    waiting: int = 256
    waiting_of_one: int = 8


class RefusalError(ValueError):
    """A request that is refused, with the HTTP status that says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a JSON value is a number; `true` is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
