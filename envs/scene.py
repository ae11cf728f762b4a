"""What a position looks like, as data: games make scenes, renderers draw them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from azumaya.envs.geometry.grid import Rectangle


@dataclass(frozen=True)
class Stone:
    """A piece on a cell, as renderers see it.

    `colour` is `light`, `dark`, `neutral`, `free`, `white`, `black` or `tile`, names in the
    palette of renderers. `label` is written on it. `given` says that the start of the game had it
    there.
    """

    colour: str
    label: str = ""
    given: bool = False


@dataclass(frozen=True)
class Scene:
    """What a position looks like.

    `board` is a `Rectangle` of any size, or the name of one of the boards of the library's games.
    `grounds` and `stones` are indexed by cell. `notes` are lines beside the board; the first says
    whose turn it is or how the game ended. `trays` are rows of pieces beside the board. `regions`
    holds the region number of each cell on boards with regions, whose borders renderers draw. The
    ground of a region is its owner, `free` if it has none yet; boards whose regions have no owners
    have `plain` cells.
    A game always gives the same number of notes and trays, some perhaps empty, so that all of its
    pictures have the same size.
    """

    board: Literal["sudoku81", "dominari36", "hex61"] | Rectangle
    grounds: tuple[str, ...]
    stones: tuple[Stone | None, ...]
    dead: frozenset[int] = frozenset()
    candidates: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    last: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    trays: tuple[tuple[str, tuple[Stone, ...]], ...] = ()
    regions: tuple[int, ...] = ()

    @property
    def has_owners(self) -> bool:
        """Whether the grounds say who owns the regions, and are not only a pattern."""
        return bool(self.regions) and "plain" not in self.grounds

    def touched(self, cells: Sequence[int]) -> frozenset[int]:
        """The cells to mark after an action that touches some cells."""
        if len(cells) == 1 and self.stones[cells[0]] is None:
            # The stone placed there is gone: its turn was undone, or the next game of a match has
            # begun. (Actions that touch more cells mark them with or without stones: a draft.)
            return frozenset()
        return frozenset(cells)
