"""How a person points at moves: which cells to click, in which order, and what else to choose.

Nothing here knows a game. A move's name says what it is made of: squares, such as `e4` in `5e4`,
and the rest, its label, such as the number. How stones move between two scenes adds another way to
point: at the stone, then at where it goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol

from azumaya.envs.render.layout import layout_of
from azumaya.envs.scene import Scene, Stone

Path = tuple[int, ...]

MOST_REASONS = 3
"""The most sentences that say why nothing can be done on some cells."""


class Shown(Protocol):
    """What is needed of a position."""

    @property
    def num_actions(self) -> int: ...  # noqa: D102
    def copy(self) -> Any: ...  # noqa: D102
    def scene(self, last_action: int | None = None) -> Scene: ...  # noqa: D102
    def legal_actions(self) -> list[int]: ...  # noqa: D102
    def action(self, move: str | int) -> int: ...  # noqa: D102
    def move_name(self, action: int) -> str: ...  # noqa: D102
    def action_cells(self, action: int) -> tuple[int, ...]: ...  # noqa: D102
    def explain(self, move: str | int) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Pointed:
    """How to point at a move.

    Attributes:
        name: the move's name.
        label: what to choose besides the cells, such as a number; may be empty.
        paths: the ways to click it: cells in order. The first is the one to suggest. An empty path
            means that the move has a button of its own.
    """

    name: str
    label: str
    paths: tuple[Path, ...]


def pointed(position: Shown, scene: Scene) -> list[Pointed]:
    """How to point at each legal move of a position whose scene this is.

    Where the first legal move does not move a stone, none is taken to: looking at what every move
    does would cost too much in games with hundreds of moves.
    """
    actions = position.legal_actions()
    described = [describe(position, scene, action) for action in actions]
    if not actions or _moved(position, scene, actions[0]) is None:
        return described
    return [
        _with_path(move, _moved(position, scene, action))
        for move, action in zip(described, actions, strict=True)
    ]


def point_at(position: Shown, move: str) -> Pointed:
    """How to point at one legal move."""
    scene, action = position.scene(), position.action(move)
    return _with_path(describe(position, scene, action), _moved(position, scene, action))


def describe(position: Shown, scene: Scene, action: int) -> Pointed:
    """How to point at an action by what its name says, legal or not."""
    return _described(scene.board, position.move_name(action), position.action_cells(action))


@lru_cache(maxsize=1 << 15)
def _described(board: Any, name: str, touched: Path) -> Pointed:
    squares, cell_of = _squares(board)
    cells = tuple(cell_of[square] for square in squares.findall(name))
    if cells and set(cells) <= set(touched):
        return Pointed(name, squares.sub("", name), (cells,))
    if touched:
        return Pointed(name, "", tuple((cell,) for cell in touched))
    return Pointed(name, name, ((),))


def why_not(position: Shown, cells: Sequence[int], label: str = "") -> list[str]:
    """Why no move can be made by pointing at these cells in order, in a few sentences.

    `label` is the label that was chosen, if any.
    """
    scene = position.scene()
    every = [(describe(position, scene, a), a) for a in range(position.num_actions)]
    for meant in _meanings(scene, tuple(cells), label):
        found = [(move, action) for move, action in every if meant.fits(move)]
        if found:
            return _reasons(position, found)
    return []


@dataclass(frozen=True)
class _Meaning:
    """What a person may have meant: moves with a label, if any, whose paths begin with some cells.

    If `whole`, the paths have no other cells.
    """

    label: str
    cells: Path
    whole: bool = False

    def fits(self, move: Pointed) -> bool:
        if self.label and move.label != self.label:
            return False
        length = None if self.whole else len(self.cells)
        return any(path[:length] == self.cells for path in move.paths)


def _meanings(scene: Scene, cells: Path, label: str) -> Iterator[_Meaning]:
    """What pointing at some cells may mean, the likeliest first."""
    yield _Meaning(label, cells, whole=True)
    stone = scene.stones[cells[0]] if len(cells) > 1 else None
    if stone is not None and (label or stone.label):  # names say only where this stone goes
        yield _Meaning(label or stone.label, cells[-1:], whole=True)
    yield _Meaning(label, cells)
    if stone is not None:
        for length in range(len(cells) - 1, 0, -1):
            yield _Meaning(label, cells[:length])
    yield _Meaning(label, cells[-1:])


def _reasons(position: Shown, moves: Sequence[tuple[Pointed, int]]) -> list[str]:
    """Sentences that differ in more than the name of the move.

    Where the moves have several labels, none was chosen. Then what forbids most of them comes
    first, without the name of one of them, which the person has not asked for.
    """
    is_open = len({move.label for move, _ in moves}) > 1
    legal, found = set(position.legal_actions()), dict[str, list[str]]()
    for move, action in moves:
        if action not in legal:
            sentence = position.explain(action)
            found.setdefault(sentence.removeprefix(move.name), []).append(sentence)
        if not is_open and len(found) == MOST_REASONS:
            break
    if not is_open:
        return [sentences[0] for sentences in found.values()]
    often = sorted(found, key=lambda rest: -len(found[rest]))[:MOST_REASONS]
    return [_common(rest, found[rest]) for rest in often]


def _common(rest: str, sentences: Sequence[str]) -> str:
    """What some sentences say, which differ in the names that they begin with."""
    if len(sentences) == 1 or not rest.startswith(": "):
        return sentences[0]
    said = rest.removeprefix(": ")
    return said if said[1:2].isdigit() else said[:1].upper() + said[1:]  # a square stays as it is


@cache
def _squares(board: Any) -> tuple[re.Pattern[str], dict[str, int]]:
    """A pattern that finds the squares of a board in a name, and their cells."""
    names = layout_of(board).names
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), {n: c for c, n in enumerate(names)}


def _with_path(move: Pointed, path: Path | None) -> Pointed:
    if path is None or path in move.paths:
        return move
    return Pointed(move.name, move.label, (path, *move.paths))


def _moved(position: Shown, before: Scene, action: int) -> Path | None:
    """The cell that a stone leaves, then the cell where such a stone appears, if there is one.

    None unless exactly one cell becomes empty and one gets such a stone, or none if the move's name
    has no cell for it: the stone leaves the board. Where a wrong turn is undone at once, a stone
    disappears as well, but the move was to place another one.
    """
    after = position.copy().play(action).scene()
    both = zip(before.stones, after.stones, strict=True)
    changed = [c for c, (b, a) in enumerate(both) if b is not a and b != a]
    left = [cell for cell in changed if after.stones[cell] is None]
    if len(left) != 1:
        return None
    stone = _kind(before.stones[left[0]])
    came = [c for c in changed if c != left[0] and _kind(after.stones[c]) == stone]
    arrives = 1 if position.action_cells(action) else 0
    return (left[0], *came) if len(came) == arrives else None


def _kind(stone: Stone | None) -> tuple[str, str] | None:
    return None if stone is None else (stone.colour, stone.label)
