"""The move that was made and a better one, drawn over the board before them.

What a move places is drawn as a disc with its label, and what it moves as an arrow. The move that
was made has broken lines and a cross, the better one unbroken lines and a tick; the colours differ
as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import hypot
from typing import Literal

from azumaya.envs.render import palette
from azumaya.envs.render.layout import Layout, Point, layout_of
from azumaya.envs.render.pieces import Attribute, disc, element, number
from azumaya.envs.render.pointing import Path, Pointed
from azumaya.envs.render.strokes import short
from azumaya.envs.scene import Scene

Kind = Literal["played", "better"]
COLOURS: dict[Kind, str] = {"played": palette.LAST, "better": palette.BETTER}
SIGNS: dict[Kind, tuple[tuple[Point, ...], ...]] = {
    "played": (((-0.07, -0.07), (0.07, 0.07)), ((0.07, -0.07), (-0.07, 0.07))),
    "better": (((-0.08, 0.01), (-0.02, 0.07), (0.08, -0.06)),),
}
"""A cross and a tick: lines through points, in pitches from the middle of their disc."""
ROUND = {"fill": "none", "stroke_linecap": "round", "stroke_linejoin": "round"}


def judged(scene: Scene, played: Pointed, better: Pointed) -> list[str]:
    """The elements of both moves, which lie above those of the board.

    Args:
        scene: the position before the move.
        played, better: how to point at the two.
    """
    layout = layout_of(scene.board)
    shared = set(_drawn(played)) & set(_drawn(better))
    kinds: tuple[tuple[Kind, Pointed, int], ...] = (("better", better, 1), ("played", played, -1))
    return [
        part
        for kind, move, side in kinds
        for cells in _drawn(move)
        for part in (
            _arrow(layout, cells, kind)
            if len(cells) > 1
            else _disc(layout, cells[0], move.label, kind, side if cells in shared else 0)
        )
    ]


def sign(kind: Kind, at: Point, pitch: float) -> str:
    """The cross or the tick, by which the two can be told apart without colours."""
    d = "".join(
        _path([(at[0] + x * pitch, at[1] + y * pitch) for x, y in points]) for points in SIGNS[kind]
    )
    ground = disc(at, pitch * 0.15, fill=COLOURS[kind], stroke="#ffffff", stroke_width=pitch / 40)
    return ground + element("path", d=d, stroke="#ffffff", stroke_width=pitch * 0.045, **ROUND)


def _drawn(move: Pointed) -> list[Path]:
    """What is drawn of a move: the ends of an arrow, or else each of its cells.

    Nothing is drawn of a move that has a button of its own.
    """
    first = move.paths[0]
    return [(first[0], first[-1])] if len(first) > 1 else [p for p in move.paths if len(p) == 1]


def _disc(layout: Layout, cell: int, label: str, kind: Kind, side: int) -> Iterator[str]:
    """A disc in the middle of a cell, or smaller to one side, where both moves are in the cell."""
    (x, y), pitch = layout.centres[cell], layout.pitch
    radius = pitch * (0.24 if side else 0.37)
    at = (x + side * pitch * 0.23, y)
    edge: dict[str, Attribute] = {"stroke": palette.LAST_EDGE, "stroke_width": pitch * 0.16}
    yield disc(at, radius, fill=palette.LAST_EDGE, fill_opacity=0.9, **edge)
    yield disc(at, radius, fill="none", **_line(kind, pitch))
    if label:
        yield number(label, at, pitch * (0.3 if side else 0.36), palette.INK)
    yield sign(kind, (at[0] + radius * 0.75 * (side or 1), at[1] - radius * 0.75), pitch)


def _arrow(layout: Layout, cells: Path, kind: Kind) -> Iterator[str]:
    """An arrow that leaves the middles of both cells free."""
    (x, y), (to_x, to_y), pitch = *(layout.centres[cell] for cell in cells), layout.pitch
    length = hypot(to_x - x, to_y - y) / pitch
    right, down = (to_x - x) / length, (to_y - y) / length

    def at(along: float, aside: float = 0) -> Point:
        """A point in pitches before the end and beside the line."""
        return to_x - right * along - down * aside, to_y - down * along + right * aside

    shaft = _path([at(length - 0.2), at(0.16)])
    head = _path([at(0.38, 0.17), at(0.12), at(0.38, -0.17)])
    edge: dict[str, Attribute] = {"stroke": palette.LAST_EDGE, "stroke_width": pitch * 0.18}
    yield element("path", d=shaft + head, **edge, **ROUND)
    yield element("path", d=shaft, **_line(kind, pitch), **ROUND)
    yield element("path", d=head, **{**_line(kind, pitch), "stroke_dasharray": "none"}, **ROUND)
    yield sign(kind, at(length - 0.3), pitch)


def _line(kind: Kind, pitch: float) -> dict[str, Attribute]:
    """How the lines of a move look."""
    look: dict[str, Attribute] = {"stroke": COLOURS[kind], "stroke_width": pitch * 0.085}
    if kind == "played":
        look["stroke_dasharray"] = f"{short(pitch * 0.13)} {short(pitch * 0.15)}"
    return look


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
