"""Renderers: they turn scenes into text, SVG, pixels or a window, for any game."""

from __future__ import annotations

from math import nan
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs.errors import OptionError
from azumaya.envs.render.ansi import ansi_of
from azumaya.envs.render.raster import MAX_WIDTH, png_of, rgb_of
from azumaya.envs.render.svg import svg_of
from azumaya.envs.render.window import Window, size_of
from azumaya.envs.scene import Scene

__all__ = ["Renderer", "ansi_of", "png_of", "rgb_of", "save", "svg_of"]


class Renderer:
    """Draws scenes in one of PettingZoo's render modes.

    Args:
        mode: `"ansi"`, `"rgb_array"` or `"human"`.
        fps: the most pictures per second that the window shows.
        candidates: whether to show the candidates of empty cells; may be changed at any time.

    Raises:
        ValueError: the mode is unknown, or fps is not above 0.
        MissingExtraError: the mode needs the extra `render`, which is not installed.
    """

    def __init__(self, mode: str, fps: float = 2, candidates: bool = False) -> None:
        if mode not in ("human", "rgb_array", "ansi"):
            raise ValueError(f"mode={mode!r}: must be 'human', 'rgb_array' or 'ansi'")
        if not fps > 0:
            raise ValueError(f"fps={fps!r}: must be above 0")
        self.mode = mode
        self.candidates = candidates
        self._window = Window(fps) if mode == "human" else None

    def draw(self, scene: Scene) -> np.ndarray | str | None:
        """Draw a scene.

        Returns:
            A text for `ansi`, `(height, width, 3)` uint8 for `rgb_array`, None for `human`.

        Raises:
            ValueError: the scene names a board, ground or colour that does not exist.
        """
        if self.mode == "ansi":
            return ansi_of(scene, self.candidates)
        if self._window is None:
            return rgb_of(svg_of(scene, self.candidates))
        shown = self.candidates
        self._window.show(lambda toggled: svg_of(scene, shown != toggled))
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()


def save(
    scene: Scene, path: str | PathLike[str], *, candidates: bool = False, scale: float = 2
) -> None:
    """Save the picture of a scene as an `.svg` or `.png` file.

    Args:
        scene: what to draw.
        path: the file; its suffix decides the format.
        candidates: whether to show the candidates of empty cells.
        scale: size of a `.png` relative to the SVG; it may become `MAX_WIDTH` pixels wide.

    Raises:
        ValueError: the suffix is neither `.svg` nor `.png`, the scale is too large or not above 0,
            or the scene cannot be drawn.
        MissingExtraError: a `.png` needs the extra `render`, which is not installed.
    """
    file = Path(path)
    svg, kind = svg_of(scene, candidates), file.suffix.lower()
    if kind == ".svg":
        file.write_text(svg, encoding="utf-8", newline="\n")
    elif kind == ".png":
        file.write_bytes(png_of(svg, _scaled(size_of(svg)[0], scale)))
    else:
        raise ValueError(f"path={str(path)!r}: must end in .svg or .png")


def _scaled(width: int, scale: Any) -> int:
    """`width * scale` in whole pixels, at least 1; raises `OptionError` for a bad scale."""
    number = float(scale) if isinstance(scale, Real) and not isinstance(scale, bool) else nan
    most = MAX_WIDTH // width
    if not 0 < number <= most:
        raise OptionError(f"scale={scale!r}: must be a number above 0 and at most {most}")
    return max(1, round(width * number))
