"""Pictures as pixels: SVG rasterised by resvg."""

from __future__ import annotations

from io import BytesIO

import numpy as np

from azumaya.envs.extras import require


def png_of(svg: str, width: int | None = None) -> bytes:
    """An SVG picture as the bytes of a PNG file, as wide as asked for or as the SVG says.

    Raises:
        MissingExtraError: the extra `render` is not installed.
    """
    resvg = require("resvg_py", "render")
    # Our pictures hold no text elements, so that no font is ever looked for.
    data: bytes = resvg.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    return data


def rgb_of(svg: str, width: int | None = None) -> np.ndarray:
    """An SVG picture as an array of its own, `(height, width, 3)` uint8; raises as `png_of`."""
    image = require("PIL.Image", "render")
    with image.open(BytesIO(png_of(svg, width))) as picture:
        return np.array(picture.convert("RGB"), np.uint8)
