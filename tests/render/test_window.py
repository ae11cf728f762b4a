"""The window, on SDL's dummy display."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from azumaya.envs.render import Renderer, palette, rgb_of, svg_of, window
from azumaya.envs.render.layout import HEIGHT, WIDTH, layout_of
from azumaya.envs.render.window import Window, size_of
from tests.processes import python
from tests.render.scenes import EMPTY, MARBLES, REGIONS

pygame = pytest.importorskip("pygame")
pytest.importorskip("resvg_py")

FAST = 1000


Windows = list[Any]


@pytest.fixture(autouse=True)
def windows(monkeypatch: pytest.MonkeyPatch) -> Iterator[Windows]:
    """The windows that were opened, in their order, on SDL's dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    opened: Windows = []

    class Noted(pygame.Window):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **keywords: Any) -> None:
            super().__init__(*arguments, **keywords)
            opened.append(self)

    monkeypatch.setattr(pygame, "Window", Noted)
    yield opened
    pygame.display.quit()


def screen(window: Any) -> Any:
    """What a window shows, `(W, H, 3)`."""
    return pygame.surfarray.array3d(window.get_surface())


def shows(window: Any, scene: Any, candidates: bool = False) -> bool:
    """Whether a window shows the picture of a scene, pixel by pixel, in its own size."""
    return np.array_equal(screen(window).swapaxes(0, 1), rgb_of(svg_of(scene, candidates)))


def is_closed(window: Any) -> bool:
    try:
        return not window.id
    except pygame.error:
        return True


def test_the_window_shows_the_picture(windows: Windows) -> None:
    renderer = Renderer("human", fps=FAST)
    assert renderer.draw(REGIONS) is None
    (window,) = windows
    assert shows(window, REGIONS)
    renderer.draw(EMPTY)
    assert shows(window, EMPTY)
    renderer.close()
    assert is_closed(window)
    renderer.close()


def test_the_close_button_closes_for_good(windows: Windows) -> None:
    """Later pictures are ignored, and the program continues."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(REGIONS)
    (window,) = windows
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window))
    renderer.draw(REGIONS)
    assert is_closed(window)
    assert renderer.draw(EMPTY) is None
    assert windows == [window]


def test_each_renderer_has_a_window_of_its_own(windows: Windows) -> None:
    """One that the program closed, by ending pygame's display, is opened again."""
    first, second = (Renderer("human", fps=FAST) for _ in range(2))
    first.draw(EMPTY)
    second.draw(REGIONS)
    first.close()
    assert is_closed(windows[0])
    assert shows(windows[1], REGIONS)
    pygame.display.quit()
    second.draw(EMPTY)
    assert shows(windows[2], EMPTY)
    second.close()
    assert len(windows) == 3


def test_the_display_of_the_program_stays_as_it_is(windows: Windows) -> None:
    """Its size, its picture and its events belong to the program."""
    pygame.display.init()
    display = pygame.display.set_mode((300, 200))
    display.fill("red")
    renderer = Renderer("human", fps=FAST)
    renderer.draw(REGIONS)
    pygame.event.clear()
    press = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_c)
    pygame.event.post(press)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    renderer.draw(REGIONS)
    assert shows(windows[0], REGIONS)
    renderer.close()
    assert {pygame.KEYDOWN, pygame.QUIT} <= {event.type for event in pygame.event.get()}
    assert pygame.display.get_surface() is display
    assert display.get_size() == (300, 200)
    assert display.get_at((0, 0)) == pygame.Color("red")


def test_a_resized_window_fits_the_picture_in(windows: Windows) -> None:
    """The picture is as large as possible and centred, with paper around it."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(EMPTY)
    windows[0].size = (2 * WIDTH + 300, 2 * HEIGHT)
    renderer.draw(EMPTY)
    shown = screen(windows[0])
    assert shown.shape[:2] == (2 * WIDTH + 300, 2 * HEIGHT)
    x, y = layout_of("sudoku81").centres[40]
    ground = palette.GROUNDS["plain"].fill
    assert shown[round(150 + 2 * x), round(2 * y)].tobytes().hex() == ground[1:]
    assert shown[20, HEIGHT].tobytes().hex() == palette.PAPER[1:]
    renderer.close()


def test_a_key_shows_the_candidates(windows: Windows) -> None:
    """The key also hides them again, even if they are shown from the start."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(REGIONS)
    press = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_c, window=windows[0])
    pygame.event.post(press)
    renderer.draw(REGIONS)
    assert shows(windows[0], REGIONS, True)
    renderer.candidates = True
    renderer.draw(REGIONS)
    assert shows(windows[0], REGIONS)
    renderer.close()


def test_pictures_stay_for_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a simulated clock, the second picture comes a quarter of a second after the first."""
    now = [100.0]
    naps: list[int] = []

    def wait(milliseconds: int) -> None:
        naps.append(milliseconds)
        now[0] += milliseconds / 1000

    monkeypatch.setattr(window.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(pygame.time, "wait", wait)
    shown = Window(fps=4)
    shown.show(lambda toggled: svg_of(EMPTY))
    assert naps == []
    shown.show(lambda toggled: svg_of(EMPTY))
    assert sum(naps) == pytest.approx(250, abs=2)
    assert max(naps) <= window.SLEEP_MS
    now[0] += 10
    shown.show(lambda toggled: svg_of(EMPTY))
    assert sum(naps) == pytest.approx(250, abs=2)
    shown.close()


def test_a_machine_without_a_display_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has more than pygame's own message."""

    def fail(*arguments: Any, **keywords: Any) -> None:
        raise pygame.error("No available video device")

    monkeypatch.setattr(pygame, "Window", fail)
    renderer = Renderer("human", fps=FAST)
    with pytest.raises(RuntimeError, match=r"No available video device.*rgb_array"):
        renderer.draw(REGIONS)


def test_the_size_is_read_from_the_picture() -> None:
    """Width and height include the panel."""
    assert size_of(svg_of(REGIONS)) == (WIDTH, HEIGHT)
    assert size_of(svg_of(MARBLES))[0] > WIDTH


def test_importing_the_renderers_imports_no_drawing_package() -> None:
    """Drawing packages are imported only when they are used."""
    program = (
        "import sys, azumaya.envs.render, azumaya.envs; "
        "print([m for m in ('pygame', 'resvg_py', 'PIL') if m in sys.modules])"
    )
    done = python("-c", program, check=True)
    assert done.stdout.strip() == "[]"
