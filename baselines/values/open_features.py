"""The features of games on 81 cells in which only houses matter and no cell has an owner.

All numbers are alike, and so are all cells, except for what they see:

- **Cells**: for each empty cell, how many stones it sees, how many numbers fit it, and whether the
  number to be placed now does.
- **Numbers**: for every `number` plane its value, see `number_rows`.
"""

from __future__ import annotations

from azumaya.baselines.values.features import Features, cell_planes, plane_kernel
from azumaya.baselines.values.house_features import number_rows, seen_from
from azumaya.envs.game import Game
from azumaya.envs.geometry.sudoku81 import CELLS, FULL, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ONE, ZERO, has, lowest, popcount
from azumaya.envs.kernels.compile import kernel

_SEEN = 21
"""A cell sees 0 to 20 others."""
CELL_ROWS = _SEEN * (NUMBERS + 1) * 2


def suits_open(game: Game) -> bool:
    """Whether a game's observation shows stones by number, and where one fits, on 81 cells."""
    planes = len(cell_planes(game, "tile")), len(cell_planes(game, "fits"))
    fits = (game.observation.cells, *planes) == (CELLS, NUMBERS, 1)
    return game.observation.houses_only and fits


def open_features(game: Game) -> Features:
    """The features of a game that `suits_open` accepts."""
    numbers = number_rows(game, CELL_ROWS)
    most = CELLS + numbers.most
    words = game.observation.packed_words + 1
    return Features("open houses 1", numbers.end, most, most + CELLS, words, _kernel(game, numbers))


def _kernel(game, numbers):  # type: ignore[no-untyped-def]
    """The kernel of the features, over the tables of a game."""
    plane, add_numbers, most = plane_kernel(CELLS), numbers.add, CELLS + numbers.most
    first, fits = int(cell_planes(game, "tile")[0]), int(cell_planes(game, "fits")[0])

    @kernel
    def count_fitting(row, fitting):
        """Write how many numbers fit each cell; returns the occupied cells."""
        taken0, taken1 = ZERO, ZERO
        for cell in range(CELLS):
            fitting[cell] = 0
        for n in range(NUMBERS):
            low, high = plane(row, first + n)
            taken0 |= low
            taken1 |= high
            once0, once1, _, _ = seen_from(low, high)
            for w in range(2):
                left = ~once0 if w == 0 else ~once1 & FULL[1]
                while left != ZERO:
                    fitting[64 * w + lowest(left)] += 1
                    left &= left - ONE
        return taken0, taken1

    @kernel
    def write(row, memo, player, features):
        fitting = features[most:]
        taken0, taken1 = count_fitting(row, fitting)
        now0, now1 = plane(row, fits)
        count = 0
        for w in range(2):
            left = ~taken0 if w == 0 else ~taken1 & FULL[1]
            here = now0 if w == 0 else now1
            while left != ZERO:
                at = lowest(left)
                left &= left - ONE
                cell = 64 * w + at
                seen = popcount(PEERS[cell, 0] & taken0) + popcount(PEERS[cell, 1] & taken1)
                code = (seen * (NUMBERS + 1) + fitting[cell]) * 2 + has(here, at)
                features[count] = code
                count += 1
        return add_numbers(row, features, count)

    return write
