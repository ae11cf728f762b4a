"""The layout of a picture: the cells of each board, their names, the labels around the board."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import Any

from azumaya.envs.errors import OptionError
from azumaya.envs.geometry import dominari36, hex61, sudoku81
from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.scene import Scene

Point = tuple[float, float]

WIDTH, HEIGHT = 560, 592
"""Size in pixels of a picture without a panel: multiples of 16, which suit video encoders."""
PANEL = 224
"""Pixels that a panel adds on the right side."""
BOARD_LEFT, BOARD_TOP, BOARD_SIZE = 36, 18, 504
CAPTION = HEIGHT - 24
"""The y coordinate of the middle of the caption."""

HEX_PITCH = 54.0
HEX_CENTRE = (WIDTH / 2, 274.0)
HEX_RADIUS = 268.0
HEX_RIM = 0.83
"""Distance of the labels from the outermost cells, in pitches."""


@dataclass(frozen=True)
class Layout:
    """The place of a board in the picture; the pitch is the distance between adjacent cells.

    `corner` is the top left corner of a board of rows and columns.
    """

    pitch: float
    corner: Point
    centres: tuple[Point, ...]
    names: tuple[str, ...]
    labels: tuple[tuple[str, Point], ...]


NAMED: dict[str, Rectangle] = {"sudoku81": sudoku81.GRID, "dominari36": dominari36.GRID}


def rectangle_of(board: str | Rectangle) -> Rectangle:
    """A board of rows and columns; raises `ValueError` if there is none of that name."""
    if isinstance(board, Rectangle):
        return board
    if board not in NAMED:
        raise ValueError(
            f"board {board!r}: must be one of {', '.join(NAMED)}, hex61 or a Rectangle"
        )
    return NAMED[board]


@cache
def layout_of(board: str | Rectangle) -> Layout:
    """The layout of a board; raises `ValueError` for an unknown name."""
    return _hex() if board == "hex61" else _rectangular(rectangle_of(board))


def check_scene(scene: Any) -> None:
    """Raise `ValueError` unless this is a `Scene` with as many cells as its board."""
    if not isinstance(scene, Scene):
        raise OptionError(
            f"scene: {type(scene).__name__} given, a Scene is needed; position.scene() returns one"
        )
    cells = len(layout_of(scene.board).centres)
    for name, values in (("grounds", scene.grounds), ("stones", scene.stones)):
        if len(values) != cells:
            raise ValueError(f"scene: {scene.board} has {cells} cells, but {len(values)} {name}")
    if scene.regions and len(scene.regions) != cells:
        raise ValueError(f"scene: {len(scene.regions)} regions; must be {cells} or none")


def _rectangular(board: Rectangle) -> Layout:
    """Centred in the square reserved for boards, as large as fits."""
    pitch = BOARD_SIZE / max(board.shape)
    left = BOARD_LEFT + (BOARD_SIZE - board.width * pitch) / 2
    top = BOARD_TOP + (BOARD_SIZE - board.height * pitch) / 2
    middles = [(n + 0.5) * pitch for n in range(max(board.shape))]
    below = top + board.height * pitch + 17.0
    files = [(name, (left + middles[n], below)) for n, name in enumerate(board.files)]
    ranks = [(str(board.height - n), (left - 17.0, top + middles[n])) for n in range(board.height)]
    centres = tuple(
        (left + middles[column], top + middles[row])
        for row, column in zip(board.row_of, board.column_of, strict=True)
    )
    return Layout(pitch, (left, top), centres, board.squares, tuple(files + ranks))


def hex_point(number: float, letter: float) -> Point:
    """The centre of a cell, given its number and the letter of its row, both from 0."""
    x, y = HEX_CENTRE
    middle = hex61.RADIUS
    right, up = number - middle - (letter - middle) / 2, letter - middle
    return x + right * HEX_PITCH, y - up * HEX_PITCH * sqrt(3) / 2


def _hex() -> Layout:
    centres = tuple(hex_point(number, letter) for number, letter in hex61.COORDINATES)
    rows = zip(reversed(range(hex61.SIZE)), hex61.ROW_RANGES, strict=True)
    letters = [
        ("abcdefghi"[letter], hex_point(first - HEX_RIM, letter)) for letter, (first, _) in rows
    ]
    # The cells of a diagonal have the same number: its label stands below the last of them.
    numbers = [
        (str(number + 1), hex_point(number, max(0, number - hex61.RADIUS) - HEX_RIM))
        for number in range(hex61.SIZE)
    ]
    corner = (float(BOARD_LEFT), float(BOARD_TOP))
    return Layout(HEX_PITCH, corner, centres, hex61.SQUARES, tuple(letters + numbers))
