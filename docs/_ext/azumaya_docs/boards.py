"""Boards of the documentation: rendered positions, and sets of cells."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from azumaya.envs import Position
from azumaya.envs.kernels.bits import cells_of
from azumaya.envs.render import svg_of
from azumaya.envs.render.layout import BOARD_LEFT, BOARD_SIZE, BOARD_TOP, HEX_CENTRE, HEX_RADIUS

CELL, GAP, TITLE = 20, 26, 24
LIT, UNLIT, LINE, INK = "#d9821b", "#f3eee2", "#4a4335", "#2c2b29"


class ClaimError(ValueError):
    """A page makes a false statement about a position."""


def make_position(
    game: str, text: str | None, seed: int, options: dict[str, Any], moves: Sequence[str]
) -> tuple[Position, int | None]:
    """A position, and the last action played to reach it (None if no move was played)."""
    if text:
        position = Position.from_text(game, text, **options)
    else:
        position = Position(game, seed=seed, **options)
    last = None
    for move in moves:
        last = position.action(move)
        position.play(last)
    return position, last


def check_claims(position: Position, legal: Iterable[str], illegal: Iterable[str]) -> None:
    """Raise `ClaimError` unless moves are legal or illegal as a page says."""
    names = set(position.legal_moves())
    for move in legal:
        if move not in names:
            raise ClaimError(f"{move} is not legal in {position}: {position.explain(move)}")
    for move in illegal:
        if move in names:
            raise ClaimError(f"{move} is legal in {position}")


def save_svg(svg: str, folder: Path) -> str:
    """Write a picture to a file named by its digest; returns the file's name."""
    name = hashlib.blake2b(svg.encode(), digest_size=8).hexdigest() + ".svg"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if not path.exists():
        path.write_text(svg, "utf-8", newline="\n")
    return name


FRAME = 8
"""Pixels shown around a board without its labels."""


def cropped(position: Position, last: int | None, attributes: str, givens: bool = True) -> str:
    """The board of a position without labels, panel and caption, as an SVG element.

    `givens=False` draws all stones as played ones: a position text does not tell them apart.
    """
    scene = position.scene(last_action=last)
    if not givens:
        stones = tuple(stone and replace(stone, given=False) for stone in scene.stones)
        scene = replace(scene, stones=stones)
    if scene.board == "hex61":
        (x, y), side = HEX_CENTRE, 2 * HEX_RADIUS
    else:
        x, y, side = BOARD_LEFT + BOARD_SIZE / 2, BOARD_TOP + BOARD_SIZE / 2, BOARD_SIZE
    side += 2 * FRAME
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {attributes} role="img" '
        f'viewBox="{x - side / 2} {y - side / 2} {side} {side}">'
    )
    return head + svg_of(scene).split(">", 1)[1]


# ---- sets of cells ----


@dataclass(frozen=True)
class Bits:
    """A set of cells with a heading."""

    title: str
    cells: frozenset[int]


def bits_of(position: Position, words: str) -> frozenset[int]:
    """The set of cells that a text describes in a position.

    `field NAME [i]` is a board of the state record. `stones NAME [i] N` is the board of number N in
    a row of bits that holds one board after the other. `legal N` is the set of cells where the
    action mask allows number N. `union NAME` is the union of all boards of a field. `empty` and
    `dead` are the cells that are drawn so.
    """
    first, *rest = words.split()
    if first == "dead":
        return position.scene().dead
    if first == "empty":
        return frozenset(c for c, stone in enumerate(position.scene().stones) if stone is None)
    if first == "legal":
        mask = position.action_mask().reshape(-1)
        start = (int(rest[0]) - 1) * position.game.observation.cells
        return frozenset(
            np.flatnonzero(mask[start : start + position.game.observation.cells]).tolist()
        )
    board = position.state[rest[0]][0]
    if first == "stones":
        *indices, number = map(int, rest[1:])
        for index in indices:
            board = board[index]
        size = position.game.observation.cells
        return frozenset(bit % size for bit in cells_of(board) if bit // size == number - 1)
    if first == "union":
        board = np.bitwise_or.reduce(board, axis=0)
    elif first == "field":
        for index in rest[1:]:
            board = board[int(index)]
    else:
        raise ClaimError(f"{words!r}: must begin with field, stones, union, legal, empty or dead")
    return frozenset(cells_of(np.atleast_1d(board)))


def evaluate(position: Position, lines: Sequence[str]) -> list[Bits | str]:
    """Boards and operators, from lines `title | words` and lines `AND`, `OR`, `AND NOT`, `=`.

    The board to the right of `=` must be the result of the operators to its left.
    """
    parts: list[Bits | str] = []
    made: frozenset[int] = frozenset()
    for line in lines:
        if "|" not in line:
            parts.append(line.strip())
            continue
        title, words = (part.strip() for part in line.split("|", 1))
        cells = bits_of(position, words)
        beside = not parts or isinstance(parts[-1], Bits)  # no operator between the two
        made = cells if beside else _apply(str(parts[-1]), made, cells, title)
        parts.append(Bits(title, cells))
    return parts


def _apply(
    operator: str, left: frozenset[int], right: frozenset[int], title: str
) -> frozenset[int]:
    if operator == "=" and left != right:
        raise ClaimError(f"{title!r} is not what the boards before it give: {left ^ right}")
    known = {"AND": left & right, "OR": left | right, "AND NOT": left - right, "=": right}
    if operator not in known:
        raise ClaimError(f"{operator!r} between two boards: must be one of {list(known)}")
    return known[operator]


def draw_bits(position: Position, parts: Sequence[Bits | str]) -> str:
    """The boards side by side, as an SVG document; placed numbers are shown faintly."""
    size = position.game.observation.shape[0]
    after: Bits | str = ""
    labels = [stone.label if stone else "" for stone in position.scene().stones]
    side, x, body = size * CELL, 8, []
    for part in parts:
        if isinstance(part, str):
            width = GAP + 10 * len(part)
            body.append(_text(x + width / 2, TITLE + side / 2, part, 13, "bold"))
            x, after = x + width, part
            continue
        x += GAP if isinstance(after, Bits) else 0
        after = part
        body.append(_text(x + side / 2, 15, part.title, 12))
        body += _grid(x, size, part.cells, labels)
        x += side
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x + 8} {side + TITLE + 8}" '
        f'width="{x + 8}" height="{side + TITLE + 8}" role="img">'
        f'<rect width="100%" height="100%" fill="#faf8f3"/>{"".join(body)}</svg>\n'
    )


def _grid(left: float, size: int, lit: frozenset[int], labels: Sequence[str]) -> list[str]:
    parts = []
    for cell in range(size * size):
        row, column = divmod(cell, size)
        x, y = left + column * CELL, TITLE + row * CELL
        fill = LIT if cell in lit else UNLIT
        parts.append(
            f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" '
            f'stroke="#cfc6b2" stroke-width="0.6"/>'
        )
        if labels[cell]:
            parts.append(_text(x + CELL / 2, y + CELL / 2 + 4, labels[cell], 11, fill="#8b8474"))
    block = {9: 3, 6: 2}[size] * CELL
    lines = "".join(
        f"M{left + k} {TITLE}v{size * CELL}M{left} {TITLE + k}h{size * CELL}"
        for k in range(0, size * CELL + 1, block)
    )
    return [*parts, f'<path d="{lines}" stroke="{LINE}" stroke-width="1.4" fill="none"/>']


def _text(
    x: float, y: float, words: str, size: int, weight: str = "normal", fill: str = INK
) -> str:
    return (
        f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="{size}" '
        f'font-weight="{weight}" fill="{fill}" text-anchor="middle">{words}</text>'
    )
