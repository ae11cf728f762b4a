"""A scene as text for terminals, with or without colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from azumaya.envs.geometry.grid import Rectangle
from azumaya.envs.geometry.hex61 import ROW_LENGTHS
from azumaya.envs.render import palette
from azumaya.envs.render.layout import check_scene, rectangle_of
from azumaya.envs.render.svg import free_names
from azumaya.envs.scene import Scene, Stone

BARE_WIDTH, CELL_WIDTH = 4, 5
"""Characters of a cell without and with colours."""
HEX_WIDTH = 4


def wants_colour(stream: TextIO | None = None, environ: Mapping[str, str] | None = None) -> bool:
    """Whether to use colours on a stream, by default standard output.

    A non-empty `NO_COLOR` turns colours off; otherwise a non-empty `FORCE_COLOR` turns them on
    (`0` turns them off). If neither is set, the stream must be a terminal and `TERM` not `dumb`.
    """
    environ = os.environ if environ is None else environ
    stream = sys.stdout if stream is None else stream
    if environ.get("NO_COLOR"):
        return False
    forced = environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return environ.get("TERM") != "dumb" and bool(stream is not None and stream.isatty())


def _coloured(text: str, ink: int, back: int, bold: bool) -> str:
    return f"\x1b[{'1;' if bold else ''}38;5;{ink};48;5;{back}m{text}\x1b[0m"


def ansi_of(scene: Scene, candidates: bool = False, colour: bool | None = None) -> str:
    """A scene as lines of text, each ended by a newline.

    Args:
        scene: what to draw.
        candidates: whether to write the candidates into their cells.
        colour: whether to use the terminal's colours; None decides by `wants_colour()`.

    Raises:
        ValueError: the scene names a board, ground or colour that cannot be drawn, or has not
            as many cells as the board.
    """
    check_scene(scene)
    colour = wants_colour() if colour is None else colour
    board = _hex(scene, colour) if scene.board == "hex61" else _rows(scene, candidates, colour)
    trays = [_tray(label, pieces, colour) for label, pieces in scene.trays]
    legend = [] if colour else [_legend(scene)]
    lines = [*scene.notes[:1], *board, *scene.notes[1:], *trays, *legend]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _edged(inside: str, ground: palette.Ground, last: bool) -> str:
    """What is inside a cell, between the edges that mark the last move."""
    left, right = (
        _coloured(mark if last else " ", palette.LAST_ANSI, ground.ansi, True) for mark in "><"
    )
    return left + inside + right


# ---- pieces ----


def _word(what: Stone) -> str:
    """A stone without colours: its number and its colour's letter, upper case for a given."""
    letter = palette.piece(what.colour).letter
    return (what.label or "o") + (letter.upper() if what.given else letter)


def _tray(label: str, pieces: tuple[Stone, ...], colour: bool) -> str:
    if not colour:
        return f"{label}: {' '.join(map(_word, pieces)) or '-'}"
    looks = [(what, palette.piece(what.colour)) for what in pieces]
    shown = (
        _coloured(f" {what.label or 'o'} ", look.ansi_ink, look.ansi, False) for what, look in looks
    )
    return f"{label}: {' '.join(shown) or '-'}"


def _legend(scene: Scene) -> str:
    """What the marks of a board without colours mean; only marks that occur are listed."""
    stones = [what for what in scene.stones if what]
    stones += [what for _, pieces in scene.trays for what in pieces]
    names = {palette.piece(what.colour).letter: what.colour for what in stones}
    words = [f"{letter} {name}" for letter, name in sorted(names.items())]
    words += ["capital: given"] if any(what.given for what in stones) else []
    marks = {palette.ground(name).mark: name for name in scene.grounds}
    if len(marks) > 1:
        words += [f"{mark} {name} ground" for mark, name in sorted(marks.items())]
    words += ["x dead"] if scene.dead else []
    words += ["> last move"] if scene.last else []
    return f"({', '.join(words)})" if words else ""


# ---- boards of rows and columns ----


@dataclass(frozen=True)
class _Sheet:
    """Writes the cells of a board of rows and columns."""

    scene: Scene
    width: int
    candidates: bool
    colour: bool
    names: Mapping[int, str]

    def cell(self, cell: int) -> str:
        return self._painted(cell) if self.colour else self._bare(cell)

    def _inside(self, cell: int, empty: str) -> str:
        if cell in self.names:
            return self.names[cell]
        if cell in self.scene.dead:
            return "x"
        numbers = self.scene.candidates.get(cell, ()) if self.candidates else ()
        return "".join(map(str, numbers)) or empty

    def _bare(self, cell: int) -> str:
        what, ground = self.scene.stones[cell], palette.ground(self.scene.grounds[cell])
        last = ">" if cell in self.scene.last else " "
        return last + (_word(what) if what else self._inside(cell, ground.mark)).ljust(
            self.width - 1
        )

    def _painted(self, cell: int) -> str:
        what, ground = self.scene.stones[cell], palette.ground(self.scene.grounds[cell])
        last = cell in self.scene.last
        if what is None:
            inside = self._inside(cell, ".").center(self.width - 2)
            return _edged(_coloured(inside, ground.ansi_ink, ground.ansi, False), ground, last)
        look, label = palette.piece(what.colour), what.label or "o"
        if what.given:
            return _coloured(label.center(self.width), look.ansi_ink, look.ansi, True)
        inside = _coloured(label.center(self.width - 2), look.ansi_ink, look.ansi, False)
        return _edged(inside, ground, last)


def _rows(scene: Scene, candidates: bool, colour: bool) -> list[str]:
    grid = rectangle_of(scene.board)
    width = CELL_WIDTH if colour else BARE_WIDTH
    if candidates:
        longest = max((len(n) for n in scene.candidates.values()), default=1)
        width = max(width, longest + 2)
    sheet = _Sheet(scene, width, candidates, colour, free_names(scene))
    houses = scene.regions or grid.block_of
    upright = [_edge_right(c, grid, houses) for c in range(grid.cells)]
    level = [_edge_below(c, grid, houses) for c in range(grid.cells)]
    # Columns and rows of border characters are left out where no cell has a border.
    split = [any(upright[c] != " " for c in grid.columns[n]) for n in range(grid.width)]
    lines = []
    for row, cells in enumerate(grid.rows):
        parts = [sheet.cell(c) + (upright[c] if split[n] else "") for n, c in enumerate(cells)]
        lines.append(f"{grid.height - row:>2} {''.join(parts)}")
        if any(level[c] != " " for c in cells):
            parts = [level[c] * width + ("+" if split[n] else "") for n, c in enumerate(cells)]
            lines.append(f"   {''.join(parts)}")
    files = [
        (name.center(width) if colour else f" {name}".ljust(width)) + (" " if split[n] else "")
        for n, name in enumerate(grid.files)
    ]
    return [*lines, f"   {''.join(files)}"]


def _edge_right(cell: int, grid: Rectangle, houses: tuple[int, ...]) -> str:
    if grid.column_of[cell] == grid.width - 1:
        return " "
    if houses[cell] != houses[cell + 1]:
        return "|"
    return ":" if grid.block_of[cell] != grid.block_of[cell + 1] else " "


def _edge_below(cell: int, grid: Rectangle, houses: tuple[int, ...]) -> str:
    below = cell + grid.width
    if below >= grid.cells:
        return " "
    if houses[cell] != houses[below]:
        return "-"
    return "." if grid.block_of[cell] != grid.block_of[below] else " "


# ---- the hexagonal board ----


def _hex(scene: Scene, colour: bool) -> list[str]:
    """Rows staggered by half a cell; the number of a diagonal stands at its end."""
    lines, first = [], 0
    longest = max(ROW_LENGTHS)
    for row, length in enumerate(ROW_LENGTHS):
        indent = " " * ((longest - length) * HEX_WIDTH // 2)
        cells = "".join(_hex_cell(scene, c, colour) for c in range(first, first + length))
        number = f" {length + 1}" if row > longest // 2 else ""
        lines.append(f"{indent} {'ihgfedcba'[row]} {cells}{number}")
        first += length
    below = "".join(f" {n + 1}".ljust(HEX_WIDTH) for n in range(ROW_LENGTHS[-1]))
    return [*lines, " " * ((longest - ROW_LENGTHS[-1] + 1) * HEX_WIDTH // 2) + "   " + below]


def _hex_cell(scene: Scene, cell: int, colour: bool) -> str:
    what, last = scene.stones[cell], cell in scene.last
    if not colour:
        return f"{'>' if last else ' '}{palette.piece(what.colour).letter if what else '.'}  "
    ground = palette.ground(scene.grounds[cell])
    if what is None:
        return _edged(_coloured(". ", ground.ansi_ink, ground.ansi, False), ground, last)
    look = palette.piece(what.colour)
    return _edged(_coloured("  ", look.ansi_ink, look.ansi, False), ground, last)
