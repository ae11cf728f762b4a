"""A small stroke font: every printable ASCII character as lines and curves.

Pictures draw their text with it instead of the fonts of the machine, so that they are the same
everywhere, byte for byte, even on a machine without fonts. Capitals and digits are 10 units high:
the top is y = 0, the baseline y = 10. Small letters begin at 3.4, descenders end at 12.9.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Anchor = Literal["start", "middle", "end"]

CAPITAL = 10.0
GAP = 2.3
"""Units between two characters."""

_BOWL = "C5 8.6 4 10 2.5 10S0 8.6 0 6.7S1 3.4 2.5 3.4S5 4.8 5 6.7"
_EYE = "C0 4.8 1 3.4 2.5 3.4S5 4.8 5 6.7S4 10 2.5 10S0 8.6 0 6.7"
_ARCH = "M0 6.2C.2 4.5 1.2 3.4 2.6 3.4S4.8 4.4 4.8 6L4.8 10"
_ROUND = "M3.8 0C6.1 0 7.6 2.1 7.6 5S6.1 10 3.8 10S0 7.9 0 5S1.5 0 3.8 0Z"
_HALF = "M0 10L0 0L3 0C4.8 0 5.8 1.1 5.8 2.7S4.8 5.4 3 5.4L0 5.4"
_OPEN = "M6.8 1.9C6.1 .7 5 0 3.8 0C1.5 0 0 2.1 0 5S1.5 10 3.8 10"

# Only absolute M, L, C, S and Z: every pair of numbers is a point, so glyphs are easy to move.
GLYPHS: dict[str, tuple[float, str]] = {
    " ": (2.2, ""),
    "0": (6, "M3 0C5 0 6 2 6 5S5 10 3 10S0 8 0 5S1 0 3 0Z"),
    "1": (3.4, "M0 2.3L2.8 0L2.8 10"),
    "2": (5.8, "M.3 2.9C.3 1.1 1.4 0 3 0S5.6 1.1 5.6 2.7C5.6 4.7 3.6 6.2 0 10L5.8 10"),
    "3": (
        5.8,
        "M.5 1.9C.9 .8 1.8 0 3 0C4.5 0 5.5 1 5.5 2.4S4.4 4.7 2.4 4.7"
        "C4.6 4.7 5.8 5.8 5.8 7.3S4.6 10 2.9 10C1.5 10 .4 9.3 0 8",
    ),
    "4": (6.2, "M4.6 10L4.6 0L0 7L6.2 7"),
    "5": (
        5.7,
        "M5.2 0L1 0L.5 4.6C1.1 4 1.9 3.7 2.8 3.7C4.5 3.7 5.7 5 5.7 6.8"
        "S4.5 10 2.7 10C1.5 10 .6 9.4 0 8.4",
    ),
    "6": (
        5.8,
        "M4.8 0C2.2 1.2 0 3.7 0 6.8C0 8.7 1.2 10 2.9 10S5.8 8.7 5.8 6.9S4.6 3.9 2.9 3.9"
        "C1.5 3.9 .4 4.8 .1 6.1",
    ),
    "7": (5.6, "M0 0L5.6 0L2 10"),
    "8": (
        5.8,
        "M2.9 4.7C1.4 4.7 .5 3.7 .5 2.4S1.4 0 2.9 0S5.3 1 5.3 2.4S4.4 4.7 2.9 4.7"
        "C1.2 4.7 0 5.8 0 7.3S1.2 10 2.9 10S5.8 8.9 5.8 7.3S4.6 4.7 2.9 4.7Z",
    ),
    "9": (
        5.8,
        "M1 10C3.6 8.8 5.8 6.3 5.8 3.2C5.8 1.3 4.6 0 2.9 0S0 1.3 0 3.1S1.2 6.1 2.9 6.1"
        "C4.3 6.1 5.4 5.2 5.7 3.9",
    ),
    "A": (7, "M0 10L3.5 0L7 10M1.2 6.6L5.8 6.6"),
    "B": (
        6,
        "M0 0L0 10L3.2 10C5 10 6 8.9 6 7.4S5 4.8 3.2 4.8L0 4.8"
        "M3.2 4.8C4.7 4.8 5.5 3.8 5.5 2.4S4.7 0 3 0L0 0",
    ),
    "C": (6.8, _OPEN + "C5 10 6.1 9.3 6.8 8.1"),
    "D": (6.6, "M0 0L0 10L2.6 10C5.1 10 6.6 8 6.6 5S5.1 0 2.6 0Z"),
    "E": (5.4, "M5.4 0L0 0L0 10L5.4 10M0 4.8L4.6 4.8"),
    "F": (5.2, "M5.2 0L0 0L0 10M0 4.9L4.4 4.9"),
    "G": (7, _OPEN + "C5.6 10 7 8.6 7 5.6L4.2 5.6"),
    "H": (6.4, "M0 0L0 10M6.4 0L6.4 10M0 4.8L6.4 4.8"),
    "I": (0.2, "M.1 0L.1 10"),
    "J": (4.2, "M4.2 0L4.2 7.4C4.2 9.2 3.3 10 2 10S0 9.3 0 7.8"),
    "K": (6.2, "M0 0L0 10M6 0L0 6.2M2.2 4L6.2 10"),
    "L": (5, "M0 0L0 10L5 10"),
    "M": (8, "M0 10L0 0L4 6.4L8 0L8 10"),
    "N": (6.6, "M0 10L0 0L6.6 10L6.6 0"),
    "O": (7.6, _ROUND),
    "P": (5.8, _HALF),
    "Q": (7.6, _ROUND + "M5 7.6L7.6 10.6"),
    "R": (6, _HALF + "M3 5.4L6 10"),
    "S": (
        5.8,
        "M5.5 1.6C4.9 .6 4.1 0 2.9 0C1.3 0 .2 1 .2 2.4C.2 5.6 5.8 4.2 5.8 7.4"
        "C5.8 9 4.6 10 2.9 10C1.6 10 .6 9.3 0 8.2",
    ),
    "T": (6.4, "M0 0L6.4 0M3.2 0L3.2 10"),
    "U": (6.4, "M0 0L0 6.4C0 8.7 1.2 10 3.2 10S6.4 8.7 6.4 6.4L6.4 0"),
    "V": (6.8, "M0 0L3.4 10L6.8 0"),
    "W": (9.6, "M0 0L2.4 10L4.8 1.5L7.2 10L9.6 0"),
    "X": (6.2, "M0 0L6.2 10M6.2 0L0 10"),
    "Y": (6.4, "M0 0L3.2 5.2L6.4 0M3.2 5.2L3.2 10"),
    "Z": (6, "M0 0L6 0L0 10L6 10"),
    "a": (5, "M5 3.4L5 10M5 6.7" + _BOWL),
    "b": (5, "M0 0L0 10M0 6.7" + _EYE),
    "c": (
        4.6,
        "M4.6 4.6C4.1 3.8 3.4 3.4 2.6 3.4C1.1 3.4 0 4.8 0 6.7S1.1 10 2.6 10C3.4 10 4.1 9.6 4.6 8.8",
    ),
    "d": (5, "M5 0L5 10M5 6.7" + _BOWL),
    "e": (
        5,
        "M.1 6.5L5 6.5C5 4.6 4 3.4 2.6 3.4C1.1 3.4 0 4.8 0 6.7S1.1 10 2.7 10"
        "C3.6 10 4.3 9.6 4.8 8.9",
    ),
    "f": (3.4, "M3.4 .3C3.1 .1 2.8 0 2.5 0C1.6 0 1.2 .7 1.2 1.8L1.2 10M0 3.6L3.1 3.6"),
    "g": (
        5,
        "M5 3.4L5 10.4C5 12 4.1 12.9 2.6 12.9C1.7 12.9 1 12.6 .4 12M5 6.7" + _BOWL,
    ),
    "h": (4.8, "M0 0L0 10" + _ARCH),
    "i": (0.2, "M.1 3.4L.1 10M.1 .6L.1 .7"),
    "j": (1.6, "M1.6 3.4L1.6 11.2C1.6 12.3 1.1 12.9 0 12.9M1.6 .6L1.6 .7"),
    "k": (4.6, "M0 0L0 10M4.4 3.4L0 7.4M1.6 6L4.6 10"),
    "l": (1.3, "M0 0L0 8.6C0 9.6 .5 10 1.3 10"),
    "m": (
        8,
        "M0 3.4L0 10M0 6C.2 4.4 1 3.4 2.2 3.4S4 4.3 4 5.8L4 10"
        "M4 6C4.2 4.4 5 3.4 6.2 3.4S8 4.3 8 5.8L8 10",
    ),
    "n": (4.8, "M0 3.4L0 10" + _ARCH),
    "o": (5.2, "M2.6 3.4C4.1 3.4 5.2 4.8 5.2 6.7S4.1 10 2.6 10S0 8.6 0 6.7S1.1 3.4 2.6 3.4Z"),
    "p": (5, "M0 3.4L0 12.9M0 6.7" + _EYE),
    "q": (5, "M5 3.4L5 12.9M5 6.7" + _BOWL),
    "r": (3.2, "M0 3.4L0 10M0 6.4C.2 4.6 1.2 3.4 2.6 3.4C2.8 3.4 3 3.4 3.2 3.5"),
    "s": (
        4.2,
        "M4 4.5C3.6 3.8 3 3.4 2.1 3.4C1 3.4 .2 4 .2 5C.2 7.2 4.2 6.1 4.2 8.3"
        "C4.2 9.4 3.3 10 2.1 10C1.2 10 .4 9.6 0 8.8",
    ),
    "t": (3.4, "M1.2 1.2L1.2 8.2C1.2 9.4 1.7 10 2.6 10C2.9 10 3.2 9.9 3.4 9.8M0 3.6L3.2 3.6"),
    "u": (4.8, "M4.8 3.4L4.8 10M4.8 7.2C4.6 8.9 3.6 10 2.2 10S0 9 0 7.4L0 3.4"),
    "v": (5, "M0 3.4L2.5 10L5 3.4"),
    "w": (7.2, "M0 3.4L1.8 10L3.6 4.4L5.4 10L7.2 3.4"),
    "x": (4.6, "M0 3.4L4.6 10M4.6 3.4L0 10"),
    "y": (5, "M0 3.4L2.6 9.8M5 3.4L2.2 11C1.8 12.3 1.2 12.9 .2 12.8"),
    "z": (4.4, "M0 3.4L4.4 3.4L0 10L4.4 10"),
    ".": (0.2, "M.1 9.8L.1 9.9"),
    ",": (0.8, "M.8 9.6C.8 10.4 .5 11.2 0 11.8"),
    ":": (0.2, "M.1 4.6L.1 4.7M.1 9.8L.1 9.9"),
    ";": (0.8, "M.7 4.6L.7 4.7M.8 9.6C.8 10.4 .5 11.2 0 11.8"),
    "!": (0.2, "M.1 0L.1 6.8M.1 9.8L.1 9.9"),
    "?": (
        4.6,
        "M0 2.2C.3 .8 1.2 0 2.4 0C3.8 0 4.6 .9 4.6 2.2C4.6 4.2 2.3 4.4 2.3 6.8M2.3 9.8L2.3 9.9",
    ),
    "'": (0.2, "M.1 0L.1 2.4"),
    '"': (2.2, "M.1 0L.1 2.4M2.1 0L2.1 2.4"),
    "`": (1.4, "M0 0L1.4 1.8"),
    "-": (3.4, "M0 6.2L3.4 6.2"),
    "_": (5, "M0 11.2L5 11.2"),
    "+": (5, "M0 6.2L5 6.2M2.5 3.7L2.5 8.7"),
    "=": (5, "M0 4.9L5 4.9M0 7.5L5 7.5"),
    "*": (4, "M2 .6L2 5M.1 1.7L3.9 3.9M3.9 1.7L.1 3.9"),
    "/": (4.4, "M0 11L4.4 -.6"),
    "\\": (4.4, "M0 -.6L4.4 11"),
    "|": (0.2, "M.1 -1L.1 12"),
    "(": (2, "M2 -.8C.7 1 0 3 0 5.4S.7 9.8 2 11.6"),
    ")": (2, "M0 -.8C1.3 1 2 3 2 5.4S1.3 9.8 0 11.6"),
    "[": (2, "M2 -.6L0 -.6L0 11.4L2 11.4"),
    "]": (2, "M0 -.6L2 -.6L2 11.4L0 11.4"),
    "{": (2.4, "M2.4 -.6C.6 -.6 1.8 5.4 0 5.4C1.8 5.4 .6 11.4 2.4 11.4"),
    "}": (2.4, "M0 -.6C1.8 -.6 .6 5.4 2.4 5.4C.6 5.4 1.8 11.4 0 11.4"),
    "<": (4.4, "M4.4 3.2L0 6.2L4.4 9.2"),
    ">": (4.4, "M0 3.2L4.4 6.2L0 9.2"),
    "^": (4, "M0 3.4L2 0L4 3.4"),
    "~": (5, "M0 7C.6 5.4 1.6 5.4 2.5 6.2S4.4 7 5 5.4"),
    "#": (6, "M2 1L1.2 9.6M4.8 1L4 9.6M.2 3.8L6 3.8M0 6.8L5.8 6.8"),
    "%": (
        7.4,
        "M6.4 0L1 10M1.6 0C2.5 0 3.2 .9 3.2 2.2S2.5 4.4 1.6 4.4S0 3.5 0 2.2S.7 0 1.6 0Z"
        "M5.8 5.6C6.7 5.6 7.4 6.5 7.4 7.8S6.7 10 5.8 10S4.2 9.1 4.2 7.8S4.9 5.6 5.8 5.6Z",
    ),
    "&": (
        6.6,
        "M6.6 10L1.6 3.6C.8 2.6 .8 0 2.8 0C4.8 0 4.9 2.4 3.6 3.4L1.6 4.8"
        "C-.6 6.4 0 10 2.8 10C4.8 10 6 8.4 6.2 6",
    ),
    "$": (
        5,
        "M4.8 2.8C4.3 1.9 3.5 1.5 2.5 1.5C1.2 1.5 .2 2.2 .2 3.4C.2 6 5 4.6 5 7.2"
        "C5 8.4 4 9.1 2.5 9.1C1.4 9.1 .5 8.6 0 7.6M2.5 .2L2.5 10.4",
    ),
    "@": (
        8,
        "M5.6 3.4L5.6 6.4C5.6 8.2 8 7.8 8 5C8 2 6.2 0 4 0S0 2.2 0 5.2S1.8 10.4 4 10.4"
        "C5 10.4 6 10.1 6.6 9.6M5.6 5.2C5.6 6.6 4.9 7.4 3.9 7.4S2.2 6.6 2.2 5.2"
        "S2.9 3 3.9 3S5.6 3.8 5.6 5.2",
    ),
}

UNKNOWN = (5.0, "M0 0L5 0L5 10L0 10Z")
"""The box drawn for a character that the font does not have."""

_POINT = re.compile(r"(-?[\d.]+) (-?[\d.]+)")


def short(number: float) -> str:
    """A coordinate with at most two decimals."""
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def text_width(text: str, height: float) -> float:
    """The width of a text whose capitals have this height."""
    units = sum(GLYPHS.get(char, UNKNOWN)[0] for char in text) + GAP * max(len(text) - 1, 0)
    return units * height / CAPITAL


@lru_cache(maxsize=4096)
def text_path(text: str, x: float, y: float, height: float, anchor: Anchor = "start") -> str:
    """The `d` of a path that draws a text.

    Args:
        text: one line; characters outside ASCII become boxes.
        x: the start, middle or end of the text, depending on `anchor`.
        y: the middle of the capitals.
        height: the height of the capitals.
        anchor: what `x` means.
    """
    scale = height / CAPITAL
    shares = {"start": 0.0, "middle": 0.5, "end": 1.0}
    left = x - shares[anchor] * text_width(text, height)
    top = y - height / 2
    parts = []
    for char in text:
        width, glyph = GLYPHS.get(char, UNKNOWN)
        parts.append(_moved(glyph, left, top, scale))
        left += (width + GAP) * scale
    return "".join(parts)


def _moved(glyph: str, left: float, top: float, scale: float) -> str:
    def point(match: re.Match[str]) -> str:
        x, y = (float(number) for number in match.groups())
        return f"{short(left + x * scale)} {short(top + y * scale)}"

    return _POINT.sub(point, glyph)


def wrap(text: str, height: float, width: float) -> list[str]:
    """A text broken into lines of at most `width`; only a single word may be wider."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, height) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
