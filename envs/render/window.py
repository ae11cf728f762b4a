"""The window of render mode `human`, made with pygame."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from azumaya.envs.extras import require
from azumaya.envs.render import palette
from azumaya.envs.render.raster import rgb_of

SLEEP_MS = 10
"""Time between two checks for window events."""
SMALLEST = 64
"""The smallest width in pixels at which a picture is drawn, even in a narrower window."""
TITLE = "Azumaya"


class Window:
    """A window that shows pictures, each for at least `1 / fps` seconds.

    It is not pygame's display, which the program may have opened for itself, and takes no events
    of other windows.

    When the window is resized, the picture is redrawn in the new size. The key `c` shows or hides
    the candidates. Once the user has closed the window it stays closed, and `show` does nothing.

    Args:
        fps: the most pictures per second.

    Raises:
        MissingExtraError: the extra `render` is not installed.
    """

    def __init__(self, fps: float) -> None:
        require("pygame.window", "render")  # the older package of the same name has none
        self._pygame: Any = require("pygame", "render")
        self._frame_seconds = 1 / fps
        self._shown_at: float | None = None
        self._window: Any = None
        self._draw: Callable[[bool], str] | None = None
        self._toggled = False
        self.is_open = True

    def show(self, draw: Callable[[bool], str]) -> None:
        """Show a picture; `draw(toggled)` returns its SVG, where `toggled` is whether `c` is on.

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
        """Close the window; closing it again has no effect."""
        if self._is_there():
            self._window.destroy()
        self._window, self.is_open = None, False

    def _is_there(self) -> bool:
        """Whether there is a window; the program may have ended pygame, and with it the window."""
        try:
            return self._window is not None and bool(self._window.id)
        except self._pygame.error:
            return False

    def _wait(self) -> None:
        """Wait until the last picture has been shown for its time."""
        while self.is_open and self._shown_at is not None:
            self._handle_events()
            left = self._shown_at + self._frame_seconds - time.monotonic()
            if left <= 0:
                return
            self._pygame.time.wait(max(1, min(SLEEP_MS, int(left * 1000))))

    def _handle_events(self) -> None:
        if not self._is_there():
            return
        pygame, stale, closed = self._pygame, False, False
        for event in pygame.event.get():
            if getattr(event, "window", None) is not self._window:
                pygame.event.post(event)
                continue
            closed |= event.type == pygame.WINDOWCLOSE
            if event.type == pygame.KEYDOWN and event.key == pygame.K_c:
                self._toggled, stale = not self._toggled, True
            stale |= event.type in (pygame.WINDOWSIZECHANGED, pygame.WINDOWEXPOSED)
        if closed:
            self.close()
        elif stale:
            self._paint()

    def _paint(self) -> None:
        """Draw the picture centred in the window, as large as fits."""
        assert self._draw is not None
        svg = self._draw(self._toggled)
        if not self._is_there():
            self._open(svg)
        pygame, screen = self._pygame, self._window.get_surface()
        width, height = screen.get_size()
        natural_width, natural_height = size_of(svg)
        scale = min(width / natural_width, height / natural_height)
        pixels = rgb_of(svg, max(SMALLEST, round(natural_width * scale)))
        shown = pixels.shape[1], pixels.shape[0]
        picture = pygame.image.frombuffer(pixels.tobytes(), shown, "RGB")
        screen.fill(pygame.Color(palette.PAPER))
        screen.blit(picture, ((width - shown[0]) // 2, (height - shown[1]) // 2))
        self._window.flip()

    def _open(self, svg: str) -> None:
        pygame = self._pygame
        try:
            pygame.display.init()
            self._window = pygame.Window(TITLE, size_of(svg), resizable=True)
        except pygame.error as error:
            raise RuntimeError(
                f"cannot open a window ({error}): on a machine without a display use "
                "render_mode='rgb_array' or 'ansi'"
            ) from error


def size_of(svg: str) -> tuple[int, int]:
    """The width and height that a picture made by `svg_of` states, in pixels."""
    head = svg[: svg.index(">")]
    width, height = (head.split(f' {name}="')[1].split('"')[0] for name in ("width", "height"))
    return int(width), int(height)
