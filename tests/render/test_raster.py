"""Pixels: the right colours in the right places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azumaya.envs.errors import OptionError
from azumaya.envs.position import Position
from azumaya.envs.registry import GAMES
from azumaya.envs.render import Renderer, ansi_of, palette, png_of, raster, rgb_of, save, svg_of
from azumaya.envs.render.layout import HEIGHT, PANEL, WIDTH, layout_of
from azumaya.envs.scene import Stone
from tests.render.scenes import EMPTY, REGIONS, SCENES

pytest.importorskip("resvg_py")


def rgb(colour: str) -> tuple[int, ...]:
    """A colour of the palette as numbers."""
    return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))


def near(pixels: np.ndarray, at: tuple[float, float], right: float = 0, down: float = 0) -> tuple:
    """The pixel beside a point."""
    return tuple(int(v) for v in pixels[round(at[1] + down), round(at[0] + right)])


@pytest.mark.parametrize("name", SCENES)
def test_frames_have_the_size_of_the_picture(name: str) -> None:
    """(H, W, 3) uint8, writable and sharing no memory."""
    frame = Renderer("rgb_array").draw(SCENES[name])
    assert isinstance(frame, np.ndarray)
    assert frame.dtype == np.uint8
    assert frame.shape in ((HEIGHT, WIDTH, 3), (HEIGHT, WIDTH + PANEL, 3))
    frame[:] = 0


def test_cells_show_ground_stone_and_token() -> None:
    """Checked beside the number of a stone and in the corner of its cell."""
    pixels, layout = rgb_of(svg_of(REGIONS)), layout_of("sudoku81")
    pitch = layout.pitch
    for cell, what in enumerate(REGIONS.stones):
        at, ground = layout.centres[cell], palette.GROUNDS[REGIONS.grounds[cell]].fill
        if ground != palette.GROUNDS["free"].fill and cell not in REGIONS.last:
            assert near(pixels, at, pitch * 0.445, pitch * 0.445) == rgb(ground)
        if what is not None:
            fill = palette.PIECES[what.colour].fill
            assert near(pixels, at, down=-pitch * 0.31) == rgb(fill)
        elif cell in REGIONS.dead:
            assert near(pixels, at) == rgb(palette.DEAD)


def test_numbers_are_drawn_without_any_font() -> None:
    """The nine numbers give nine different pictures, although no fonts are loaded."""
    scenes = [replace(EMPTY, stones=(Stone("tile", n),) + (None,) * 80) for n in "123456789"]
    frames = {rgb_of(svg_of(scene)).tobytes() for scene in scenes}
    assert len(frames) == 9


def test_candidates_change_the_picture() -> None:
    """`Renderer.candidates` may be changed at any time."""
    renderer = Renderer("rgb_array")
    without = renderer.draw(REGIONS)
    renderer.candidates = True
    shown = renderer.draw(REGIONS)
    assert isinstance(without, np.ndarray)
    assert not np.array_equal(without, shown)
    assert np.array_equal(shown, Renderer("rgb_array", candidates=True).draw(REGIONS))


def test_save_writes_svg_and_png(tmp_path: Path) -> None:
    """The suffix decides the format; a PNG has the requested scale."""
    save(REGIONS, tmp_path / "board.svg", candidates=True)
    assert (tmp_path / "board.svg").read_text(encoding="utf-8") == svg_of(REGIONS, True)
    save(REGIONS, str(tmp_path / "board.png"), scale=0.5)
    data = (tmp_path / "board.png").read_bytes()
    assert data[:4] == b"\x89PNG"
    assert int.from_bytes(data[16:20], "big") == WIDTH // 2
    save(REGIONS, tmp_path / "upper.PNG", scale=0.5)
    assert (tmp_path / "upper.PNG").read_bytes() == data
    with pytest.raises(ValueError, match=r"must end in .svg or .png"):
        save(REGIONS, tmp_path / "board.gif")
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("scale", [1000, 0, -1, float("nan"), float("inf"), "2", True, None])
def test_a_scale_that_cannot_be_drawn_is_refused(scale: Any, tmp_path: Path) -> None:
    """The error names the scale and the largest possible one; no file is written."""
    most = raster.MAX_WIDTH // WIDTH
    with pytest.raises(OptionError, match=rf"scale={scale!r}: .* above 0 and at most {most}"):
        save(REGIONS, tmp_path / "board.png", scale=scale)
    assert list(tmp_path.iterdir()) == []
    save(REGIONS, tmp_path / "board.png", scale=1e-9)
    assert int.from_bytes((tmp_path / "board.png").read_bytes()[16:20], "big") == 1


@pytest.mark.parametrize("width", [0, -1, raster.MAX_WIDTH + 1, 2.5, True])
def test_a_width_that_cannot_be_drawn_is_refused(width: Any) -> None:
    """Refused before memory is allocated for it."""
    for draw in (png_of, rgb_of):
        with pytest.raises(OptionError, match=f"width={width}: a whole number from 1 to"):
            draw(svg_of(EMPTY), width)


def test_a_position_is_no_scene(tmp_path: Path) -> None:
    """Every renderer says that it needs a `Scene`."""
    position: Any = Position(next(iter(GAMES)))
    for draw in (svg_of, ansi_of, Renderer("ansi").draw, Renderer("rgb_array").draw):
        with pytest.raises(OptionError, match=r"Position given, a Scene is needed.*scene\(\)"):
            draw(position)
    with pytest.raises(OptionError, match="a Scene is needed"):
        save(position, tmp_path / "board.png")
    assert list(tmp_path.iterdir()) == []


def test_wrong_arguments_are_refused() -> None:
    """The error says what would be right."""
    with pytest.raises(ValueError, match="mode='video': must be 'human'"):
        Renderer("video")
    with pytest.raises(ValueError, match="fps=0: must be above 0"):
        Renderer("human", fps=0)
