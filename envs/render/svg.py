"""A scene as an SVG picture without fonts, ids or external files."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, cos, pi, sin, sqrt

from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.render import palette
from azumaya.envs.render.layout import (
    BOARD_LEFT,
    CAPTION,
    HEIGHT,
    HEX_CENTRE,
    HEX_RADIUS,
    PANEL,
    WIDTH,
    Layout,
    Point,
    check_scene,
    layout_of,
    rectangle_of,
)
from azumaya.envs.render.panel import panel
from azumaya.envs.render.pieces import (
    dead_token,
    element,
    last_ring,
    marble,
    pocket,
    square,
    stone,
    text,
)
from azumaya.envs.render.strokes import short, text_width
from azumaya.envs.scene import Scene

MARGIN = 14
FRAME_INSET = 2.6

Place = tuple[int, int]
"""Row and column, from the top left."""


def svg_of(scene: Scene, candidates: bool = False) -> str:
    """A scene as an SVG document.

    Every cell is a group `<g data-cell="e4">` that contains its ground, stone or token. The same
    scene gives the same text everywhere. The size is `WIDTH` x `HEIGHT` pixels; a scene with trays
    or more than one note is `PANEL` pixels wider.

    Args:
        scene: what to draw.
        candidates: whether to write the candidates into their cells.

    Raises:
        ValueError: the scene names a board, ground or colour that cannot be drawn, or has not
            as many cells as the board.
    """
    check_scene(scene)
    beside = bool(scene.trays) or len(scene.notes) > 1
    width = WIDTH + (PANEL if beside else 0)
    title = scene.notes[0] if scene.notes else str(scene.board)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
        f'viewBox="0 0 {width} {HEIGHT}" role="img">',
        f"<title>{escape(title, quote=False)}</title>",
        element("rect", width=width, height=HEIGHT, fill=palette.PAPER),
        *board_parts(scene, candidates),
        *_caption(scene, width),
        *(panel(scene) if beside else ()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _caption(scene: Scene, width: float) -> list[str]:
    note, room, height = scene.notes[0] if scene.notes else "", width - BOARD_LEFT - MARGIN, 12.5
    if not note:
        return []
    height *= min(1.0, room / text_width(note, height))
    return [text(note, (BOARD_LEFT, CAPTION), height, palette.INK, "start")]


def board_parts(scene: Scene, candidates: bool = False) -> list[str]:
    """The elements that a board is drawn with, from the bottom to the top."""
    layout = layout_of(scene.board)
    shown = _candidates(scene, layout) if candidates else {}
    cells = [cell_picture(scene, layout, n, shown.get(n, "")) for n in range(len(layout.centres))]
    ink = palette.GROUNDS["plain"].ink if scene.board == "hex61" else palette.FAINT_INK
    labels = [text(name, at, 11.5, ink) for name, at in layout.labels]
    names = [
        text(name, layout.centres[cell], 13, palette.FAINT_INK)
        for cell, name in free_names(scene).items()
    ]
    return [*under_cells(scene), *names, *cells, *last_marks(scene), *labels]


def under_cells(scene: Scene) -> list[str]:
    """What lies below the cells' contents: grounds and lines, or the hexagonal board."""
    if scene.board == "hex61":
        return _hexagon()
    return [*_grounds(scene, layout_of(scene.board)), *_lines(scene)]


def last_marks(scene: Scene) -> list[str]:
    """The marks of the last move."""
    layout = layout_of(scene.board)
    return (_last_rings if scene.board == "hex61" else _last_outline)(scene, layout)


def _last_rings(scene: Scene, layout: Layout) -> list[str]:
    return [last_ring(layout.centres[cell], layout.pitch) for cell in sorted(scene.last)]


def _last_outline(scene: Scene, layout: Layout) -> list[str]:
    """A frame just inside the cells of the last move; adjacent cells share one frame."""
    width = rectangle_of(scene.board).width
    marked = {divmod(cell, width) for cell in scene.last}
    sides = [
        _frame_side(layout, width, marked, (row, column), (down, right))
        for row, column in sorted(marked)
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1))
        if (row + down, column + right) not in marked
    ]
    looks = ((palette.LAST_EDGE, 5.8), (palette.LAST, 3.4))
    return [
        element("path", d="".join(sides), stroke=colour, stroke_width=line, stroke_linecap="round")
        for colour, line in looks
        if sides
    ]


def _frame_side(
    layout: Layout, width: int, marked: set[Place], place: Place, towards: Place
) -> str:
    """One side of the frame; it extends into the next cell along it if that is marked, too."""
    (row, column), (down, right) = place, towards
    x, y = layout.centres[row * width + column]
    half, d = layout.pitch / 2, ""
    for along in (-1, 1):
        goes_on = (row + along * abs(right), column + along * abs(down)) in marked
        length = along * (half if goes_on else half - FRAME_INSET)
        out = half - FRAME_INSET
        end_x = x + right * out + abs(down) * length
        end_y = y + down * out + abs(right) * length
        d += f"{'L' if d else 'M'}{short(end_x)} {short(end_y)}"
    return d


def _grounds(scene: Scene, layout: Layout) -> list[str]:
    parts = []
    for name, at in zip(scene.grounds, layout.centres, strict=True):
        parts.append(square(at, layout.pitch, fill=palette.ground(name).fill))
        if name == "free":
            parts.append(_hatching(at, layout.pitch))
    return parts


def _hatching(at: Point, pitch: float) -> str:
    """Two slanting lines, which mean that the region has no owner yet."""
    left, top, half = at[0] - pitch / 2, at[1] - pitch / 2, pitch / 2
    d = (
        f"M{short(left)} {short(top + half)}L{short(left + half)} {short(top)}"
        f"M{short(left + half)} {short(top + pitch)}L{short(left + pitch)} {short(top + half)}"
    )
    return element("path", d=d, fill="none", stroke="#d9d3c4", stroke_width=2)


def cell_picture(scene: Scene, layout: Layout, cell: int, candidates: str = "") -> str:
    """The group of a cell with its content, without its ground; with the picture of candidates."""
    at, pitch, what = layout.centres[cell], layout.pitch, scene.stones[cell]
    inside = ""
    if scene.board == "hex61":
        inside = marble(what, at, pitch) if what else pocket(at, pitch)
    elif what:
        inside = stone(what, at, pitch)
    elif cell in scene.dead:
        inside = dead_token(at, pitch)
    else:
        inside = candidates
    return f'<g data-cell="{layout.names[cell]}">{inside}</g>'


def shown_candidates(scene: Scene) -> dict[int, Sequence[int]]:
    """The candidates that are drawn, by cell: where a cell bears the name of a region, none are."""
    named = free_names(scene)
    return {
        cell: numbers for cell, numbers in scene.candidates.items() if numbers and cell not in named
    }


def candidate_places(scene: Scene) -> tuple[list[Point], float]:
    """Where small numbers stand in a cell, from its centre, 1 first, and their height, in pitches.

    Each has a fixed place, in rows as in Sudoku magazines: three of three for nine numbers.
    """
    if scene.board == "hex61":
        return [], 0.0
    largest = max((max(numbers) for numbers in scene.candidates.values() if numbers), default=0)
    most = max(*rectangle_of(scene.board).shape, largest)
    columns = ceil(sqrt(most))
    rows, step = ceil(most / columns), 0.29 * min(1.0, 3 / columns)
    places = [
        ((n % columns - (columns - 1) / 2) * step, (n // columns - (rows - 1) / 2) * step)
        for n in range(most)
    ]
    return places, 0.165 * step / 0.29


def _candidates(scene: Scene, layout: Layout) -> dict[int, str]:
    """The pictures of candidates, by cell."""
    places, height = candidate_places(scene)
    pitch, drawn = layout.pitch, dict[int, str]()
    for cell, numbers in shown_candidates(scene).items():
        ink, (x, y) = palette.ground(scene.grounds[cell]).ink, layout.centres[cell]
        at = [(x + right * pitch, y + down * pitch) for right, down in places]
        parts = (text(str(number), at[number - 1], pitch * height, ink) for number in numbers)
        drawn[cell] = "".join(parts)
    return drawn


# ---- lines of boards of rows and columns ----


def _lines(scene: Scene) -> list[str]:
    """Thin lines between cells, thicker ones around blocks, the thickest around regions."""
    grid, layout = rectangle_of(scene.board), layout_of(scene.board)
    own_regions = bool(scene.regions) and not _same_partition(scene.regions, grid.block_of)
    thin = _path(layout, _borders(grid.width, tuple(range(grid.cells))))
    blocks = _path(layout, _borders(grid.width, grid.block_of))
    parts = [
        element("path", d=thin, stroke=palette.LINE_COLOUR, stroke_opacity=0.28, stroke_width=1),
        element(
            "path",
            d=blocks,
            stroke=palette.LINE_COLOUR,
            stroke_width=1.4 if own_regions else 2.4,
            stroke_linecap="square",
            **({"stroke_dasharray": "5 4"} if own_regions else {}),
        ),
    ]
    if own_regions:
        d = _path(layout, _borders(grid.width, scene.regions))
        parts.append(
            element(
                "path", d=d, stroke=palette.LINE_COLOUR, stroke_width=4, stroke_linecap="square"
            )
        )
    return [*parts, _frame(grid, layout, 4 if own_regions else 3.2)]


def _frame(grid: Rectangle, layout: Layout, line: float) -> str:
    (x, y), (width, height) = layout.corner, (grid.width, grid.height)
    return element(
        "rect",
        x=x,
        y=y,
        width=width * layout.pitch,
        height=height * layout.pitch,
        rx=2,
        fill="none",
        stroke=palette.LINE_COLOUR,
        stroke_width=line,
    )


def _same_partition(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    pairs = set(zip(first, second, strict=True))
    return len(pairs) == len(set(first)) == len(set(second))


def _borders(width: int, houses: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The edges between cells of different houses, as (x, y, x, y) in cells from the top left."""
    edges = []
    for cell, house in enumerate(houses):
        row, column = divmod(cell, width)
        if column + 1 < width and houses[cell + 1] != house:
            edges.append((column + 1, row, column + 1, row + 1))
        if cell + width < len(houses) and houses[cell + width] != house:
            edges.append((column, row + 1, column + 1, row + 1))
    return _joined(edges)


def _joined(edges: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Collinear adjacent edges joined, so that dashes run on without a break."""
    upright = sorted(e for e in edges if e[0] == e[2])
    level = sorted((e for e in edges if e[1] == e[3]), key=lambda e: (e[1], e[0]))
    lines: list[tuple[int, int, int, int]] = []
    for edge in upright + level:
        if lines and lines[-1][2:] == edge[:2] and _parallel(lines[-1], edge):
            lines[-1] = (*lines[-1][:2], *edge[2:])
        else:
            lines.append(edge)
    return lines


def _parallel(first: tuple[int, int, int, int], second: tuple[int, int, int, int]) -> bool:
    return (first[0] == first[2]) == (second[0] == second[2])


def _path(layout: Layout, edges: list[tuple[int, int, int, int]]) -> str:
    (left, top), pitch = layout.corner, layout.pitch
    return "".join(
        f"M{short(left + x1 * pitch)} {short(top + y1 * pitch)}"
        f"L{short(left + x2 * pitch)} {short(top + y2 * pitch)}"
        for x1, y1, x2, y2 in edges
    )


def free_names(scene: Scene) -> dict[int, str]:
    """The names of the regions that may still be drafted, each by its first empty cell."""
    first: dict[int, int] = {}
    for cell, region in enumerate(scene.regions):
        if scene.grounds[cell] == "free" and scene.stones[cell] is None:
            first.setdefault(region, cell)
    return {cell: f"r{region}" for region, cell in first.items()}


def _hexagon() -> list[str]:
    """The hexagonal board, with flat sides at the top and bottom."""
    x, y = HEX_CENTRE
    points = " ".join(
        f"{short(x + HEX_RADIUS * cos(pi * n / 3))},{short(y + HEX_RADIUS * sin(pi * n / 3))}"
        for n in range(6)
    )
    return [
        element(
            "polygon",
            points=points,
            fill=palette.RIM,
            stroke=palette.RIM,
            stroke_width=16,
            stroke_linejoin="round",
        )
    ]
