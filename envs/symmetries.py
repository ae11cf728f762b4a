"""What may be changed in a game without changing its rules, and what moves with the change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import factorial
from typing import Any

from azumaya.envs.geometry.symmetry import Group, Symmetry, size_of

Settings = Mapping[str, Any]
"""A canonical value for every option of a game."""


class Axis(Enum):
    """What an index, or a plane's value, stands for; a symmetry permutes it."""

    CELL = "cell"
    NUMBER = "number"
    PLAYER = "player"
    REGION = "region"
    """A region of the board, such as a column: see `Symmetries.regions`."""
    MOVE = "move"
    """A move known by the cells that its pieces leave and enter."""
    FIXED = "fixed"
    """Nothing that a symmetry changes."""


class Content(Enum):
    """What the words of a field of the state hold."""

    CELLS = "cells"
    """A bit for each cell."""
    STONES = "stones"
    """A bit for each number on each cell, number by number."""
    REGIONS = "regions"
    """Boards of the bits of each cell's region number."""
    COUNTS = "counts"
    """Four bits for each number: a count."""
    TILES = "tiles"
    """Four bits each: a number from 1, or 0."""
    VALUES = "values"
    """Values that stay as they are."""


@dataclass(frozen=True)
class Moved:
    """How a field of the state follows a symmetry: what it is indexed by, what its words hold."""

    axes: tuple[Axis, ...]
    content: Content = Content.VALUES


@dataclass(frozen=True)
class InPlace:
    """Cells that a symmetry may only move among each other while the game is in a stage."""

    stage: tuple[str, int]
    """A field of the state, and its value during the stage."""
    cells: frozenset[int]

    def kept_by(self, symmetry: Symmetry) -> bool:
        """Whether a symmetry moves these cells only among each other."""
        return {symmetry.cells[cell] for cell in self.cells} == self.cells


ActionBlock = tuple[Axis, ...]
"""A block of actions by what they are numbered by: `(NUMBER, CELL)` is a number on a cell."""


@dataclass(frozen=True, eq=False)
class Symmetries:
    """What may be changed in a game without changing its rules, and what moves with the change.

    A change moves the cells of the board, swaps the players, renames the numbers, or does several
    of these. Each `Plane` says how observations follow. Fields of the state that are not named stay
    as they are, except `to_move` and `payoff`, which every game has.
    """

    group: Group = ()
    numbers: int = 0
    """How many numbers may be renamed, all in any way; 0: none."""
    fields: Mapping[str, Moved] = field(default_factory=dict)
    actions: Callable[[Settings], tuple[ActionBlock, ...]] = lambda settings: (
        (Axis.NUMBER, Axis.CELL),
    )
    """The blocks of actions, in order; actions after these stay as they are."""
    bits: tuple[int, ...] = ()
    """The cell of each bit of a board in the state; empty: bit i is cell i."""
    regions: tuple[int, ...] = ()
    """By cell, the number of its region from 0: regions are renumbered as their cells move."""
    options: Callable[[Settings, Sequence[int], Sequence[int]], Mapping[str, Any]] = (
        lambda settings, cells, regions: {}
    )
    """New values of the settings that say where cells or regions lie, after these have moved; of
    settings that matter after the start only. The arguments are the settings before, the new place
    of each cell and the new place of each region."""
    moves: Callable[[int], tuple[tuple[int, ...], tuple[int, ...]]] | None = None
    """For an action of a block of moves, the cells its pieces leave and those they enter."""
    in_order: tuple[str, int] | None = None
    """A field of the state, and its value during a stage in which players and numbers come in a
    fixed order: then only cells are moved, players not swapped and numbers not renamed."""
    in_place: InPlace | None = None
    """Cells that keep their place during a stage in which observations do not show what
    distinguishes them."""

    @property
    def size(self) -> int:
        """How many symmetries the board has, including those that swap the players."""
        return size_of(self.group)

    @property
    def renamings(self) -> int:
        """How many ways there are to rename the numbers."""
        return factorial(self.numbers)
