"""Pictures as pixels: SVG rasterised by resvg."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from azumaya.envs.extras import require
from azumaya.envs.whole import whole_number

MAX_WIDTH = 8192
"""The largest width of a picture, in pixels. Such a picture takes some 300 MB of memory."""


def png_of(svg: str, width: int | None = None) -> bytes:
    """An SVG picture as the bytes of a PNG file, in the given width or that of the SVG.

    Raises:
        OptionError: the width is not from 1 to `MAX_WIDTH` pixels.
        MissingExtraError: the extra `render` is not installed.
    """
    pixels = None if width is None else whole_number(width, "width", 1, MAX_WIDTH)
    resvg = require("resvg_py", "render")
    # Our pictures contain no text elements, so no fonts are needed.
    data: bytes = resvg.svg_to_bytes(svg_string=svg, width=pixels, skip_system_fonts=True)
    return data


def rgb_of(svg: str, width: int | None = None) -> np.ndarray:
    """An SVG picture as a new array, `(height, width, 3)` uint8; raises as `png_of` does."""
    image = require("PIL.Image", "render")
    with image.open(BytesIO(png_of(svg, width))) as picture:
        return np.array(picture.convert("RGB"), np.uint8)
