"""The window, on SDL's dummy display."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from azumaya.envs.extras import MissingExtraError
from azumaya.envs.render import Renderer, palette, rgb_of, svg_of, window
from azumaya.envs.render.layout import HEIGHT, WIDTH, layout_of
from azumaya.envs.render.window import Window, size_of
from tests.render.scenes import EMPTY, MARBLES, REGIONS

pygame = pytest.importorskip("pygame")
pytest.importorskip("resvg_py")

FAST = 1000


@pytest.fixture(autouse=True)
def _headless(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


def screen() -> Any:
    """What the window shows, `(W, H, 3)`."""
    return pygame.surfarray.array3d(pygame.display.get_surface())


def test_the_window_shows_the_picture() -> None:
    """It is the picture pixel by pixel, in its own size."""
    renderer = Renderer("human", fps=FAST)
    assert renderer.draw(REGIONS) is None
    assert (screen().swapaxes(0, 1) == rgb_of(svg_of(REGIONS))).all()
    renderer.draw(EMPTY)
    assert (screen().swapaxes(0, 1) == rgb_of(svg_of(EMPTY))).all()
    renderer.close()
    assert pygame.display.get_surface() is None
    renderer.close()


def test_the_close_button_closes_for_good() -> None:
    """Later pictures are ignored, and the program continues."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(REGIONS)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    renderer.draw(REGIONS)
    assert pygame.display.get_surface() is None
    assert renderer.draw(EMPTY) is None
    assert pygame.display.get_surface() is None


def test_a_window_that_another_one_closed_is_opened_again() -> None:
    """All renderers share the one window of pygame."""
    first, second, third = (Renderer("human", fps=FAST) for _ in range(3))
    first.draw(EMPTY)
    second.draw(EMPTY)
    first.close()
    second.draw(REGIONS)
    assert (screen().swapaxes(0, 1) == rgb_of(svg_of(REGIONS))).all()
    pygame.display.quit()
    third.draw(EMPTY)
    second.close()
    assert (screen().swapaxes(0, 1) == rgb_of(svg_of(EMPTY))).all()
    third.close()
    assert pygame.display.get_surface() is None


def test_a_resized_window_fits_the_picture_in() -> None:
    """The picture is as large as possible and centred, with paper around it."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(EMPTY)
    pygame.display.set_mode((2 * WIDTH + 300, 2 * HEIGHT), pygame.RESIZABLE)
    renderer.draw(EMPTY)
    shown = screen()
    assert shown.shape[:2] == (2 * WIDTH + 300, 2 * HEIGHT)
    x, y = layout_of("sudoku81").centres[40]
    ground = palette.GROUNDS["plain"].fill
    assert shown[round(150 + 2 * x), round(2 * y)].tobytes().hex() == ground[1:]
    assert shown[20, HEIGHT].tobytes().hex() == palette.PAPER[1:]
    renderer.close()


def test_a_key_shows_the_candidates() -> None:
    """The key also hides them again, even if they are shown from the start."""
    renderer = Renderer("human", fps=FAST)
    renderer.draw(REGIONS)
    plain = screen()
    press = pygame.event.Event(pygame.KEYDOWN, key=pygame.K_c)
    pygame.event.post(press)
    renderer.draw(REGIONS)
    assert (screen().swapaxes(0, 1) == rgb_of(svg_of(REGIONS, True))).all()
    renderer.candidates = True
    renderer.draw(REGIONS)
    assert (screen() == plain).all()
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

    def fail(*arguments: Any) -> None:
        raise pygame.error("No available video device")

    monkeypatch.setattr(pygame.display, "set_mode", fail)
    renderer = Renderer("human", fps=FAST)
    with pytest.raises(RuntimeError, match=r"No available video device.*rgb_array"):
        renderer.draw(REGIONS)


def test_a_missing_pygame_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is raised when the renderer is made."""
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(MissingExtraError, match=r"'pygame-ce'.*\.\[render\]"):
        Renderer("human")


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
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"
