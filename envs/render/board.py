"""A position as data for the board in the browser: pictures of its parts, and the legal moves.

`web/board.js` shows it. The pictures are those of the SVG renderer, cell by cell, so that a board
can be turned round and its cells can be clicked.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from azumaya.envs.render import palette
from azumaya.envs.render.layout import BOARD_LEFT, BOARD_SIZE, BOARD_TOP, HEX_CENTRE, layout_of
from azumaya.envs.render.pieces import marble, stone
from azumaya.envs.render.pointing import Shown, pointed
from azumaya.envs.render.strokes import short
from azumaya.envs.render.svg import (
    candidate_places,
    cell_picture,
    free_names,
    last_marks,
    shown_candidates,
    under_cells,
)
from azumaya.envs.scene import Scene, Stone

MARGIN = 30
"""Room around the board for the labels, on either side, as the board may be turned round."""
TRAY_PITCH = 40
BOARD_SCRIPTS = (
    "elements.js", "choosing.js", "drag.js", "surface.js", "hints.js", "motion.js", "board.js",
)  # fmt: skip
"""The files that make the board, each after those that it imports."""
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)


def view_of(
    position: Shown, last_action: int | None = None, *, movable: bool = True
) -> dict[str, Any]:
    """What `web/board.js` shows: a position, how to point at its moves, and whose turn it is.

    Args:
        position: the position.
        last_action: the action that led to it, whose cells are marked.
        movable: whether the viewer may move; if not, no moves are listed.
    """
    return view_of_scene(position, position.scene(last_action), movable=movable)


def view_of_scene(position: Shown, scene: Scene, *, movable: bool = True) -> dict[str, Any]:
    """As `view_of`, with the cells that the scene marks as the last move's."""
    moves = pointed(position, scene) if movable else []
    return {
        **picture_of(scene),
        "moves": [[move.name, move.label, [list(path) for path in move.paths]] for move in moves],
    }


def picture_of(scene: Scene) -> dict[str, Any]:
    """A scene as data: what is drawn, where, and what to call it."""
    layout = layout_of(scene.board)
    hexagonal = scene.board == "hex61"
    x, y = HEX_CENTRE if hexagonal else (BOARD_LEFT + BOARD_SIZE / 2, BOARD_TOP + BOARD_SIZE / 2)
    reach = BOARD_SIZE / 2 + MARGIN
    places, height = candidate_places(scene)
    return {
        "status": scene.notes[0] if scene.notes else "",
        "notes": list(scene.notes[1:]),
        "trays": [
            [label, [[piece_svg(piece, hexagonal), spoken(piece)] for piece in pieces]]
            for label, pieces in scene.trays
        ],
        "box": [x - reach, y - reach, 2 * reach, 2 * reach],
        "centre": [x, y],
        "pitch": layout.pitch,
        "round": hexagonal,
        "under": "".join(under_cells(scene)),
        "marks": "".join(last_marks(scene)),
        "labels": [[name, *_rounded(at)] for name, at in layout.labels],
        "names": [[name, *_rounded(layout.centres[c])] for c, name in free_names(scene).items()],
        "cells": [
            [
                *(name, *_rounded(at), cell_picture(scene, layout, cell)),
                *(_content(scene, cell), _region(scene, cell)),
            ]
            for cell, (name, at) in enumerate(zip(layout.names, layout.centres, strict=True))
        ],
        "candidates": [
            [cell, list(numbers), palette.ground(scene.grounds[cell]).ink]
            for cell, numbers in shown_candidates(scene).items()
        ],
        "candidatePlaces": [list(place) for place in places],
        "candidateHeight": height,
        "last": sorted(scene.last),
    }


def _rounded(at: tuple[float, float]) -> list[float]:
    return [float(short(value)) for value in at]


def _content(scene: Scene, cell: int) -> str:
    """What is on a cell, in words."""
    what = scene.stones[cell]
    if what is not None:
        return spoken(what)
    return "dead" if cell in scene.dead else ""


def _region(scene: Scene, cell: int) -> str:
    """Whose region a cell is in, in words, unless its stone says so; in a draft, also which one."""
    if not scene.has_owners:
        return ""
    ground, what = scene.grounds[cell], scene.stones[cell]
    if "free" in scene.grounds:
        return f"{ground} region r{scene.regions[cell]}"
    return "" if what is not None and what.colour == ground else f"{ground} region"


def spoken(what: Stone) -> str:
    """A stone in words."""
    words = (what.colour, what.label or "", "given" if what.given else "")
    return " ".join(word for word in words if word)


def piece_svg(what: Stone, hexagonal: bool = False) -> str:
    """A picture of one piece."""
    middle = (TRAY_PITCH / 2, TRAY_PITCH / 2)
    drawn = (marble if hexagonal else stone)(what, middle, TRAY_PITCH)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {TRAY_PITCH} {TRAY_PITCH}">'
        f"{drawn}</svg>"
    )


@cache
def web_file(name: str) -> str:
    """The text of a file of the folder `web`, such as `board.js`."""
    return files("azumaya.envs.render").joinpath("web", name).read_text(encoding="utf-8")


@cache
def web_script(*names: str) -> str:
    """Modules of the folder `web` as one, for a page that loads no others.

    Args:
        names: the files, each of them after those that it imports.
    """
    return _IMPORT.sub("", "\n".join(map(web_file, names)))
