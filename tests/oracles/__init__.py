"""Naive oracles: the rules once more, from `docs/games` alone, with sets and coordinates.

An oracle for a game is the class `Oracle` in the module of the game's name in this folder, and
is found by that name. It shares nothing with the kernels: no numpy, no bitboards, no action
numbers, no import from `azumaya`. It is slow on purpose where that makes it plain, but a ply
should stay well below a millisecond: a million plies a game are played against it
(`python -m tests.oracles.crosscheck`).

Modules here that are no game's name hold what several oracles share.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class BaseOracle(ABC):
    """One game in progress, known by its rules alone.

    Args:
        text: a position text (`docs/games/conventions.md`) in which the game is not over.
        options: the options as a user gives them; those left out are at their default.

    Attributes:
        to_move: 0 or 1; after an end by the rules, who made the last step.
        over: "" while the game goes on, "terminated" by the rules, "truncated" by a limit.
        returns: what both players have gained in rewards so far; zero-sum. An oracle that starts
            in mid-game starts with what its text says was gained before.
    """

    to_move: int
    over: str = ""
    returns: tuple[float, float] = (0, 0)

    happened: frozenset[str] | set[str] = frozenset()
    """What has happened in this game of the things that random play rarely reaches; a cross-check
    counts them, so that it is seen that it meets them."""

    further: tuple[Mapping[str, Any], ...] = ()
    """Options that a cross-check plays with besides the game's variants: starts close to what
    random play rarely reaches."""

    needs_text: bool = False
    """Whether `see` must be called after every step: where chance decides something."""

    @abstractmethod
    def __init__(self, text: str, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    @abstractmethod
    def legal(self) -> set[str]:
        """The names of the legal moves; empty when the game is over."""

    @abstractmethod
    def play(self, name: str) -> None:
        """Make a legal move; chance that follows it is told by `see`."""

    @abstractmethod
    def board(self) -> str:
        """The board as the first word of a position text."""

    def sought(self, rng: random.Random) -> set[str]:
        """Legal moves towards what random play rarely reaches; none where there is no such thing.

        A mode of play in the cross-check goes for them.
        """
        return set()

    def see(self, text: str) -> None:  # noqa: B027 - most games have no chance
        """Learn what chance decided (the tile drawn) from the library's position text.

        Called after `play`, before anything is compared. An oracle must take from the text only
        what chance decided, and check what it can.
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
