"""SVG pictures: every element in its place."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from azumaya.envs.geometry import hex61
from azumaya.envs.render import palette, svg_of
from azumaya.envs.render.layout import (
    HEIGHT,
    PANEL,
    WIDTH,
    layout_of,
)
from azumaya.envs.render.strokes import text_path
from azumaya.envs.scene import Scene, Stone
from tests.render.scenes import (
    BLANKS,
    EMPTY,
    MARBLES,
    REGIONS,
    SCENES,
    SVG,
    TILES,
    inside,
    middles,
    root,
)


@pytest.mark.parametrize("name", SCENES)
def test_every_cell_is_there_once(name: str) -> None:
    """Cells come in the board's order, each with the name of its square."""
    svg = svg_of(SCENES[name], candidates=True)
    cells = [g.get("data-cell") for g in root(svg).iter(f"{SVG}g") if g.get("data-cell")]
    assert cells == list(layout_of(SCENES[name].board).names)


@pytest.mark.parametrize("name", SCENES)
def test_pictures_need_nothing_from_outside(name: str) -> None:
    """There are no fonts, no links, and no ids, which could collide on a page."""
    tree = root(svg_of(SCENES[name], candidates=True))
    tags = {element.tag.removeprefix(SVG) for element in tree.iter()}
    assert tags <= {"svg", "title", "rect", "circle", "path", "polygon", "g"}
    names = {name for element in tree.iter() for name in element.attrib}
    assert not names & {"id", "href", "style", "class", "font-family"}


@pytest.mark.parametrize("name", SCENES)
def test_stones_lie_in_the_middle_of_their_cells(name: str) -> None:
    """The other cells are empty."""
    scene = SCENES[name]
    svg, layout = svg_of(scene), layout_of(scene.board)
    for cell, what in enumerate(scene.stones):
        parts = inside(svg, layout.names[cell])
        if what is None:
            assert len(parts) in ((2,) if scene.board == "hex61" else (0, 1))
            continue
        look = palette.PIECES[what.colour]
        fill = look.shade if scene.board == "hex61" else look.fill
        assert middles(parts, fill) == [pytest.approx(layout.centres[cell], abs=0.02)]


def test_hexagonal_cells_lie_beside_their_neighbours() -> None:
    """The six neighbours are one pitch away, in the right directions."""
    layout = layout_of("hex61")
    for cell, neighbours in enumerate(hex61.NEIGHBOUR):
        for direction, other in enumerate(neighbours):
            if other is None:
                continue
            (x, y), (to_x, to_y) = layout.centres[cell], layout.centres[other]
            assert (to_x - x) ** 2 + (to_y - y) ** 2 == pytest.approx(layout.pitch**2)
            wanted = hex61.DIRECTION_NAMES[direction]
            assert ("E" in wanted) == (to_x > x)
            assert ("N" in wanted) == (to_y < y - 1)
            assert ("S" in wanted) == (to_y > y + 1)


def test_candidates_are_shown_on_request_only() -> None:
    """Each candidate is a small number at its own place."""
    assert inside(svg_of(REGIONS), "c8") == []
    svg = svg_of(REGIONS, candidates=True)
    assert [len(inside(svg, name)) for name in ("c8", "d8", "e8")] == [3, 1, 0]
    every = replace(EMPTY, candidates={0: tuple(range(1, 10))})
    starts = [e.attrib["d"].split("C")[0] for e in inside(svg_of(every, True), "a9")]
    assert len(set(starts)) == 9
    assert len(inside(svg_of(BLANKS, candidates=True), "f1")) == 2


def test_grounds_have_the_colours_of_their_owners() -> None:
    """Every cell has a square below everything else."""
    tree = root(svg_of(REGIONS))
    layout = layout_of("sudoku81")
    grounds = {
        middle: name
        for name, look in palette.GROUNDS.items()
        for middle in middles([e for e in tree if e.tag == f"{SVG}rect"], look.fill)
    }
    assert [grounds[at] for at in layout.centres] == list(REGIONS.grounds)


def _marked(scene: Scene) -> list[str]:
    return [e.tag.removeprefix(SVG) for e in root(svg_of(scene)) if e.get("stroke") == palette.LAST]


def test_the_last_move_is_marked() -> None:
    """By rings on the hexagonal board, by one frame around all cells of the move on others."""
    assert _marked(MARBLES) == ["circle"]
    assert _marked(replace(MARBLES, last=frozenset({30, 31}))) == ["circle", "circle"]
    assert _marked(BLANKS) == ["path"]
    assert _marked(EMPTY) == []


def test_regions_still_free_show_their_names() -> None:
    """The name of a region, which is also that of the move, is on its first empty cell."""
    svg, layout = svg_of(REGIONS), layout_of("sudoku81")
    for cell, name in ((63, "r8"), (72, "r9")):
        x, y = layout.centres[cell]
        assert text_path(name, x, y, 13, "middle") in svg
    assert svg.count(text_path("r1", *layout.centres[2], 13, "middle")) == 0


@pytest.mark.parametrize("pieces", [0, 1, 9, 81, 300])
def test_trays_hold_their_pieces_within_the_picture(pieces: int) -> None:
    """Pieces get smaller the more there are; an empty tray is possible."""
    scene = replace(TILES, trays=(("left", (Stone("tile", "5"),) * pieces), ("none", ())))
    groups = [g for g in root(svg_of(scene)).iter(f"{SVG}g") if g.get("data-tray")]
    places = [middles(list(g), palette.PIECES["tile"].fill)[0] for g in groups]
    assert len(set(places)) == pieces
    assert all(WIDTH < x < WIDTH + PANEL - 10 and 0 < y < HEIGHT - 30 for x, y in places)


def test_notes_are_drawn_and_the_first_is_the_title() -> None:
    """Special characters in notes are escaped."""
    scene = replace(REGIONS, notes=("1 < 2 & 3", "beside the board"))
    svg = svg_of(scene)
    assert root(svg).findtext(f"{SVG}title") == "1 < 2 & 3"
    long = replace(REGIONS, notes=("many words " * 20,))
    note = next(e for e in root(svg_of(long)) if e.get("stroke") == palette.INK)
    corners = re.findall(r"[ML]([\d.]+) ", note.attrib["d"])
    assert max(map(float, corners)) < WIDTH


def test_scenes_that_fit_no_board_are_refused() -> None:
    """The error says what is wrong."""
    with pytest.raises(ValueError, match="sudoku81 has 81 cells, but 80 grounds"):
        svg_of(replace(EMPTY, grounds=("plain",) * 80))
    with pytest.raises(ValueError, match="hex61 has 61 cells, but 81 grounds"):
        svg_of(replace(EMPTY, board="hex61"))
    with pytest.raises(ValueError, match="but 1 stones"):
        svg_of(replace(EMPTY, stones=(None,)))
    with pytest.raises(ValueError, match="2 regions; must be 81 or none"):
        svg_of(replace(EMPTY, regions=(1, 2)))
    with pytest.raises(ValueError, match="board 'chess64': must be one of sudoku81"):
        svg_of(replace(EMPTY, board="chess64"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="colour 'purple'"):
        svg_of(replace(EMPTY, stones=(Stone("purple"),) + (None,) * 80))
