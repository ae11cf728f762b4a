"""What games tell search and learners beyond their rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from azumaya.envs.game import Game, Rules
from azumaya.envs.registry import GAMES


@dataclass(frozen=True, eq=False)
class Hints:
    """Kernels that help search and learners. No rule depends on them, and a game may lack any.

    They take one state of a running position as a record.

    Attributes:
        bounds: kernel `bounds(state)` for search, which returns two whole numbers: what the player
            to move gains from here on at least and at most, if both play best.
        simplify: kernel `simplify(state)` for search: change the position into one with the same
            value that is easier to search. Moves legal afterwards were legal before, and one of the
            best of them was among the best before.
        outlook: kernel `outlook(state, row)` for search: write to `row`, `(outlook_words,)` uint64,
            all that the rest of the game depends on; positions of one game with equal rows have the
            same value. None stands for the whole state.
        outlook_words: the words of that row.
        rank: kernel `rank(state, player)` for search to the end of games: an integer, higher for
            positions that are more promising for the player. Search tries the moves to them first.
            None stands for the number of replies: few for the opponent come first.
        prospects: kernel `prospects(state)` for search, which only games can offer in which no
            position comes twice. It returns four whole numbers for a position of an episode that
            ends with a payoff of 1 or -1: the results of `bounds`, and estimates of the work that
            it takes to prove that the player to move wins, and that this player loses. The
            estimates are logarithms to base 2, times eight, from 0 on.
        narrow: kernel `narrow(state, packed)` for search: of the legal moves, a packed row, clear
            those that are never better than one that stays.
        reach: kernel `reach(state, player, board)` for learners: set in `board`, a plane of cells
            as zeroed uint64, the free cells to which the player's next stone could go if it were
            the player's turn.
        takes: kernel `takes(state, player, board)` for learners: the same for the opposing stones
            that the player's next move could take.
    """

    bounds: Callable[..., Any] | None = None
    simplify: Callable[..., Any] | None = None
    outlook: Callable[..., Any] | None = None
    outlook_words: int = 0
    rank: Callable[..., Any] | None = None
    prospects: Callable[..., Any] | None = None
    narrow: Callable[..., Any] | None = None
    reach: Callable[..., Any] | None = None
    takes: Callable[..., Any] | None = None


NONE = Hints()
BUILT_IN = frozenset(
    {
        "sudoku_moyo",
        "sudoku_horikomi",
        "halma_dominari",
        "vierer_dominari",
        "revers_dominari",
        "score_dominari",
        "abalone",
    }
)
"""The games whose hints are in a module of this package, by its name."""
_registered: WeakKeyDictionary[Rules, Hints] = WeakKeyDictionary()


def register_hints(game: Game, hints: Hints) -> None:
    """Let search and learners use the hints of a game of your own, in the module that has the game.

    They belong to the game's rules: a game made from it with other rules has none.
    """
    _registered[game.rules] = hints


def hints_of(game: Game) -> Hints:
    """The hints of a game."""
    if game.name in BUILT_IN and game.rules is GAMES[game.name].rules:
        hints: Hints = import_module(f"{__name__}.{game.name}").HINTS
        return hints
    return _registered.get(game.rules, NONE)
