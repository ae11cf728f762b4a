"""Boards of rows and columns, with or without Sudoku's houses: cells, names, houses, peers."""

from __future__ import annotations

from functools import cached_property
from string import ascii_lowercase

import numpy as np

from azumaya.envs.kernels.bits import board_of, word_count
from azumaya.envs.whole import whole_number

Cells = tuple[int, ...]


class Rectangle:
    """A board of `height` rows and `width` columns.

    Cells are numbered row by row from the top left. Squares are named by file and rank: on the 9x9
    board `a9` is cell 0, `i9` is 8, `a8` is 9 and `i1` is 80. Boards of the same shape and blocks
    are equal.
    """

    def __init__(self, height: int, width: int) -> None:
        """Raises `OptionError` for no whole number above 0 or more columns than letters."""
        self.height = whole_number(height, "height", 1)
        self.width = whole_number(width, "width", 1, len(ascii_lowercase))
        self.cells = self.height * self.width
        self.words = word_count(self.cells)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.height, self.width

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rectangle):
            return NotImplemented
        return (other.shape, other.block_of) == (self.shape, self.block_of)

    def __hash__(self) -> int:
        return hash(self.shape)

    def __str__(self) -> str:
        return f"{self.height}x{self.width}"

    def cell(self, row: int, column: int) -> int:
        """The cell at a row from the top and a column from the left, both counted from 0."""
        return row * self.width + column

    @cached_property
    def row_of(self) -> Cells:
        """The row of each cell, from the top."""
        return tuple(c // self.width for c in range(self.cells))

    @cached_property
    def column_of(self) -> Cells:
        """The column of each cell, from the left."""
        return tuple(c % self.width for c in range(self.cells))

    @cached_property
    def block_of(self) -> Cells:
        """The block of each cell; without blocks, the whole board counts as one."""
        return (0,) * self.cells

    @property
    def files(self) -> str:
        """The letters of the columns, from the left."""
        return ascii_lowercase[: self.width]

    @cached_property
    def squares(self) -> tuple[str, ...]:
        """The name of each cell."""
        return tuple(
            f"{self.files[column]}{self.height - row}"
            for row, column in zip(self.row_of, self.column_of, strict=True)
        )

    @cached_property
    def cell_of(self) -> dict[str, int]:
        """The cell of each square name."""
        return {square: cell for cell, square in enumerate(self.squares)}

    def _houses(self, house_of: Cells) -> tuple[Cells, ...]:
        return tuple(
            tuple(c for c in range(self.cells) if house_of[c] == house)
            for house in range(max(house_of) + 1)
        )

    @cached_property
    def rows(self) -> tuple[Cells, ...]:
        """The rows from the top."""
        return self._houses(self.row_of)

    @cached_property
    def columns(self) -> tuple[Cells, ...]:
        """The columns from the left."""
        return self._houses(self.column_of)

    def neighbours_of(self, cell: int, diagonal: bool = False) -> frozenset[int]:
        """The cells beside a cell: those that share an edge, or a corner if diagonals count."""
        row, column = self.row_of[cell], self.column_of[cell]
        near = {
            (row + down, column + right)
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
            if (down or right) and (diagonal or not (down and right))
        }
        return frozenset(
            self.cell(r, c) for r, c in near if 0 <= r < self.height and 0 <= c < self.width
        )


class Grid(Rectangle):
    """A board of `size * size` cells in blocks of `block * block`, under the Sudoku rule."""

    def __init__(self, size: int, block: int) -> None:
        super().__init__(size, size)
        self.size, self.block = size, block

    @cached_property
    def block_of(self) -> Cells:
        """The block of each cell, in reading order."""
        across = self.size // self.block
        return tuple(
            row // self.block * across + column // self.block
            for row, column in zip(self.row_of, self.column_of, strict=True)
        )

    @cached_property
    def blocks(self) -> tuple[Cells, ...]:
        """The blocks in reading order."""
        return self._houses(self.block_of)

    @cached_property
    def houses(self) -> tuple[Cells, ...]:
        """Rows, columns and blocks."""
        return self.rows + self.columns + self.blocks

    @property
    def houses_of(self) -> tuple[tuple[str, Cells], ...]:
        """By kind of house, such as `row`, the house of each cell."""
        return (("row", self.row_of), ("column", self.column_of), ("block", self.block_of))

    def peers_of(self, cell: int) -> frozenset[int]:
        """The other cells of the houses that a cell belongs to."""
        return frozenset(c for house in self.houses if cell in house for c in house) - {cell}

    @cached_property
    def peers(self) -> np.ndarray:
        """`peers_of` each cell as a board, `(cells, words)` uint64."""
        return np.stack([board_of(self.peers_of(c), self.words) for c in range(self.cells)])
