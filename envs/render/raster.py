"""Pictures as pixels: SVG rasterised by resvg."""

from __future__ import annotations

import operator
from io import BytesIO
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.extras import require

MAX_WIDTH = 8192
"""Pixels; the most a picture may be wide. In memory it takes some 300 MB then."""


def check_width(width: Any) -> int | None:
    """The width of a picture in pixels, None for its own; raises `OptionError`."""
    if width is None:
        return None
    try:
        number = operator.index(width)
    except TypeError:
        number = 0
    if isinstance(width, bool) or not 1 <= number <= MAX_WIDTH:
        raise OptionError(
            f"width={width!r}: a whole number from 1 to {MAX_WIDTH} is needed, or None"
        )
    return number


def png_of(svg: str, width: int | None = None) -> bytes:
    """An SVG picture as the bytes of a PNG file, as wide as asked for or as the SVG says.

    Raises:
        OptionError: the width is not from 1 to `MAX_WIDTH` pixels.
        MissingExtraError: the extra `render` is not installed.
    """
    pixels = check_width(width)
    resvg = require("resvg_py", "render")
    # Our pictures hold no text elements, so that no font is ever looked for.
    data: bytes = resvg.svg_to_bytes(svg_string=svg, width=pixels, skip_system_fonts=True)
    return data


def rgb_of(svg: str, width: int | None = None) -> np.ndarray:
    """An SVG picture as an array of its own, `(height, width, 3)` uint8; raises as `png_of`."""
    image = require("PIL.Image", "render")
    with image.open(BytesIO(png_of(svg, width))) as picture:
        return np.array(picture.convert("RGB"), np.uint8)
