"""The panel beside a board: notes, and trays with rows of pieces."""

from __future__ import annotations

from azumaya.envs.render import palette
from azumaya.envs.render.layout import BOARD_SIZE, BOARD_TOP, PANEL, WIDTH
from azumaya.envs.render.pieces import marble, stone, text
from azumaya.envs.render.strokes import wrap
from azumaya.envs.scene import Scene, Stone

LEFT = WIDTH + 4
ROOM = PANEL - 18
NOTE, LABEL = 11.0, 9.5
"""Cap heights of notes and of tray labels."""
NOTE_STEP, LABEL_STEP, TRAY_GAP = 24.0, 14.0, 16.0
PITCHES = (46.0, 40.0, 34.0, 28.0, 24.0, 20.0, 16.0, 12.0)
"""Sizes of pieces in trays; the largest that fits is used."""


def panel(scene: Scene) -> list[str]:
    """The notes after the first, then the trays, from top to bottom."""
    lines = [line for note in scene.notes[1:] for line in wrap(note, NOTE, ROOM)]
    parts = []
    top = BOARD_TOP + NOTE / 2
    for line in lines:
        parts.append(text(line, (LEFT, top), NOTE, palette.INK, "start"))
        top += NOTE_STEP
    top += 6 if lines else 0
    pitch = _pitch(scene.trays, BOARD_TOP + BOARD_SIZE - top)
    hexagonal = scene.board == "hex61"
    for label, pieces in scene.trays:
        parts.append(text(label, (LEFT, top), LABEL, palette.FAINT_INK, "start"))
        top += LABEL_STEP
        parts += _row(pieces, top, pitch, hexagonal)
        top += _rows(pieces, pitch) * pitch + TRAY_GAP
    return parts


def _rows(pieces: tuple[Stone, ...], pitch: float) -> int:
    """Rows that a tray takes; an empty tray takes one, so that the trays below do not move."""
    across = int(ROOM // pitch)
    return max(1, -(-len(pieces) // across))


def _pitch(trays: tuple[tuple[str, tuple[Stone, ...]], ...], room: float) -> float:
    for pitch in PITCHES:
        height = sum(LABEL_STEP + _rows(pieces, pitch) * pitch + TRAY_GAP for _, pieces in trays)
        if height <= room:
            return pitch
    return PITCHES[-1]


def _row(pieces: tuple[Stone, ...], top: float, pitch: float, hexagonal: bool) -> list[str]:
    across = int(ROOM // pitch)
    draw = marble if hexagonal else stone
    parts = []
    for n, what in enumerate(pieces):
        row, column = divmod(n, across)
        at = (LEFT + (column + 0.5) * pitch, top + (row + 0.5) * pitch)
        parts.append(f'<g data-tray="{n}">{draw(what, at, pitch)}</g>')
    return parts
