"""The parts of a picture as SVG elements: stones, marbles, tokens, texts."""

from __future__ import annotations

from functools import lru_cache

from azumaya.envs.render import palette
from azumaya.envs.render.layout import Point
from azumaya.envs.render.palette import DEAD, DEAD_RING, POCKET, POCKET_EDGE, Piece, piece
from azumaya.envs.render.strokes import Anchor, short, text_path
from azumaya.envs.scene import Stone

LIGHTS = ((0.1, 0.76, 0.1), (0.19, 0.52, 0.13), (0.36, 0.2, 0.6))
"""Highlights on a marble: offset and size (in radii) and opacity."""

PICTURES = 16_384
"""Pictures of one kind that are kept, since most pieces of a game stay where they are."""

Attribute = str | float | int


def element(name: str, **attributes: Attribute) -> str:
    """An empty SVG element; underscores in attribute names become hyphens."""
    parts = [f'{key.replace("_", "-")}="{_value(value)}"' for key, value in attributes.items()]
    return f"<{name} {' '.join(parts)}/>"


def _value(value: Attribute) -> str:
    return value if isinstance(value, str) else short(value)


def text(words: str, at: Point, height: float, ink: str, anchor: Anchor = "middle") -> str:
    """A line of text drawn as a path; `at` is at half the cap height, which is `height`."""
    return _strokes(text_path(words, at[0], at[1], height, anchor), height * 0.12, ink)


def number(words: str, at: Point, height: float, ink: str) -> str:
    """The number of a stone, centred and bold."""
    return _strokes(text_path(words, at[0], at[1], height, "middle"), height * 0.175, ink)


def _strokes(d: str, width: float, ink: str) -> str:
    ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    return element("path", d=d, fill="none", stroke=ink, stroke_width=width, **ends)


def disc(at: Point, radius: float, **attributes: Attribute) -> str:
    """A circle."""
    return element("circle", cx=at[0], cy=at[1], r=radius, **attributes)


@lru_cache(maxsize=PICTURES)
def square(at: Point, side: float, corner: float = 0, **attributes: Attribute) -> str:
    """A square around a centre, with rounded corners."""
    x, y = at[0] - side / 2, at[1] - side / 2
    return element("rect", x=x, y=y, width=side, height=side, rx=corner, **attributes)


@lru_cache(maxsize=PICTURES)
def stone(what: Stone, at: Point, pitch: float) -> str:
    """A stone: round, or square for a given or a tile; a blank has a ring instead of a number."""
    look = piece(what.colour)
    edge = pitch * 0.026
    if what.given or look.shape == "tile":
        body = _tile(look, at, pitch, edge, what.given)
    else:
        body = _round(look, at, pitch, edge)
    if what.label:
        height = pitch * (0.4 if len(what.label) == 1 else 0.27)
        return body + number(what.label, at, height, look.ink)
    ring: dict[str, Attribute] = {
        "stroke": look.ink,
        "stroke_opacity": 0.38,
        "stroke_width": edge * 1.6,
    }
    return body + disc(at, pitch * 0.24, fill="none", **ring)


def _round(look: Piece, at: Point, pitch: float, edge: float) -> str:
    radius = pitch * 0.405
    shadow = disc((at[0], at[1] + pitch * 0.03), radius, fill="#000000", fill_opacity=0.22)
    return shadow + disc(at, radius, fill=look.fill, stroke=look.edge, stroke_width=edge)


def _tile(look: Piece, at: Point, pitch: float, edge: float, given: bool) -> str:
    side, corner = pitch * 0.82, pitch * 0.09
    below = (at[0], at[1] + pitch * 0.03)
    shadow = square(below, side, corner, fill="#000000", fill_opacity=0.22)
    body = square(at, side, corner, fill=look.fill, stroke=look.edge, stroke_width=edge)
    if not (given and look.shape == "tile"):
        return shadow + body
    frame = square(
        at, side * 0.84, corner * 0.6, fill="none", stroke=look.edge, stroke_width=edge * 0.9
    )
    return shadow + body + frame


@lru_cache(maxsize=PICTURES)
def marble(what: Stone, at: Point, pitch: float) -> str:
    """A marble: a ball with soft light from the top left."""
    look = piece(what.colour)
    radius = pitch * 0.42
    shadow = disc((at[0], at[1] + pitch * 0.035), radius, fill="#000000", fill_opacity=0.28)
    ball = disc(at, radius, fill=look.shade, stroke=look.edge, stroke_width=pitch * 0.024)
    light = "".join(
        disc(
            (at[0] - radius * aside, at[1] - radius * aside),
            radius * size,
            fill="#ffffff",
            fill_opacity=strength,
        )
        for aside, size, strength in LIGHTS
    )
    return shadow + ball + light


@lru_cache(maxsize=PICTURES)
def pocket(at: Point, pitch: float) -> str:
    """An empty cell of the hexagonal board: a hollow, dark at its upper edge."""
    rim = disc(at, pitch * 0.38, fill=POCKET_EDGE)
    return rim + disc((at[0], at[1] + pitch * 0.025), pitch * 0.355, fill=POCKET)


def dead_token(at: Point, pitch: float) -> str:
    """A Moyo stone: the small token on a cell where no number fits any more."""
    ring = pitch * 0.04
    return disc(at, pitch * 0.17, fill=DEAD, stroke=DEAD_RING, stroke_width=ring)


def last_ring(at: Point, pitch: float) -> str:
    """The mark on a cell of the last move on the hexagonal board."""
    edge, ring = (
        disc(at, pitch * 0.462, fill="none", stroke=colour, stroke_width=pitch * width)
        for colour, width in ((palette.LAST_EDGE, 0.11), (palette.LAST, 0.065))
    )
    return edge + ring
