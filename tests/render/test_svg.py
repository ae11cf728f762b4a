"""SVG pictures: every element in its place."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from azumaya.envs.geometry import hex61
from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.geometry.sudoku81 import GRID
from azumaya.envs.render import palette, svg_of
from azumaya.envs.render.board import picture_of
from azumaya.envs.render.layout import (
    BOARD_LEFT,
    BOARD_SIZE,
    BOARD_TOP,
    HEIGHT,
    PANEL,
    WIDTH,
    layout_of,
)
from azumaya.envs.render.strokes import text_path
from azumaya.envs.render.svg import FRAME_INSET, candidate_places
from azumaya.envs.scene import Scene, Stone
from tests.render.scenes import (
    BLANKS,
    EMPTY,
    MARBLES,
    REGIONS,
    SCENES,
    SVG,
    TALL,
    TILES,
    WIDE,
    inside,
    middles,
    root,
    shapes,
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


def test_square_cells_lie_in_rows_from_the_top_left() -> None:
    """a9 is left of b9 and above a8; nine cells fill the width of the board."""
    layout = layout_of("sudoku81")
    at = dict(zip(layout.names, layout.centres, strict=True))
    assert at["b9"] == (at["a9"][0] + layout.pitch, at["a9"][1])
    assert at["a8"] == (at["a9"][0], at["a9"][1] + layout.pitch)
    labels = {(name, at) for name, at in layout.labels}
    assert {name for name, _ in labels} == set("abcdefghi123456789")
    assert all(x == at[f"{n}1"][0] for n, (x, _) in labels if n in "abcdefghi")
    assert all(y == at[f"a{n}"][1] for n, (_, y) in labels if n in "123456789")


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


def test_hexagonal_labels_stand_at_the_ends_of_their_lines() -> None:
    """Letters are left of their row's first cell, numbers below right of their diagonal's last."""
    layout = layout_of("hex61")
    at = dict(zip(layout.names, layout.centres, strict=True))
    labels = dict(layout.labels)
    firsts = ("a1", "b1", "c1", "d1", "e1", "f2", "g3", "h4", "i5")
    for first in firsts:
        x, y = labels[first[0]]
        assert y == pytest.approx(at[first][1])
        assert 0 < at[first][0] - x < layout.pitch
    for last in ("a1", "a2", "a3", "a4", "a5", "b6", "c7", "d8", "e9"):
        x, y = labels[last[1]]
        assert 0 < x - at[last][0] < layout.pitch
        assert 0 < y - at[last][1] < layout.pitch


def test_givens_are_square_and_laid_stones_round() -> None:
    """Their shapes differ, whatever the colour."""
    svg = svg_of(REGIONS)
    assert "rect" in shapes(inside(svg, "a9"))
    assert "circle" not in shapes(inside(svg, "a9"))
    assert "circle" in shapes(inside(svg, "b9"))
    assert "rect" not in shapes(inside(svg, "b9"))


def test_given_tiles_have_a_frame() -> None:
    """All tiles are square; those given at the start have an additional square."""
    svg = svg_of(TILES)
    squares = [sum(e.tag == f"{SVG}rect" for e in inside(svg, name)) for name in ("d9", "e9")]
    assert squares == [3, 2]


def test_stones_bear_their_numbers_and_blanks_none() -> None:
    """The number is drawn in the ink of the stone."""
    svg, layout = svg_of(BLANKS), layout_of("dominari36")
    number = [e for e in inside(svg, "c4") if e.tag == f"{SVG}path"]
    x, y = layout.centres[14]
    assert [e.get("d") for e in number] == [text_path("3", x, y, layout.pitch * 0.4, "middle")]
    assert number[0].get("stroke") == palette.PIECES["white"].ink
    assert shapes(inside(svg, "c3")) == {"circle"}


def test_dead_cells_bear_a_token() -> None:
    """The token is a Moyo stone, smaller than other stones."""
    svg = svg_of(REGIONS)
    for name in ("b8", "e5"):
        (token,) = inside(svg, name)
        assert token.get("fill") == palette.DEAD
        assert float(token.attrib["r"]) < 12


def test_candidates_are_shown_on_request_only() -> None:
    """Each candidate is a small number at its own place."""
    assert inside(svg_of(REGIONS), "c8") == []
    svg = svg_of(REGIONS, candidates=True)
    assert [len(inside(svg, name)) for name in ("c8", "d8", "e8")] == [3, 1, 0]
    every = replace(EMPTY, candidates={0: tuple(range(1, 10))})
    starts = [e.attrib["d"].split("C")[0] for e in inside(svg_of(every, True), "a9")]
    assert len(set(starts)) == 9
    assert len(inside(svg_of(BLANKS, candidates=True), "f1")) == 2


@pytest.mark.parametrize(
    ("height", "width", "rows", "columns"),
    [(4, 4, 2, 2), (2, 9, 3, 3), (6, 6, 2, 3), (16, 16, 4, 4)],
)
def test_candidates_stand_in_rows_inside_their_cell(
    height: int, width: int, rows: int, columns: int
) -> None:
    """On boards of any size: as many as the board has numbers."""
    cells, numbers = height * width, range(1, max(height, width) + 1)
    scene = Scene(
        board=Rectangle(height, width), grounds=("plain",) * cells, stones=(None,) * cells,
        candidates={0: tuple(numbers)},
    )  # fmt: skip
    places, size = candidate_places(scene)
    assert len(places) == len(numbers)
    assert [len({round(at[way], 6) for at in places}) for way in (0, 1)] == [columns, rows]
    assert sorted(places, key=lambda at: (round(at[1], 6), at[0])) == places
    for way in (0, 1):
        assert sum(at[way] for at in places) == pytest.approx(0, abs=1e-9)
        assert max(abs(at[way]) for at in places) + size / 2 < 0.45
    assert len(inside(svg_of(scene, candidates=True), f"a{height}")) == len(numbers)


def test_a_number_beyond_the_size_of_the_board_has_its_place() -> None:
    scene = replace(EMPTY, candidates={0: (10,)})
    assert len(candidate_places(scene)[0]) == 10
    assert len(inside(svg_of(scene, candidates=True), "a9")) == 1


def test_names_of_regions_and_candidates_keep_apart() -> None:
    """A cell that bears a name shows no candidates."""
    free = dict.fromkeys((63, 64, 72), (1, 2))
    shown = svg_of(replace(REGIONS, candidates=free), candidates=True)
    assert [len(inside(shown, name)) for name in ("a2", "b2", "a1")] == [0, 2, 0]
    assert [cell for cell, _, _ in picture_of(replace(REGIONS, candidates=free))["candidates"]] == [
        64
    ]


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


@pytest.mark.parametrize("scene", [MARBLES, BLANKS], ids=["ring", "frame"])
def test_the_mark_of_the_last_move_has_an_edge(scene: Scene) -> None:
    """It lies below, and is wider."""
    shapes = [dict(e.attrib) for e in root(svg_of(scene)).iter()]
    colours = (palette.LAST_EDGE, palette.LAST)
    edge, mark = (next(s for s in shapes if s.get("stroke") == colour) for colour in colours)
    assert shapes.index(edge) < shapes.index(mark)
    assert float(edge.pop("stroke-width")) > float(mark.pop("stroke-width"))
    assert {**edge, "stroke": palette.LAST} == mark


def test_the_frame_of_a_region_runs_around_it() -> None:
    """A block of nine cells has twelve outer sides, two single cells have eight."""

    def sides(cells: set[int]) -> int:
        tree = root(svg_of(replace(EMPTY, last=frozenset(cells))))
        (frame,) = [e for e in tree if e.get("stroke") == palette.LAST]
        return frame.attrib["d"].count("M")

    assert sides(set(GRID.blocks[0])) == 12
    assert sides({0, 80}) == 8


def test_the_frame_stays_within_the_marked_cells() -> None:
    """The frame of a single cell is a square, smaller than the cell on every side."""
    layout = layout_of("sudoku81")
    tree = root(svg_of(replace(EMPTY, last=frozenset({40}))))
    (frame,) = [e for e in tree if e.get("stroke") == palette.LAST]
    corners = {
        (float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", frame.attrib["d"])
    }
    x, y = layout.centres[40]
    half = layout.pitch / 2 - FRAME_INSET
    wanted = [(x + a * half, y + b * half) for a in (-1, 1) for b in (-1, 1)]
    assert sorted(corners) == [pytest.approx(corner, abs=0.02) for corner in wanted]


def test_equal_scenes_give_equal_pictures() -> None:
    """Also if equal sets have a different order in memory."""
    one, other = frozenset([0, 8]), frozenset([8, 0])
    assert list(one) != list(other)
    for scene in (MARBLES, EMPTY):
        assert svg_of(replace(scene, last=one)) == svg_of(replace(scene, last=other))


def _lines(scene: Scene) -> list[str]:
    """The lines of the board, thinnest first: their paths."""
    tree = root(svg_of(scene))
    return [
        e.attrib["d"] for e in tree if e.get("stroke") == palette.LINE_COLOUR and "d" in e.attrib
    ]


def test_regions_other_than_blocks_have_borders() -> None:
    """Regions that are the blocks need no borders of their own."""
    same = replace(REGIONS, regions=tuple(block + 1 for block in GRID.block_of))
    assert len(_lines(replace(REGIONS, regions=()))) == len(_lines(same)) == 2
    thin, blocks, regions = _lines(REGIONS)
    assert regions.count("M") == 8  # between nine rows
    assert blocks.count("M") == 4
    assert thin.count("M") == 16


def test_regions_still_free_show_their_names() -> None:
    """The name of a region, which is also that of the move, is on its first empty cell."""
    svg, layout = svg_of(REGIONS), layout_of("sudoku81")
    for cell, name in ((63, "r8"), (72, "r9")):
        x, y = layout.centres[cell]
        assert text_path(name, x, y, 13, "middle") in svg
    assert svg.count(text_path("r1", *layout.centres[2], 13, "middle")) == 0


def _size(scene: Scene) -> tuple[int, int]:
    tree = root(svg_of(scene))
    return int(tree.attrib["width"]), int(tree.attrib["height"])


def test_the_size_depends_on_the_panel_only() -> None:
    """The number of pieces and words does not change the size."""
    assert _size(REGIONS) == _size(EMPTY) == (WIDTH, HEIGHT)
    assert {_size(scene) for scene in (BLANKS, MARBLES, TILES)} == {(WIDTH + PANEL, HEIGHT)}
    assert _size(replace(MARBLES, trays=(("black out", ()),))) == (WIDTH + PANEL, HEIGHT)


@pytest.mark.parametrize("pieces", [0, 1, 9, 81, 300])
def test_trays_hold_their_pieces_within_the_picture(pieces: int) -> None:
    """Pieces get smaller the more there are; an empty tray is possible."""
    scene = replace(TILES, trays=(("left", (Stone("tile", "5"),) * pieces), ("none", ())))
    groups = [g for g in root(svg_of(scene)).iter(f"{SVG}g") if g.get("data-tray")]
    places = [middles(list(g), palette.PIECES["tile"].fill)[0] for g in groups]
    assert len(set(places)) == pieces
    assert all(WIDTH < x < WIDTH + PANEL - 10 and 0 < y < HEIGHT - 30 for x, y in places)


def test_a_first_note_may_be_empty() -> None:
    assert svg_of(replace(REGIONS, notes=("",))).count("<path") < svg_of(REGIONS).count("<path")


def test_notes_are_drawn_and_the_first_is_the_title() -> None:
    """Special characters in notes are escaped."""
    scene = replace(REGIONS, notes=("1 < 2 & 3", "beside the board"))
    svg = svg_of(scene)
    assert root(svg).findtext(f"{SVG}title") == "1 < 2 & 3"
    long = replace(REGIONS, notes=("many words " * 20,))
    note = next(e for e in root(svg_of(long)) if e.get("stroke") == palette.INK)
    corners = re.findall(r"[ML]([\d.]+) ", note.attrib["d"])
    assert max(map(float, corners)) < WIDTH


@pytest.mark.parametrize("scene", [WIDE, TALL], ids=["wide", "tall"])
def test_boards_of_any_shape(scene: Scene) -> None:
    """Square cells that fill the longer side, in the middle; every cell in its frame, and named."""
    assert isinstance(scene.board, Rectangle)
    height, width = scene.board.shape
    layout = layout_of(scene.board)
    pitch = BOARD_SIZE / 5
    left, top = layout.corner
    assert (left - BOARD_LEFT) * 2 == pytest.approx(BOARD_SIZE - width * pitch)
    assert (top - BOARD_TOP) * 2 == pytest.approx(BOARD_SIZE - height * pitch)
    assert layout.names[0] == f"a{height}"
    assert layout.names[-1] == f"{'abcde'[width - 1]}1"
    for cell, (x, y) in enumerate(layout.centres):
        row, column = divmod(cell, width)
        assert (x, y) == pytest.approx((left + (column + 0.5) * pitch, top + (row + 0.5) * pitch))
    tree = root(svg_of(scene))
    frame = next(e for e in tree if e.get("rx") == "2" and e.get("fill") == "none")
    assert float(frame.attrib["width"]) == pytest.approx(width * pitch, abs=0.01)
    assert float(frame.attrib["height"]) == pytest.approx(height * pitch, abs=0.01)
    with pytest.raises(ValueError, match=f"{height}x{width} has 15 cells, but 14 stones"):
        svg_of(replace(scene, stones=scene.stones[1:]))


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


PROGRAM = """
import hashlib
from azumaya.envs.render import ansi_of, svg_of
from tests.render.scenes import SCENES
text = "".join(svg_of(s, True) + ansi_of(s, True, True) for s in SCENES.values())
print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_pictures_are_the_same_in_every_process() -> None:
    """The order of sets, which differs between processes, does not matter."""
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert len(digests) == 1
    assert len(digests.pop()) == hashlib.sha256().digest_size * 2
