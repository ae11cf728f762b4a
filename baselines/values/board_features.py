"""The features of games in which neighbouring cells matter.

- **Patterns**: every four cells in a line, and every square of two by two. A cell of a pattern is
  the player's, the opponent's, open or closed; each of the 256 contents has a row. These are the
  n-tuples that are known to learn well in Othello and Connect Four.
- **Cells**: for every cell what it holds, or how many numbers fit it.
- **Numbers**: for every `number` plane its value.

Patterns and cells that a symmetry of the board maps to each other share rows. A symmetry that swaps
the players turns the board for player_1, so that both players learn from each other's games.
"""

from __future__ import annotations

import itertools

import numpy as np

from azumaya.baselines.values.features import Features
from azumaya.baselines.values.orbits import (
    STATES,
    colour_keeping,
    colour_swapping,
    pattern_rows,
)
from azumaya.baselines.values.planes import cell_planes, number_kernel, plane_kernel
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ONE, ZERO, lowest
from azumaya.envs.kernels.compile import kernel

OPEN, OWN, OPPOSING, CLOSED = range(STATES)
"""The states of a cell: open if it is free and a number or piece may go there."""
LENGTH = 4
"""The cells of a pattern."""
STEPS = ((0, 1), (1, 0))
"""The directions of lines, as rows and columns from cell to cell."""
OWN_PLANES, OPPOSING_PLANES = ("own",), ("opposing",)
OPEN_PLANES = ("candidate", "room", "board", "fits")
"""The planes that say where something may go."""


def board_features(game: Game) -> Features:
    """The features of a game on a board with neighbourhoods."""
    cells, observation = game.observation.cells, game.observation
    same = colour_keeping(game.symmetries)
    turned = np.array(colour_swapping(game.symmetries, cells), np.int64)
    patterns = patterns_of(game)
    pattern_cells = np.array(patterns, np.int64)
    of_patterns, count = pattern_rows(patterns, same)
    numbers = len(cell_planes(game, *OPEN_PLANES))
    contents = numbers + STATES  # how many numbers fit, or whose it is
    of_cells, kinds_of_cells = _cell_rows(cells, contents, same)
    of_cells += count
    planes = observation.planes[observation.cell_planes :]
    # A value that names a player or a number says nothing: these are alike.
    places = np.array([i for i, plane in enumerate(planes) if plane.value is None], np.int64)
    highs = [planes[i].high + 1 for i in places]
    first_number = count + kinds_of_cells * contents
    of_numbers = first_number + np.concatenate([[0], np.cumsum(highs, dtype=np.int64)])
    write = _kernel(
        game, pattern_cells, of_patterns, of_cells, of_numbers, places, turned, contents
    )
    most = len(patterns) + cells + len(highs)
    return Features(
        "board 1", int(of_numbers[-1]), most, most + 2 * cells, observation.packed_words + 1, write
    )  # fmt: skip


def patterns_of(game: Game) -> list[tuple[int, ...]]:
    """The patterns of a game's board: lines of four and squares of two by two.

    So are their images under the symmetries of the board, which on a hexagon gives the lines along
    its third axis, and rhombs for squares.
    """
    rows, columns = game.observation.shape
    cells = set(game.symmetries.bits or range(rows * columns))
    found: dict[frozenset[int], tuple[int, ...]] = {}
    for row, column in itertools.product(range(rows), range(columns)):
        shapes = [[(row + i * a, column + i * b) for i in range(LENGTH)] for a, b in STEPS]
        shapes.append([(row + a, column + b) for a in range(2) for b in range(2)])
        for shape in shapes:
            inside = all(r < rows and c < columns for r, c in shape)
            pattern = [r * columns + c for r, c in shape]
            if not inside or not cells.issuperset(pattern):
                continue
            for moved in (range(rows * columns), *colour_keeping(game.symmetries)):
                image = tuple(moved[cell] for cell in pattern)
                found.setdefault(frozenset(image), image)
    return list(found.values())


def _cell_rows(cells: int, contents: int, same: list[tuple[int, ...]]) -> tuple[np.ndarray, int]:
    """The first row of each cell, equal where a symmetry says so, and the number of orbits."""
    least = [min([cell, *(moved[cell] for moved in same)]) for cell in range(cells)]
    smallest, shared = np.unique(least, return_inverse=True)
    return shared.astype(np.int64) * contents, len(smallest)


def _kernel(game, pattern_cells, of_patterns, of_cells, of_numbers, places, turned, contents):  # type: ignore[no-untyped-def]
    """The kernel of the features, over the tables of a game."""
    cells = game.observation.cells
    own, opposing = cell_planes(game, *OWN_PLANES), cell_planes(game, *OPPOSING_PLANES)
    open_ = cell_planes(game, *OPEN_PLANES)
    plane, number = plane_kernel(cells), number_kernel(game)
    patterns, numbers = len(pattern_cells), len(places)
    fits = contents - STATES
    words = 2 if cells > 64 else 1
    most = patterns + cells + numbers

    @kernel
    def union(row, planes):
        low, high = ZERO, ZERO
        for p in planes:
            a, b = plane(row, p)
            low |= a
            high |= b
        return low, high

    @kernel
    def mark(low, high, player, states, state):
        for w in range(words):
            left = low if w == 0 else high
            while left != ZERO:
                cell = 64 * w + lowest(left)
                left &= left - ONE
                states[turned[cell] if player else cell] = state

    @kernel
    def write(row, memo, player, features):
        states, fitting = features[most : most + cells], features[most + cells : most + 2 * cells]
        for cell in range(cells):
            states[cell], fitting[cell] = CLOSED, 0
        for p in open_:
            low, high = plane(row, p)
            for w in range(words):
                left = low if w == 0 else high
                while left != ZERO:
                    cell = 64 * w + lowest(left)
                    left &= left - ONE
                    at = turned[cell] if player else cell
                    states[at] = OPEN
                    fitting[at] += 1
        low, high = union(row, own)
        mark(low, high, player, states, OWN)
        low, high = union(row, opposing)
        mark(low, high, player, states, OPPOSING)
        for i in range(patterns):
            code = 0
            for j in range(LENGTH):
                code |= states[pattern_cells[i, j]] << (2 * j)
            features[i] = of_patterns[i, code]
        for cell in range(cells):
            content = fitting[cell] if states[cell] == OPEN else fits + states[cell]
            features[patterns + cell] = of_cells[cell] + content
        for i in range(numbers):
            features[patterns + cells + i] = of_numbers[i] + number(row, places[i])
        return most

    return write
