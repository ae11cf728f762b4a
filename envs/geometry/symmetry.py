"""Symmetries of the boards as permutations of cells, and groups of them stored as factors.

A group is a tuple of factors; each factor is a tuple of symmetries that form a group themselves.
Every symmetry of the group is the product of exactly one choice of a member from each factor. So
the size of the group is the product of the sizes of its factors, and a uniform choice from each
factor is uniform in the group. The 3,359,232 symmetries of the 9x9 board take 50 entries that way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

from azumaya.envs.geometry import hex61
from azumaya.envs.geometry.grid import Cells, Grid, Rectangle

IDENTITY = "identity"


@dataclass(frozen=True)
class Symmetry:
    """A permutation of a board's cells, perhaps with a swap of the players.

    Attributes:
        name: what it does, for example "half turn".
        cells: the new place of each cell, as cells of a plane of the observation.
        swaps: whether the players are swapped as well.
    """

    name: str
    cells: Cells
    swaps: bool = False

    def then(self, other: Symmetry) -> Symmetry:
        """The product: this symmetry followed by another."""
        names = [name for name in (self.name, other.name) if name != IDENTITY]
        cells = tuple(other.cells[cell] for cell in self.cells)
        return Symmetry(", then ".join(names) or IDENTITY, cells, self.swaps != other.swaps)

    @property
    def inverse(self) -> Symmetry:
        """The symmetry that undoes this one."""
        cells = [0] * len(self.cells)
        for cell, goes in enumerate(self.cells):
            cells[goes] = cell
        name = self.name if self.name == IDENTITY else f"undo ({self.name})"
        return Symmetry(name, tuple(cells), self.swaps)

    def swapping(self) -> Symmetry:
        """The same with the players swapped."""
        return replace(self, name=f"{self.name} with players swapped", swaps=True)


Factor = tuple[Symmetry, ...]
Group = tuple[Factor, ...]


def identity(cells: int) -> Symmetry:
    """The symmetry that leaves a board as it is."""
    return Symmetry(IDENTITY, tuple(range(cells)))


def size_of(group: Sequence[Factor]) -> int:
    """How many symmetries a group has."""
    return prod(len(factor) for factor in group)


def members_of(group: Sequence[Factor]) -> Iterator[Symmetry]:
    """Every symmetry of a group; the group must have at least one factor."""
    for chosen in product(*group):
        whole = chosen[0]
        for symmetry in chosen[1:]:
            whole = whole.then(symmetry)
        yield whole


# ---- squares ----

Move = Callable[[int, int, int, int], tuple[int, int]]

_TURNS: dict[str, Move] = {
    IDENTITY: lambda row, column, bottom, right: (row, column),
    "quarter turn": lambda row, column, bottom, right: (column, bottom - row),
    "half turn": lambda row, column, bottom, right: (bottom - row, right - column),
    "three-quarter turn": lambda row, column, bottom, right: (right - column, row),
    "left-right reflection": lambda row, column, bottom, right: (row, right - column),
    "top-bottom reflection": lambda row, column, bottom, right: (bottom - row, column),
    "reflection in the falling diagonal": lambda row, column, bottom, right: (column, row),
    "reflection in the rising diagonal": lambda row, column, bottom, right: (
        right - column,
        bottom - row,
    ),
}
"""The new (row, column), from the top left, on a board whose last row and column are `bottom` and
`right`. The rising diagonal begins at `a1`."""
_UPRIGHT = (IDENTITY, "half turn", "left-right reflection", "top-bottom reflection")
"""Those that preserve the shape of a board that is not a square."""


def turns(board: Rectangle) -> dict[str, Symmetry]:
    """The turns (clockwise) and reflections of a board by name: eight for a square, else four."""
    places = list(zip(board.row_of, board.column_of, strict=True))
    found = {}
    for name in _TURNS if board.height == board.width else _UPRIGHT:
        targets = [
            _TURNS[name](row, column, board.height - 1, board.width - 1) for row, column in places
        ]
        found[name] = Symmetry(name, tuple(board.cell(row, column) for row, column in targets))
    return found


def square(size: int) -> dict[str, Symmetry]:
    """The four turns (clockwise) and four reflections of a square board, by name."""
    return turns(Rectangle(size, size))


def _of_rows(grid: Grid, to: Sequence[int], named: str) -> Symmetry:
    """The symmetry that moves rows, or columns if `named` says so, to the places `to`."""
    size = grid.size
    if list(to) == list(range(size)):
        return identity(grid.cells)
    if named == "rows":
        cells = tuple(size * to[row] + column for row in range(size) for column in range(size))
    else:
        cells = tuple(size * row + to[column] for row in range(size) for column in range(size))
    return Symmetry(f"{named} to {''.join(str(place + 1) for place in to)}", cells)


def lines_within(grid: Grid) -> Group:
    """Permutations of the rows of each band and the columns of each stack: blocks stay in place."""
    factors = []
    for named in ("rows", "columns"):
        for first in range(0, grid.size, grid.block):
            places = range(first, first + grid.block)
            before, after = range(first), range(first + grid.block, grid.size)
            factors.append(
                tuple(
                    _of_rows(grid, (*before, *order, *after), named)
                    for order in permutations(places)
                )
            )
    return tuple(factors)


def whole_bands(grid: Grid) -> Group:
    """Permutations of the bands (three rows of blocks each, on 9x9) and of the stacks."""
    inside = range(grid.block)
    return tuple(
        tuple(
            _of_rows(grid, [grid.block * band + k for band in order for k in inside], named)
            for order in permutations(range(grid.size // grid.block))
        )
        for named in ("rows", "columns")
    )


def houses_kept(grid: Grid) -> Group:
    """All symmetries that map rows, columns and blocks to houses; they need not keep neighbours.

    On the 9x9 board there are 2 * 6**8 = 3,359,232, including the turns and reflections.
    """
    transposed = square(grid.size)["reflection in the falling diagonal"]
    return ((identity(grid.cells), transposed), *whole_bands(grid), *lines_within(grid))


# ---- the hexagon ----


def _hexagonal(name: str, steps: int, reflected: bool) -> Symmetry:
    """An anticlockwise turn by `steps` sixths, after a reflection that keeps NE if `reflected`."""
    cells = list(range(hex61.SIZE * hex61.SIZE))
    middle = hex61.RADIUS
    for number, letter in hex61.COORDINATES:
        right, up = number - middle, letter - middle
        if reflected:
            right, up = up, right
        for _ in range(steps):
            right, up = right - up, right
        cells[hex61.array_cell(number, letter)] = hex61.array_cell(right + middle, up + middle)
    return Symmetry(name, tuple(cells))


def hexagon() -> Group:
    """The six turns and six reflections of the 61-cell board in its 9x9 array."""
    turns = [IDENTITY, *(f"{60 * k} degree turn" for k in range(1, hex61.DIRECTIONS))]
    return (
        tuple(_hexagonal(name, steps, False) for steps, name in enumerate(turns)),
        (_hexagonal(IDENTITY, 0, False), _hexagonal("reflection in a1-i9", 0, True)),
    )
