"""Naive oracles: second implementations of the rules, written from `docs/games` alone.

The oracle for a game is the class `Oracle` in the module of the game's name in this folder. It
works with sets and coordinates and shares nothing with the kernels: no numpy, no bitboards, no
action numbers, no import from `azumaya`. Clarity comes before speed, but a ply should take well
below a millisecond, because `python -m tests.oracles.crosscheck` plays a million plies of each
game.

Modules not named after a game contain what several oracles share.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class BaseOracle(ABC):
    """One game in progress.

    Args:
        text: a position text (`docs/games/conventions.md`) in which the game is not over.
        options: the options as a user gives them; the others have their defaults.

    Attributes:
        to_move: 0 or 1; after an end by the rules, the player who made the last step.
        over: "" during the game, then "terminated" by the rules or "truncated" by a limit.
        returns: the sums of both players' rewards so far; zero-sum. If the start is in mid-game,
            rewards before it are included as far as the position text has them.
    """

    to_move: int
    over: str = ""
    returns: tuple[float, float] = (0, 0)

    happened: frozenset[str] | set[str] = frozenset()
    """Rare events that happened in this game. The cross-check counts them, which shows that it
    reaches them."""

    further: tuple[Mapping[str, Any], ...] = ()
    """Options that the cross-check plays besides the game's variants: starts close to rare
    events."""

    needs_text: bool = False
    """Whether `see` must be called after every step, because chance decides something."""

    @abstractmethod
    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    @abstractmethod
    def legal(self) -> set[str]:
        """The names of the legal moves; empty when the game is over."""

    @abstractmethod
    def play(self, name: str) -> None:
        """Make a legal move; `see` then tells what chance decided."""

    @abstractmethod
    def board(self) -> str:
        """The board as the first word of a position text."""

    def sought(self, rng: random.Random) -> set[str]:
        """Legal moves towards rare events, if any. A mode of the cross-check prefers them."""
        return set()

    def see(self, text: str) -> None:  # noqa: B027 - most games have no chance
        """Learn what chance decided (the tile drawn) from the library's position text.

        Called after `play`, before anything is compared. An oracle must read only what chance
        decided, and check as much of it as it can.
        """


def has_oracle(name: str) -> bool:
    """Whether a game has an oracle."""
    return importlib.util.find_spec(f"{__name__}.{name}") is not None


def oracle_of(name: str) -> type[BaseOracle]:
    """The oracle of a game.

    Raises:
        LookupError: there is none.
    """
    if not has_oracle(name):
        raise LookupError(f"{name}: no oracle; write tests/oracles/{name}.py")
    found: type[BaseOracle] = importlib.import_module(f"{__name__}.{name}").Oracle
    assert issubclass(found, BaseOracle)
    return found
