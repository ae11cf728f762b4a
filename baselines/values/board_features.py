"""The features of games in which neighbouring cells matter.

- **Patterns**: every four cells in a line, and every square of two by two. A cell of a pattern is
  the player's, the opponent's, open or closed. Where the game says so, a free cell also shows which
  players could go there next, and a stone whether it could be taken next. Each content of a pattern
  has a row. These are the n-tuples that are known to learn well in Othello and Connect Four.
- **Cells**: for every cell what it holds, or how many numbers fit it, and the same marks.
- **Pairs**: in games in which each player has one stone of each number, for every number where both
  stones are. All numbers are alike.
- **Numbers**: for every `number` plane its value.
- **What can still be laid**, in some games: the rows of `laying_rows.py`.

Patterns and cells that a symmetry of the board maps to each other share rows. A symmetry that swaps
the players turns the board for player_1, so that both players learn from each other's games. Where
a turn has phases, each phase has all rows to itself.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.values.features import (
    AddedRows,
    Features,
    PatternRows,
    cell_planes,
    colour_keeping,
    colour_swapping,
    number_kernel,
    orbits_of,
    pattern_rows,
    plane_kernel,
)
from azumaya.baselines.values.laying_rows import laying_rows
from azumaya.envs.game import Game
from azumaya.envs.geometry.grid import Cells
from azumaya.envs.kernels.bits import ONE, ZERO, lowest, word_count
from azumaya.envs.kernels.compile import kernel

OPEN, OWN, OPPOSING, CLOSED = range(4)
"""The states of a cell: open if it is free and a number or piece may go there."""
LENGTH = 4
"""The cells of a pattern."""
MARKS = 4
"""How a cell can be marked: who reaches it; or, if it has a stone, whether it could be taken."""
STEPS = ((0, 1), (1, 0))
"""The directions of lines, as rows and columns from cell to cell."""
OWN_PLANES, OPPOSING_PLANES = ("own",), ("opposing",)
OPEN_PLANES = ("candidate", "room", "board", "fits")
"""The planes that say where something may go."""
BOARDS = 4
"""The boards behind an observation: for the player, then for the opponent, the free cells in reach
and the stones that could be taken."""
PHASE = "phase"
"""The plane that is 1 in the second phase of a turn."""


def board_features(game: Game) -> Features:
    """The features of a game on a board with neighbourhoods."""
    rows = rows_of(game)
    most = len(rows.patterns.cells) + rows.cells + rows.pairs + len(rows.number_planes)
    most += rows.laying.most
    kind = "board 2, laying 1" if rows.laying.most else "board 2"
    added = BOARDS * word_count(rows.cells)
    phases = 1 if rows.phase is None else 2
    return Features(
        kind, phases * rows.end, most, most + 3 * rows.cells,
        game.observation.packed_words + 1 + added, _kernel(game, rows),
        add=_outlook_kernel(game), added_words=added,
    )  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """The tables of a game's features.

    Attributes:
        cells: the cells of a plane.
        states: the states that a cell of a pattern can be in.
        patterns: the rows of patterns.
        contents: what a cell can hold: how many numbers fit, or whose it is.
        of_cells: the first row of each cell, `(cells,)` int64.
        pairs: the numbers of which each player has one stone; 0 in other games.
        of_pairs: the row for each two cells of a number's stones, `(cells + 1, cells + 1)` int64;
            index `cells` stands for no stone.
        number_planes: the `number` planes that have rows.
        of_numbers: the first row of each of them.
        laying: the rows that say what can still be laid.
        end: the number of the row after the last.
        phase: the `number` plane that tells the phases of a turn apart; None in other games. The
            rows of the second phase follow those of the first.
        turned: by cell, the cell that player_1 sees instead of it, `(cells,)` int64.
    """

    cells: int
    states: int
    patterns: PatternRows
    contents: int
    of_cells: np.ndarray
    pairs: int
    of_pairs: np.ndarray
    number_planes: np.ndarray
    of_numbers: np.ndarray
    laying: AddedRows
    end: int
    phase: int | None
    turned: np.ndarray


def rows_of(game: Game) -> Rows:
    """The tables of a game."""
    cells, observation, hints = game.observation.cells, game.observation, hints_of(game)
    same = colour_keeping(game.symmetries)
    states = CLOSED + 1 + (3 if hints.reach else 0) + (2 if hints.takes else 0)
    patterns = pattern_rows(patterns_of(game), same, states)
    contents = len(cell_planes(game, *OPEN_PLANES)) + CLOSED + 1
    orbits, kinds_of_cells = orbits_of(cells, same)
    first_pair = patterns.count + kinds_of_cells * MARKS * contents
    own = len(cell_planes(game, *OWN_PLANES))
    pairs = own if own > 1 and word_count(cells) == 1 else 0
    of_pairs, more = _pair_rows(cells, same)
    planes = observation.planes[observation.cell_planes :]
    # A value that names a player or a number says nothing: these are alike.
    places = np.array([i for i, plane in enumerate(planes) if plane.value is None], np.int64)
    highs = [planes[i].high + 1 for i in places]
    first_number = first_pair + (more if pairs else 0)
    of_numbers = first_number + np.concatenate([[0], np.cumsum(highs, dtype=np.int64)])
    laying = laying_rows(game, int(of_numbers[-1]))
    return Rows(
        cells, states, patterns, contents, patterns.count + MARKS * contents * orbits,
        pairs, of_pairs + first_pair, places, of_numbers, laying, laying.end,
        next((i for i, plane in enumerate(planes) if plane.name == PHASE), None),
        np.array(colour_swapping(game.symmetries, cells), np.int64),
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


def _pair_rows(cells: int, same: list[Cells]) -> tuple[np.ndarray, int]:
    """A row for each two cells, equal where a symmetry says so, and the number of rows.

    `(cells + 1, cells + 1)` int64; index `cells` stands for no cell.
    """
    size = cells + 1
    rows = np.arange(size * size).reshape(size, size)
    for moved in same:
        image = np.array([*moved, cells])
        rows = np.minimum(rows, rows[np.ix_(image, image)])
    smallest, shared = np.unique(rows, return_inverse=True)
    return shared.reshape(rows.shape).astype(np.int64), len(smallest)


def _outlook_kernel(game: Game) -> Any:
    """The kernel `add(state, player, row)`: what can happen next, as `BOARDS` boards."""
    hints = hints_of(game)
    reach, takes = hints.reach, hints.takes
    words = word_count(game.observation.cells)

    @kernel
    def add(state, player, row):
        for side in range(2):
            first = 2 * side * words
            if reach is not None:
                reach(state, player ^ side, row[first : first + words])
            if takes is not None:
                takes(state, player ^ side, row[first + words : first + 2 * words])

    return add


def _cells_kernel(game: Game, rows: Rows) -> Any:
    """The kernel `find(row, player, states, fitting, marks)`: what is known of every cell.

    It writes whose each cell is, or whether it is open; how many numbers fit it; and its mark.
    """
    cells, turned, plane = rows.cells, rows.turned, plane_kernel(rows.cells)
    own, opposing = cell_planes(game, *OWN_PLANES), cell_planes(game, *OPPOSING_PLANES)
    open_, behind = cell_planes(game, *OPEN_PLANES), game.observation.packed_words + 1
    words = word_count(cells)

    @kernel
    def each(low, high, player, numbers, factor, more):
        """Multiply and add to the numbers of the cells of a board."""
        for w in range(words):
            left = low if w == 0 else high
            while left != ZERO:
                cell = 64 * w + lowest(left)
                left &= left - ONE
                at = turned[cell] if player else cell
                numbers[at] = factor * numbers[at] + more

    @kernel
    def find(row, player, states, fitting, marks):
        for cell in range(cells):
            states[cell], fitting[cell], marks[cell] = CLOSED, 0, 0
        for p in open_:
            low, high = plane(row, p)
            each(low, high, player, states, 0, OPEN)
            each(low, high, player, fitting, 1, 1)
        for p in own:
            low, high = plane(row, p)
            each(low, high, player, states, 0, OWN)
        for p in opposing:
            low, high = plane(row, p)
            each(low, high, player, states, 0, OPPOSING)
        for board in range(BOARDS):
            at = behind + board * words
            more = 2 if board == 2 else 1  # the opponent's reach
            each(row[at], row[at + words - 1], player, marks, 1, more)

    return find


def _pairs_kernel(game: Game, rows: Rows) -> Any:
    """The kernel `add_pairs(row, player, features)`: the rows of each number's two stones."""
    own, opposing = cell_planes(game, *OWN_PLANES), cell_planes(game, *OPPOSING_PLANES)
    cells, of_pairs, turned, pairs = rows.cells, rows.of_pairs, rows.turned, rows.pairs
    plane = plane_kernel(cells)

    @kernel
    def place(row, p, player):
        board, _ = plane(row, p)
        if board == ZERO:
            return cells
        return turned[lowest(board)] if player else lowest(board)

    @kernel
    def add_pairs(row, player, features):
        for n in range(pairs):
            features[n] = of_pairs[place(row, own[n], player), place(row, opposing[n], player)]

    return add_pairs


def _kernel(game: Game, rows: Rows) -> Any:
    """The kernel of the features, over the tables of a game."""
    cells, base, of_cells = rows.cells, rows.states, rows.of_cells
    orbits, pattern_cells, of_patterns = (
        rows.patterns.orbits, rows.patterns.cells, rows.patterns.rows
    )  # fmt: skip
    of_numbers, number_planes = rows.of_numbers, rows.number_planes
    find, add_pairs, number = (
        _cells_kernel(game, rows),
        _pairs_kernel(game, rows),
        number_kernel(game),
    )
    first_pair = len(pattern_cells) + cells
    first_number = first_pair + rows.pairs
    first_laying = first_number + len(number_planes)
    room, add_laying = first_laying + rows.laying.most, rows.laying.add
    reach = game.observation.packed_words + 1
    reach_of_opponent = reach + 2 * word_count(cells)
    fits = rows.contents - CLOSED - 1
    hints = hints_of(game)
    reaching, taken = hints.reach is not None, base - 3 if hints.takes else 0
    phased, phase = rows.phase is not None, rows.phase or 0
    second = rows.end

    @kernel
    def add_cells(states, fitting, marks, features):
        """Add the rows of cells, and show in the states what can happen next."""
        for cell in range(cells):
            state, mark = states[cell], marks[cell]
            content = fitting[cell] if state == OPEN else fits + state
            features[cell] = of_cells[cell] + content * MARKS + mark
            if mark:
                if state in (OWN, OPPOSING):
                    states[cell] += taken
                elif reaching:
                    states[cell] = CLOSED + mark

    @kernel
    def write(row, memo, player, features):
        states, fitting = features[room : room + cells], features[room + cells : room + 2 * cells]
        marks = features[room + 2 * cells :]
        find(row, player, states, fitting, marks)
        add_cells(states, fitting, marks, features[first_pair - cells : first_pair])
        for i in range(first_pair - cells):
            code = 0
            for j in range(LENGTH - 1, -1, -1):
                code = base * code + states[pattern_cells[i, j]]
            features[i] = of_patterns[orbits[i], code]
        add_pairs(row, player, features[first_pair:first_number])
        for i in range(first_laying - first_number):
            features[first_number + i] = of_numbers[i] + number(row, number_planes[i])
        mine, theirs = row[reach], row[reach_of_opponent]
        count = add_laying(row, player, mine, theirs, features[first_laying:room])
        size = first_laying + count
        if phased and number(row, phase):
            for i in range(size):
                features[i] += second
        return size

    return write
