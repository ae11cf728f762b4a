"""Rows for games in which numbers are laid on the 6x6 board: what can still be laid, and where.

They apply where the rules say which player can reach which cells, in Revers- and Score-Dominari.

- **Houses**: for each row, column and block how many stones either player has there, in how many of
  its cells a number fits, and whether it has a blank. Houses that a symmetry of the board maps to
  each other share rows.
- **Candidates**: for each number that fits a cell, how many do, who could lay there next, and how
  many cells would lose this number: of those that the player could reach, of those that the
  opponent could, and of either those in which no other number fits. These four counts stop at
  three. Numbers are alike, and so are cells.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.hints import hints_of
from azumaya.baselines.values.features import (
    AddedRows,
    cell_planes,
    colour_keeping,
    colour_swapping,
    orbits_of,
    plane_kernel,
)
from azumaya.envs.game import Game
from azumaya.envs.geometry.dominari36 import CELLS, HOUSE_BOARDS, HOUSES, PEERS, SIZE
from azumaya.envs.geometry.grid import Cells
from azumaya.envs.kernels.bits import ONE, ZERO, has, lowest, popcount
from azumaya.envs.kernels.compile import kernel

CAP = 3
"""Where the counts of cells that lose a number stop."""
COUNTS = SIZE + 1
"""The values of a count in a house, or of the numbers that fit a cell."""
HOUSE_ROWS = 2 * COUNTS**3
CANDIDATE_ROWS = COUNTS * 4 * (CAP + 1) ** 4
"""The rows of each kind of house, and those of all candidates."""


def laying_rows(game: Game, first: int) -> AddedRows:
    """The rows of a game, from row `first` on; none in games that they do not suit.

    The kernel is `add(row, player, mine, theirs, features)`, for an observation of `player`. `mine`
    and `theirs` are the cells that the player and the opponent can reach, as boards.
    """
    candidates = cell_planes(game, "candidate")
    if game.observation.cells != CELLS or len(candidates) < 2 or hints_of(game).reach is None:
        return AddedRows(first, 0, _nothing)
    of_houses, kinds = _house_rows(game)
    first_candidate = first + kinds * HOUSE_ROWS
    most = len(HOUSES) + CELLS * len(candidates)
    add = _kernel(game, candidates, first + of_houses, first_candidate)
    return AddedRows(first_candidate + CANDIDATE_ROWS, most, add)


@kernel
def _nothing(row, player, mine, theirs, features):
    return 0


def _house_rows(game: Game) -> tuple[np.ndarray, int]:
    """The first row of each house in either player's view, `(2, houses)`, and the number of kinds.

    It is the same for houses that a symmetry maps to each other.
    """
    houses = [frozenset(house) for house in HOUSES]

    def moved_houses(moved: Cells) -> Cells:
        return tuple(houses.index(frozenset(moved[cell] for cell in house)) for house in houses)

    same = [moved_houses(moved) for moved in colour_keeping(game.symmetries)]
    kinds, count = orbits_of(len(houses), same)
    turned = moved_houses(colour_swapping(game.symmetries, CELLS))
    return np.stack([kinds, kinds[list(turned)]]) * HOUSE_ROWS, count


def _kernel(game, candidates, of_houses, first_candidate):  # type: ignore[no-untyped-def]
    """The kernel of `laying_rows`."""
    plane, numbers = plane_kernel(CELLS), len(candidates)
    first_number = int(candidates[0])
    first_stone = int(cell_planes(game, "stone")[0])
    own_plane, opposing_plane = (int(cell_planes(game, s)[0]) for s in ("own", "opposing"))

    @kernel
    def add_houses(own, opposing, fitting, blanks, player, features):
        for h in range(HOUSE_BOARDS.shape[0]):
            house = HOUSE_BOARDS[h]
            code = COUNTS * popcount(own & house) + popcount(opposing & house)
            code = COUNTS * code + popcount(fitting & house)
            features[h] = of_houses[player, h] + 2 * code + (blanks & house != ZERO)

    @kernel
    def count_numbers(row):
        """The numbers that fit each cell, counted in three bits, and the cells with a number."""
        ones, twos, fours, numbered = ZERO, ZERO, ZERO, ZERO
        for n in range(numbers):
            board = plane(row, first_number + n)[0]
            carry = ones & board
            ones, twos, fours = ones ^ board, twos ^ carry, fours | (twos & carry)
            numbered |= plane(row, first_stone + n)[0]
        return ones, twos, fours, numbered

    @kernel
    def losses(seen, mine, theirs):
        """How many cells lose a number, as a code."""
        mine, theirs = min(popcount(seen & mine), CAP), min(popcount(seen & theirs), CAP)
        return (CAP + 1) * mine + theirs

    @kernel
    def add(row, player, mine, theirs, features):
        own, opposing = plane(row, own_plane)[0], plane(row, opposing_plane)[0]
        ones, twos, fours, numbered = count_numbers(row)
        single = ones & ~twos & ~fours
        blanks = (own | opposing) & ~numbered
        add_houses(own, opposing, ones | twos | fours, blanks, player, features)
        count = HOUSE_BOARDS.shape[0]
        for n in range(numbers):
            board = plane(row, first_number + n)[0]
            left = board
            while left != ZERO:
                cell = lowest(left)
                left &= left - ONE
                seen = board & PEERS[cell]
                code = has(ones, cell) + 2 * has(twos, cell) + 4 * has(fours, cell)
                code = 4 * code + has(mine, cell) + 2 * has(theirs, cell)
                code = (CAP + 1) ** 2 * code + losses(seen & single, mine, theirs)
                code = (CAP + 1) ** 2 * code + losses(seen, mine, theirs)
                features[count] = first_candidate + code
                count += 1
        return count

    return add
