"""The board that Vierer-, Revers- and Score-Dominari share: actions, states, planes, symmetries.

    a6 .. f6     cell 0 .. 5      White is player_0 and moves first; black is player_1.
     :    :        :    :         The houses are the rows, the columns and the nine 2x2 blocks.
    a1 .. f1     cell 30 .. 35

Actions: number n (from 1) on cell c is `(n - 1) * 36 + c`. After these come the blanks, by cell
(in Revers-Dominari by colour, then cell), then `end`, and without a referee `claim`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from azumaya.envs.game import Plane, number_bytes, numbered_planes
from azumaya.envs.geometry.dominari36 import CELLS, SIZE
from azumaya.envs.geometry.symmetry import square
from azumaya.envs.kernels.bits import U64
from azumaya.envs.symmetries import Axis, Content, Moved, Settings

WHITE, BLACK = 0, 1
"""Players, and indices of `state.colours`."""

NUMBER, BLANKS = 0, 1
"""Phases of a turn: a number is to be placed, or blanks may be placed."""

BLANK_STONES = 12
"""Blanks in the stock from which both players draw."""

TURN_LIMIT = 200
"""Turns after which a game without a referee is cut off."""
TURN_STEPS = 1 + 1 + BLANK_STONES
"""The most steps of one turn: a claim, a number, and blanks, the last of which may be `end`."""


@dataclass(frozen=True, eq=False)
class Board:
    """What one of the three games has on the shared board.

    Attributes:
        numbers: how many numbers there are.
        blank_colours: 1 where blanks have the mover's colour, 2 where the mover chooses.
        more_fields: fields of the state that only this game has, as `np.dtype` takes them.
        more_planes: number planes that only this game has.
    """

    numbers: int
    blank_colours: int
    more_fields: tuple[tuple[Any, ...], ...] = ()
    more_planes: tuple[Plane, ...] = ()

    @property
    def blank(self) -> int:
        """The first action that places a blank."""
        return self.numbers * CELLS

    @property
    def end(self) -> int:
        """The action that ends a turn."""
        return self.blank + self.blank_colours * CELLS

    @property
    def claim(self) -> int:
        """The action that claims that the opponent's turn was wrong."""
        return self.end + 1

    def num_actions(self, settings: Settings) -> int:
        """How many actions there are."""
        return self.end + (1 if settings["referee"] else 2)

    @cached_property
    def state(self) -> np.dtype[Any]:
        """The layout of a state."""
        common = [
            ("candidates", U64, (self.numbers,)),  # by number: empty cells where it may be placed
            ("stones", U64, (self.numbers,)),  # by number: the cells where it lies
            ("colours", U64, (2,)),  # by player: the cells of their numbers and blanks
            ("blanks", U64),  # the cells of the blanks
            ("targets", U64),  # where this turn's number may go, the Sudoku rule aside
            ("prior", U64, (2,)),  # `colours` before the turn, if that turn was wrong
            ("to_move", np.int64),
            ("over", np.int64),
            ("payoff", np.int64),
            ("phase", np.int64),
            ("claim", np.int64),  # may the player to move claim?
            ("wrong", np.int64),  # was this turn's number, or the one to claim, placed wrongly?
            ("turns", np.int64),  # turns played; counted only without a referee
            ("no_referee", np.int64),  # option
        ]
        return np.dtype([*common, *self.more_fields])

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """The planes of an observation."""
        half, numbers = TURN_LIMIT // 2, self.numbers
        return (
            *numbered_planes("candidate", "the Sudoku rule still allows a {n} here", numbers),
            *numbered_planes("stone", "a {n} lies here", numbers),
            Plane("own", "stones of the observer, blanks included"),
            Plane("opposing", "stones of the opponent, blanks included"),
            Plane("prior own", "without a referee: the observer's stones before the wrong turn"),
            Plane("prior opposing", "the same for the opponent; both empty if the turn was right"),
            Plane("to move", "1 if the observer is to move, 2 if the game is over", "number", 2),
            Plane("phase", "0 if a number is to be placed, 1 if blanks may be", "number"),
            Plane("blanks", "blanks left", "number", BLANK_STONES),
            Plane("claim", "1 if the player to move may claim", "number"),
            Plane("turns", "without a referee: turns played, up to 100", "number", half),
            Plane("late turns", "turns played after the 100th", "number", half),
            *self.more_planes,
        )

    @cached_property
    def at(self) -> Any:
        """The bytes of the `number` planes in a packed observation, by the planes' names."""
        return number_bytes(self.planes, CELLS)


MARGIN_FIELD = ("margin", np.int64)  # option: is the payoff the difference of the points?
MARGIN_PLANE = Plane("margin", "1 if the winner gets the difference of the points", "number")


# ---- symmetries ----

MOVED_FIELDS = {
    "candidates": Moved((Axis.NUMBER,), Content.CELLS),
    "stones": Moved((Axis.NUMBER,), Content.CELLS),
    "colours": Moved((Axis.PLAYER,), Content.CELLS),
    "blanks": Moved((), Content.CELLS),
    "targets": Moved((), Content.CELLS),
    "prior": Moved((Axis.PLAYER,), Content.CELLS),
}
"""Turns and reflections of the board keep houses and neighbours. Numbers matter only by being equal
or different, so they may be renamed."""

SQUARE_TURNS = square(SIZE)
