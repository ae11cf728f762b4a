"""The colours of pictures and terminals, and the marks that replace them in plain text.

The colours suit colour-blind readers and print: light, neutral and dark differ in brightness, not
only in hue, and the numbers on stones have a contrast of at least 4.5 to 1 (tested).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PAPER = "#faf8f3"
INK = "#2c2b29"
FAINT_INK = "#6f6a61"
LINE_COLOUR = "#33312d"
LAST, LAST_EDGE = "#c2500a", "#fffdf5"
"""The frame around the last move, and the edge that lets it stand out on dark grounds."""
BETTER = "#7a1fd0"
"""A move that was not made; the frame's colour stands for the one that was."""
DEAD = "#a8432c"
DEAD_RING = "#fdf9ee"
RIM = "#d8c8a4"
POCKET, POCKET_EDGE = "#a8946d", "#8f7c58"
LAST_ANSI = 202


@dataclass(frozen=True)
class Ground:
    """How the ground of a cell looks.

    Pictures use `fill`, and `ink` for the candidates. Terminals use `ansi` and `ansi_ink`, two of
    the 256 colours; without colours, `mark` stands for an empty cell.
    """

    fill: str
    ink: str
    ansi: int
    ansi_ink: int
    mark: str


@dataclass(frozen=True)
class Piece:
    """How a stone looks: `fill`, `edge` and the `ink` of its number; `shade` fills marbles.

    Placed stones are round, givens are square, and a `tile` is always square. `letter` stands for
    the colour in terminals without colours.
    """

    fill: str
    edge: str
    ink: str
    ansi: int
    ansi_ink: int
    letter: str
    shape: Literal["stone", "tile"] = "stone"
    shade: str = "#2f3136"


GROUNDS = {
    "light": Ground("#efe3c6", "#4a4335", 187, 236, "."),
    "dark": Ground("#5d7190", "#ffffff", 60, 231, ":"),
    "neutral": Ground("#a8c6b2", "#1d3327", 108, 233, "+"),
    "free": Ground("#f8f6f1", "#4a463f", 255, 238, "?"),
    "plain": Ground("#e4d8bf", "#4a4335", 187, 236, "."),
}
"""By name, the values that `Scene.grounds` may contain."""

PIECES = {
    "light": Piece("#fffdf5", "#a8946a", "#2b2a27", 231, 233, "l"),
    "dark": Piece("#1f2c45", "#0e1626", "#ffffff", 17, 231, "d"),
    "neutral": Piece("#38694f", "#234534", "#ffffff", 22, 231, "n"),
    "free": Piece("#ece8de", "#8a8579", "#2b2a27", 253, 233, "f"),
    "white": Piece("#fffdf5", "#8f8067", "#2b2a27", 231, 233, "w", shade="#e6dfd0"),
    "black": Piece("#26282d", "#0f1013", "#ffffff", 235, 231, "b"),
    "tile": Piece("#fdf6e3", "#9c8660", "#2f2a22", 230, 234, "t", "tile"),
}
"""By name, the values of `Stone.colour`."""


def ground(name: str) -> Ground:
    """The ground of a name; raises `ValueError` for an unknown name."""
    if name not in GROUNDS:
        raise ValueError(f"ground {name!r} is not drawable: must be one of {', '.join(GROUNDS)}")
    return GROUNDS[name]


def piece(name: str) -> Piece:
    """How pieces of a colour look; raises `ValueError` for an unknown colour."""
    if name not in PIECES:
        raise ValueError(f"colour {name!r} is not drawable: must be one of {', '.join(PIECES)}")
    return PIECES[name]
