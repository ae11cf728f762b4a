"""The window of render mode `human`, by pygame."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from azumaya.envs.extras import require
from azumaya.envs.render import palette
from azumaya.envs.render.raster import rgb_of

SLEEP_MS = 10
"""How long the window sleeps between two looks at its events."""
SMALLEST = 64
"""Pixels; a window made smaller shows its picture at this width."""
TITLE = "Azumaya"


class Window:
    """A window that shows pictures, each for at least `1 / fps` seconds.

    Resized, it draws the picture anew at the new size; the key `c` shows or hides the candidates.
    Closed by its button it stays closed, and what is shown later goes nowhere.

    Args:
        fps: pictures a second, at most.

    Raises:
        MissingExtraError: the extra `render` is not installed.
    """

    def __init__(self, fps: float) -> None:
        self._pygame: Any = require("pygame", "render")
        self._frame_seconds = 1 / fps
        self._shown_at: float | None = None
        self._screen: Any = None
        self._draw: Callable[[bool], str] | None = None
        self._toggled = False
        self.is_open = True

    def show(self, draw: Callable[[bool], str]) -> None:
        """Show a picture; `draw(toggled)` gives its SVG, with `c` pressed or not.

        Raises:
            RuntimeError: there is no display to open a window on.
        """
        self._wait()
        if not self.is_open:
            return
        self._draw = draw
        self._paint()
        self._shown_at = time.monotonic()
        self._handle_events()

    def close(self) -> None:
        """Close the window; closing it twice does no harm."""
        if self._screen is not None:
            self._pygame.display.quit()
        self._screen, self.is_open = None, False

    def _wait(self) -> None:
        """Keep the last picture for the rest of its time."""
        while self.is_open and self._shown_at is not None:
            self._handle_events()
            left = self._shown_at + self._frame_seconds - time.monotonic()
            if left <= 0:
                return
            self._pygame.time.wait(max(1, min(SLEEP_MS, int(left * 1000))))

    def _handle_events(self) -> None:
        if self._screen is None:
            return
        pygame, stale = self._pygame, False
        for event in pygame.event.get():
            if event.type == pygame.QUIT:
                self.close()
                return
            if event.type == pygame.KEYDOWN and event.key == pygame.K_c:
                self._toggled, stale = not self._toggled, True
            stale |= event.type in (pygame.VIDEORESIZE, pygame.VIDEOEXPOSE)
        if stale:
            self._paint()

    def _paint(self) -> None:
        """Draw the picture in the middle of the window, as large as fits."""
        assert self._draw is not None
        svg = self._draw(self._toggled)
        if self._screen is None:
            self._open(svg)
        pygame, (width, height) = self._pygame, self._screen.get_size()
        natural_width, natural_height = size_of(svg)
        scale = min(width / natural_width, height / natural_height)
        pixels = rgb_of(svg, max(SMALLEST, round(natural_width * scale)))
        shown = pixels.shape[1], pixels.shape[0]
        picture = pygame.image.frombuffer(pixels.tobytes(), shown, "RGB")
        self._screen.fill(pygame.Color(palette.PAPER))
        self._screen.blit(picture, ((width - shown[0]) // 2, (height - shown[1]) // 2))
        pygame.display.flip()

    def _open(self, svg: str) -> None:
        pygame = self._pygame
        try:
            pygame.display.init()
            self._screen = pygame.display.set_mode(size_of(svg), pygame.RESIZABLE)
        except pygame.error as error:
            raise RuntimeError(
                f"no window can be opened ({error}): use render_mode='rgb_array' or 'ansi' on a "
                "machine without a display"
            ) from error
        pygame.display.set_caption(TITLE)


def size_of(svg: str) -> tuple[int, int]:
    """The width and height that one of our pictures says it has, in pixels."""
    head = svg[: svg.index(">")]
    width, height = (head.split(f' {name}="')[1].split('"')[0] for name in ("width", "height"))
    return int(width), int(height)
