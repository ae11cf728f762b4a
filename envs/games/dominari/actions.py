"""Actions of Vierer-, Revers- and Score-Dominari: numbers, names, and why one is legal or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from azumaya.envs.errors import MoveNameError
from azumaya.envs.games.dominari import board as dominari
from azumaya.envs.geometry.dominari36 import BLOCK_OF, CELL, CELLS, COLUMN_OF, ROW_OF, SQUARES
from azumaya.envs.kernels.bits import has
from azumaya.envs.symmetries import Axis, Content, Moved, Settings

COLOUR_LETTERS = "wb"
COLOUR_NAMES = ("white", "black")

MOVED_FIELDS = {
    "candidates": Moved((Axis.NUMBER,), Content.CELLS),
    "stones": Moved((Axis.NUMBER,), Content.CELLS),
    "colours": Moved((Axis.PLAYER,), Content.CELLS),
    "blanks": Moved((), Content.CELLS),
    "targets": Moved((), Content.CELLS),
    "prior": Moved((Axis.PLAYER,), Content.CELLS),
}
"""What symmetries do in all three games: see `azumaya.envs.symmetries.Symmetries`. Every turn and
reflection of the board keeps houses, and what lies beside what; numbers count only by being equal
or not."""


@dataclass(frozen=True)
class Actions:
    """The actions of one game: numbers on cells, blanks on cells, `end`, then perhaps `claim`.

    Args:
        numbers: how many numbers there are.
        blank_colours: 1 where blanks have the mover's colour, 2 where the mover may choose.
    """

    numbers: int
    blank_colours: int

    @property
    def blank(self) -> int:
        """The first action that lays a blank."""
        return self.numbers * CELLS

    @property
    def end(self) -> int:
        """The action that ends a turn."""
        return self.blank + self.blank_colours * CELLS

    @property
    def claim(self) -> int:
        """The action that claims a wrong turn."""
        return self.end + 1

    def count(self, settings: Settings) -> int:
        """How many actions there are."""
        return self.end + (1 if settings["referee"] else 2)

    def name(self, action: int, settings: Settings, mover: int = 0) -> str:
        """The name of an action of the player to move."""
        if action >= self.end:
            return "end" if action == self.end else "claim"
        square = SQUARES[action % CELLS]
        if action < self.blank:
            return f"{action // CELLS + 1}{square}"
        return COLOUR_LETTERS[self.colour(action, mover)] + square

    def colour(self, action: int, mover: int) -> int:
        """The colour of the blank that an action lays."""
        return mover if self.blank_colours == 1 else (action - self.blank) // CELLS

    def parse(self, name: str, settings: Settings, mover: int | None = None) -> int:
        """The action of a name; without a mover, blanks of either colour are the mover's.

        Raises:
            MoveNameError: the name is none, or of a blank that the mover never lays.
        """
        if name == "end":
            return self.end
        if name == "claim" and not settings["referee"]:
            return self.claim
        first, cell = name[:1], CELL.get(name[1:])
        if cell is not None and first and first in "123456"[: self.numbers]:
            return (int(first) - 1) * CELLS + cell
        if cell is not None and first and first in COLOUR_LETTERS:
            return self._parse_blank(name, cell, mover)
        also = "end" if settings["referee"] else "end or claim"
        raise MoveNameError(
            f"{name!r} names no move: a number from 1 to {self.numbers} and a square like 5e4, "
            f"a blank like we4 or be4, {also} is needed"
        )

    def _parse_blank(self, name: str, cell: int, mover: int | None) -> int:
        colour = COLOUR_LETTERS.index(name[0])
        if self.blank_colours == 2:
            return self.blank + colour * CELLS + cell
        if mover is not None and mover != colour:
            raise MoveNameError(
                f"{name!r}: blanks are of the mover's colour, and {COLOUR_NAMES[mover]} is to "
                f"move: {COLOUR_LETTERS[mover]}{SQUARES[cell]} is needed"
            )
        return self.blank + cell

    def cells(self, action: int, settings: Settings) -> tuple[int, ...]:
        """The cell a stone goes to."""
        return (action % CELLS,) if action < self.end else ()


# ---- reading a state ----


def number_on(state: Any, cell: int) -> int:
    """The number on a cell, 0 where there is none."""
    return next((n + 1 for n, board in enumerate(state["stones"]) if has(board, cell)), 0)


def colour_on(state: Any, cell: int) -> int | None:
    """The colour of the stone on a cell, or None."""
    return next((p for p, board in enumerate(state["colours"]) if has(board, cell)), None)


def stone_name(state: Any, cell: int) -> str:
    """The stone on a cell, like `white 5` or `black blank`."""
    colour, number = colour_on(state, cell), number_on(state, cell)
    assert colour is not None
    return f"{COLOUR_NAMES[colour]} {number or 'blank'}"


def candidates_on(state: Any, cell: int) -> tuple[int, ...]:
    """The numbers that Sudoku's rule lets lie on a cell."""
    return tuple(n + 1 for n, board in enumerate(state["candidates"]) if has(board, cell))


def clash_on(state: Any, number: int, cell: int) -> str | None:
    """Where a number stands already in a house of a cell, or None."""
    for house, of in (("row", ROW_OF), ("column", COLUMN_OF), ("block", BLOCK_OF)):
        for other in range(CELLS):
            if other != cell and of[other] == of[cell] and number_on(state, other) == number:
                return f"the {house} of {SQUARES[cell]} has a {number} on {SQUARES[other]}"
    return None


# ---- sentences ----

Where = Callable[[Any, int], str]
"""`where(state, cell)`: what lets the player to move lay on a free cell, Sudoku's rule aside, or
what forbids it."""


def explain(actions: Actions, where: Where, state: Any, action: int, settings: Settings) -> str:
    """One sentence: why an action is legal in a state, or which rule forbids it."""
    name = actions.name(action, settings, int(state["to_move"]))
    if state["over"]:
        return f"{name}: the game is over"
    if action == actions.claim:
        return _explain_claim(name, state)
    filling = state["phase"] == dominari.BLANKS
    if action == actions.end:
        if filling:
            return f"{name} is legal: the number is laid, and blanks need not be"
        return f"{name}: a turn begins with a number, which must be laid"
    cell = action % CELLS
    if action < actions.blank and filling:
        return f"{name}: the number of this turn is laid; now only blanks, or end"
    if action >= actions.blank and not filling:
        return f"{name}: a blank is laid only after the number of the same turn"
    if colour_on(state, cell) is not None:
        return f"{name}: {SQUARES[cell]} is taken by a {stone_name(state, cell)}"
    if filling:
        return _explain_blank(name, state, cell)
    return _explain_number(name, where, state, action // CELLS + 1, cell)


def _explain_claim(name: str, state: Any) -> str:
    if state["claim"]:
        return f"{name} is legal: the last turn was the opponent's, and the own one begins"
    if state["phase"] == dominari.BLANKS:
        return f"{name}: only the first step of a turn may be a claim"
    return f"{name}: no turn of the opponent's was just played, or it has been claimed already"


def _explain_blank(name: str, state: Any, cell: int) -> str:
    numbers = candidates_on(state, cell)
    if numbers:
        fits = list_of([str(n) for n in numbers])
        return f"{name}: {SQUARES[cell]} is not dead, for {fits} may still lie there"
    return f"{name} is legal: {SQUARES[cell]} is dead, and there are blanks left"


def _explain_number(name: str, where: Where, state: Any, number: int, cell: int) -> str:
    clash, place = clash_on(state, number, cell), where(state, cell)
    if not has(state["targets"], cell):
        return f"{name}: {place}"
    if clash is None:
        return f"{name} is legal: the {number} fits row, column and block, and {place}"
    if state["no_referee"]:
        return f"{name} is legal only for want of a referee: {place}, but {clash}"
    return f"{name}: {clash}, and no number stands twice in a house"


def list_of(words: Sequence[str]) -> str:
    """Words as a list: `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
