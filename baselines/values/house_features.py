"""The features of games in which numbers are placed and only houses matter.

All numbers are alike, and so are all cells, except for what is near them. So a feature says what
kind of cell or house something is, not where it is:

- **Cells**: for each cell on which something fits, in the regions of either player, three counts:
  of its candidates, how many no other candidate sees, how many one sees, and how many several see.
  Candidates of both players see; each count stops at three. A candidate that no other sees is a
  sure move.
- **Regions**: for each region and number, how many of the player's candidates for that number are
  seen and how many are not, since a region holds each number once: by the opponent's candidates,
  which can spoil them, and by all.
- **Candidates**: for each candidate how many its cell has, how many of either player's it sees, and
  how many of these are the only ones of their cells. A stone takes all that it sees, and the last
  ones cost their owner a cell. The first is counted up to three, the others up to two.
- **Numbers**: for every `number` plane its value; for planes of single numbers, such as stocks, how
  many numbers have each pair of values.
- **Stocks**: where each player has a stock of each number, a number of which nobody has a stone
  left has no candidates, and candidates that only one player can place have rows of their own. For
  each region there is a row for how many stones are in it and on how many of its cells something
  can be placed, since in such a game the fullness of regions decides.

A move changes the candidates of few numbers. So what they see, and the features of the regions, are
kept in a memo by number and candidates: the positions after the moves of a player share most of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.baselines.values.features import (
    STOCKS,
    AddedRows,
    Features,
    cell_planes,
    kind_of,
    number_kernel,
    plane_kernel,
)
from azumaya.envs.game import Game
from azumaya.envs.geometry.sudoku81 import CELLS, FULL, NUMBERS, PEERS
from azumaya.envs.kernels.bits import ONE, U64, ZERO, has, lowest, popcount
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.symmetries import Axis

CAP = 3
"""Counts are cut at this number, so that two bits hold them."""
CLASSES = 3
"""How a candidate is seen: not, once, more often."""
BY_OPPONENT, BY_ALL = 0, 1
VIEWS = 2
"""Which candidates see those of a region: those of the other side, or all."""
CELL_ROWS = (CAP + 1) ** CLASSES
REGION_ROWS = (CAP + 1) ** 2
FIRST_REGION = 2 * CELL_ROWS
FIRST_CANDIDATE = FIRST_REGION + VIEWS * 2 * REGION_ROWS
CANDIDATE_ROWS = 3**5
ROWS = FIRST_CANDIDATE + 2 * CANDIDATE_ROWS
"""The rows of cells by side, of regions by view and side, and of candidates by side."""
BOTH = 3
"""Who can place a number: 1 stands for the player, 2 for the opponent."""
FIRST_FULLNESS = ROWS + 2 * 2 * CANDIDATE_ROWS
"""With stocks: the rows of candidates that only one player can place come before."""
FULLNESS_ROWS = (CELLS // NUMBERS + 1) ** 2
STOCK_ROWS = FIRST_FULLNESS + 2 * FULLNESS_ROWS
"""The rows where there are stocks: also those of regions by side and how full they are."""

BITS = 4
"""The planes that hold the numbers of the regions."""
KNOWN = 2 * BITS
REGIONS = KNOWN + 1
ENTRIES = REGIONS + 2 * NUMBERS
"""Where a memo has the flag that it holds regions, their cells, and the entries."""
SEEN = 4
COUNT = SEEN + 3 * 4
LIST = COUNT + 1
ENTRY = LIST + VIEWS * 2 * NUMBERS
"""In an entry: where the cells are that each side's opponent sees and that all see, the number of
features, the features, and its length."""
SLOTS = 16
"""The entries for each number."""
MEMO_WORDS = ENTRIES + NUMBERS * SLOTS * ENTRY
_MIX = tuple(U64(0x9E3779B97F4A7C15 * k % 2**64) for k in (1, 3, 5, 7))
_MIXED = U64(64 - (SLOTS - 1).bit_length())


def suits(game: Game) -> bool:
    """Whether a game's observation shows candidates, regions and whose these are, on 81 cells."""
    numbers = len(cell_planes(game, "candidate"))
    regions = len(cell_planes(game, "region bit"))
    sides = [len(cell_planes(game, side)) for side in ("own", "opposing")]
    right = (game.observation.cells, numbers, sides) == (CELLS, NUMBERS, [1, 1])
    return game.observation.houses_only and right and regions == BITS


def has_stocks(game: Game) -> bool:
    """Whether a game's observation shows a stock of each number for either player."""
    return set(STOCKS) <= {plane.group for plane in game.observation.planes}


def house_features(game: Game) -> Features:
    """The features of a game that `suits` accepts."""
    stocks = has_stocks(game)
    numbers = number_rows(game, STOCK_ROWS if stocks else ROWS)
    most = CELLS + VIEWS * 2 * NUMBERS * NUMBERS + CELLS * NUMBERS + NUMBERS + numbers.most
    words = game.observation.packed_words + 1
    write = _kernel(game, numbers.add)
    kind = "houses 3, stocks 1" if stocks else "houses 3"
    return Features(kind, numbers.end, most, most, words, write, MEMO_WORDS)


def number_rows(game: Game, first: int) -> AddedRows:
    """Rows for the `number` planes of a game from row `first` on.

    A plane of its own has a row for each value. Planes of single numbers, such as stocks, have a
    row for each combination of the values that belong to one number. A plane whose value names a
    number or a player has none, since these are alike.

    The kernel is `add(row, features, count)`, for a list that has `count` features so far.
    """
    planes = game.observation.planes[game.observation.cell_planes :]
    single = np.array(
        [i for i, p in enumerate(planes) if not _of_number(p) and p.value is None], np.int64
    )
    highs = [planes[i].high + 1 for i in single]
    of_singles = first + np.concatenate([[0], np.cumsum(highs, dtype=np.int64)])
    groups: dict[str, list[int]] = {}
    for i, plane in enumerate(planes):
        if _of_number(plane):
            groups.setdefault(kind_of(plane), []).append(i)
    stocks = np.array(list(groups.values()), np.int64).reshape(len(groups), NUMBERS)
    sizes = np.array([planes[row[0]].high + 1 for row in stocks], np.int64)
    end = int(of_singles[-1]) + (int(np.prod(sizes)) if groups else 0)
    add = _number_kernel(game, single, of_singles, stocks, sizes)
    return AddedRows(end, len(single) + (NUMBERS if groups else 0), add)


def _number_kernel(game, single, of_singles, stocks, sizes):  # type: ignore[no-untyped-def]
    """The kernel of `number_rows`."""
    number, first_stock = number_kernel(game), int(of_singles[-1])
    singles, groups = len(single), len(stocks)

    @kernel
    def add(row, features, count):
        for i in range(singles):
            features[count] = of_singles[i] + number(row, single[i])
            count += 1
        if groups:
            for n in range(NUMBERS):
                code = 0
                for g in range(groups):
                    code = code * sizes[g] + number(row, stocks[g, n])
                features[count] = first_stock + code
                count += 1
        return count

    return add


def _of_number(plane: Any) -> bool:
    return plane.index is not None and plane.index[0] is Axis.NUMBER


@kernel
def seen_from(low, high):
    """The cells that see at least one cell of a set, and those that see at least two."""
    once0, once1, twice0, twice1 = ZERO, ZERO, ZERO, ZERO
    for w in range(2):
        left = low if w == 0 else high
        while left != ZERO:
            cell = 64 * w + lowest(left)
            left &= left - ONE
            near0, near1 = PEERS[cell, 0], PEERS[cell, 1]
            twice0 |= once0 & near0
            twice1 |= once1 & near1
            once0 |= near0
            once1 |= near1
    return once0, once1, twice0, twice1


@kernel
def count_up(ones, twos, cells):
    """Add one on some cells to counts of two bits, which stop at `CAP`."""
    full = ones & twos & cells
    return (ones ^ cells) | full, twos | (ones & cells)


@kernel
def capped(count):
    """A count, cut at `CAP`."""
    return min(count, CAP)


@kernel
def add_cells(counts, side, features, count):
    """Write the features of the cells of one side; `counts[class, bit, word]`."""
    first = side * CELL_ROWS
    for w in range(2):
        live = ZERO
        for c in range(CLASSES):
            live |= counts[c, 0, w] | counts[c, 1, w]
        while live != ZERO:
            cell = lowest(live)
            live &= live - ONE
            code = 0
            for c in range(CLASSES):
                code = 4 * code + has(counts[c, 0, w], cell) + 2 * has(counts[c, 1, w], cell)
            features[count] = first + code
            count += 1
    return count


@kernel
def add_classes(counts, low, high, seen):
    """Count the candidates of a number on each cell, by how they are seen."""
    once0, once1, twice0, twice1 = seen[0], seen[1], seen[2], seen[3]
    counts[0, 0, 0], counts[0, 1, 0] = count_up(counts[0, 0, 0], counts[0, 1, 0], low & ~once0)
    counts[0, 0, 1], counts[0, 1, 1] = count_up(counts[0, 0, 1], counts[0, 1, 1], high & ~once1)
    low, high = low & once0, high & once1
    counts[1, 0, 0], counts[1, 1, 0] = count_up(counts[1, 0, 0], counts[1, 1, 0], low & ~twice0)
    counts[1, 0, 1], counts[1, 1, 1] = count_up(counts[1, 0, 1], counts[1, 1, 1], high & ~twice1)
    counts[2, 0, 0], counts[2, 1, 0] = count_up(counts[2, 0, 0], counts[2, 1, 0], low & twice0)
    counts[2, 0, 1], counts[2, 1, 1] = count_up(counts[2, 0, 1], counts[2, 1, 1], high & twice1)


@kernel
def add_regions(regions, candidates, seen_by, view, side, found, count):
    """Write the features of the regions in which one side can place a number."""
    low, high, once0, once1 = candidates[0], candidates[1], seen_by[0], seen_by[1]
    first = FIRST_REGION + (2 * view + side) * REGION_ROWS
    for r in range(NUMBERS):
        here0, here1 = low & regions[2 * r], high & regions[2 * r + 1]
        if here0 | here1 != ZERO:
            seen = popcount(here0 & once0) + popcount(here1 & once1)
            unseen = popcount(here0) + popcount(here1) - seen
            found[count] = first + (CAP + 1) * capped(unseen) + capped(seen)
            count += 1
    return count


@kernel
def step_of(sets, w, cell):
    """How many of two sets hold a cell of word `w`; `sets` has two words of each."""
    return np.int64(has(sets[w], cell)) + np.int64(has(sets[2 + w], cell))


@kernel
def add_candidates(candidates, sets, first, features, count):
    """Write the features of one side's candidates of a number, whose rows begin at `first`.

    Each of the sets is four words: the cells that see at least one, and those that see at least
    two; of `sizes` those that have at least two themselves, and three.
    """
    sizes, mine, theirs, mine_alone, theirs_alone = sets
    for w in range(2):
        left = candidates[0] if w == 0 else candidates[1]
        while left != ZERO:
            cell = lowest(left)
            left &= left - ONE
            code = 3 * step_of(sizes, w, cell) + step_of(mine, w, cell)
            code = 3 * code + step_of(theirs, w, cell)
            code = 3 * code + step_of(mine_alone, w, cell)
            features[count] = first + 3 * code + step_of(theirs_alone, w, cell)
            count += 1
    return count


@kernel
def find_entry(memo, n, a0, a1, b0, b1):
    """Where the memo has room for these candidates of a number, and whether it has them."""
    mixed = a0 * _MIX[0] ^ a1 * _MIX[1] ^ b0 * _MIX[2] ^ b1 * _MIX[3]
    at = ENTRIES + (n * SLOTS + np.int64(mixed >> _MIXED)) * ENTRY
    same = memo[at] == a0 and memo[at + 1] == a1 and memo[at + 2] == b0 and memo[at + 3] == b1
    return at, same


@kernel
def fill_entry(memo, at, a0, a1, b0, b1):
    """Write an entry: who sees these candidates, and the features of the regions."""
    memo[at], memo[at + 1], memo[at + 2], memo[at + 3] = a0, a1, b0, b1
    regions, found = memo[REGIONS : REGIONS + 2 * NUMBERS], memo[at + LIST : at + ENTRY]
    by_b, by_a = seen_from(b0, b1), seen_from(a0, a1)
    once0, once1 = by_a[0] | by_b[0], by_a[1] | by_b[1]
    twice0 = by_a[2] | by_b[2] | (by_a[0] & by_b[0])
    twice1 = by_a[3] | by_b[3] | (by_a[1] & by_b[1])
    by_all = once0, once1, twice0, twice1
    for i in range(4):
        memo[at + SEEN + i] = by_b[i]
        memo[at + SEEN + 4 + i] = by_a[i]
        memo[at + SEEN + 8 + i] = by_all[i]
    count = add_regions(regions, (a0, a1), by_b, BY_OPPONENT, 0, found, 0)
    count = add_regions(regions, (b0, b1), by_a, BY_OPPONENT, 1, found, count)
    count = add_regions(regions, (a0, a1), by_all, BY_ALL, 0, found, count)
    memo[at + COUNT] = add_regions(regions, (b0, b1), by_all, BY_ALL, 1, found, count)


def _regions_kernel(region):  # type: ignore[no-untyped-def]
    """The kernel that brings the regions of a memo up to date."""
    plane = plane_kernel(CELLS)

    @kernel
    def update_regions(row, memo):
        same = memo[KNOWN] != ZERO
        for b in range(BITS):
            low, high = plane(row, region + b)
            same = same and memo[2 * b] == low and memo[2 * b + 1] == high
        if same:
            return
        memo[:] = ZERO  # what was found for other regions
        memo[KNOWN] = ONE
        for r in range(NUMBERS):
            memo[REGIONS + 2 * r], memo[REGIONS + 2 * r + 1] = ~ZERO, FULL[1]
        for b in range(BITS):
            low, high = plane(row, region + b)
            memo[2 * b], memo[2 * b + 1] = low, high
            for r in range(NUMBERS):
                memo[REGIONS + 2 * r] &= low if r >> b & 1 else ~low
                memo[REGIONS + 2 * r + 1] &= high if r >> b & 1 else ~high

    return update_regions


def _layers_kernel(game):  # type: ignore[no-untyped-def]
    """The kernel `layers(row, n)`: who can place number `n` (from 0), by the stocks."""
    if not has_stocks(game):

        @kernel
        def anyone(row, n):
            return BOTH

        return anyone
    planes = game.observation.planes[game.observation.cell_planes :]
    groups = [plane.group for plane in planes]
    own, opposing = (groups.index(group) for group in STOCKS)
    number = number_kernel(game)

    @kernel
    def layers(row, n):
        return np.int64(number(row, own + n) > 0) + 2 * np.int64(number(row, opposing + n) > 0)

    return layers


def _fullness_kernel(game):  # type: ignore[no-untyped-def]
    """The kernel that writes how full regions are; `live` are cells on which something fits."""
    plane, stocks = plane_kernel(CELLS), has_stocks(game)
    stone, own = (int(cell_planes(game, kind)[0]) for kind in ("stone", "own"))
    opposing = int(cell_planes(game, "opposing")[0])

    @kernel
    def add_fullness(row, regions, live0, live1, features, count):
        if not stocks:
            return count
        full0, full1 = ZERO, ZERO
        for n in range(NUMBERS):
            low, high = plane(row, stone + n)
            full0 |= low
            full1 |= high
        for side in range(2):
            side0, side1 = plane(row, opposing if side else own)
            first = FIRST_FULLNESS + side * FULLNESS_ROWS
            for r in range(NUMBERS):
                here0, here1 = regions[2 * r] & side0, regions[2 * r + 1] & side1
                if here0 | here1 != ZERO:
                    live = popcount(here0 & live0) + popcount(here1 & live1)
                    full = popcount(here0 & full0) + popcount(here1 & full1)
                    features[count] = first + (NUMBERS + 1) * live + full
                    count += 1
        return count

    return add_fullness


def _kernel(game, add_numbers):  # type: ignore[no-untyped-def]
    """The kernel of the features, over the tables of a game."""
    plane = plane_kernel(CELLS)
    candidate = int(cell_planes(game, "candidate")[0])
    own, opposing = (int(cell_planes(game, side)[0]) for side in ("own", "opposing"))
    update_regions = _regions_kernel(int(cell_planes(game, "region bit")[0]))
    layers, add_fullness = _layers_kernel(game), _fullness_kernel(game)

    @kernel
    def count_candidates(row):
        """How many candidates each cell has, as bits that count up to `CAP`."""
        ones0, ones1, twos0, twos1 = ZERO, ZERO, ZERO, ZERO
        for n in range(NUMBERS):
            if layers(row, n):
                low, high = plane(row, candidate + n)
                ones0, twos0 = count_up(ones0, twos0, low)
                ones1, twos1 = count_up(ones1, twos1, high)
        return ones0, ones1, twos0, twos1

    @kernel
    def write(row, memo, player, features):
        update_regions(row, memo)
        counts = np.zeros((2, CLASSES, 2, 2), np.uint64)
        mine0, mine1 = plane(row, own)
        theirs0, theirs1 = plane(row, opposing)
        ones0, ones1, twos0, twos1 = count_candidates(row)
        sizes = twos0, twos1, ones0 & twos0, ones1 & twos1
        regions = memo[REGIONS : REGIONS + 2 * NUMBERS]
        count = add_fullness(row, regions, ones0 | twos0, ones1 | twos1, features, 0)
        for n in range(NUMBERS):
            who = layers(row, n)
            if not who:
                continue
            low, high = plane(row, candidate + n)
            a0, a1, b0, b1 = low & mine0, high & mine1, low & theirs0, high & theirs1
            at, same = find_entry(memo, n, a0, a1, b0, b1)
            if not same:
                fill_entry(memo, at, a0, a1, b0, b1)
            seen = memo[at + SEEN : at + COUNT]
            add_classes(counts[0], a0, a1, seen[8:])
            add_classes(counts[1], b0, b1, seen[8:])
            by_b = seen[0], seen[1], seen[2], seen[3]
            by_a = seen[4], seen[5], seen[6], seen[7]
            alone_a = seen_from(a0 & ~sizes[0], a1 & ~sizes[1])
            alone_b = seen_from(b0 & ~sizes[0], b1 & ~sizes[1])
            first = FIRST_CANDIDATE + who % BOTH * 2 * CANDIDATE_ROWS
            sets = sizes, by_a, by_b, alone_a, alone_b
            count = add_candidates((a0, a1), sets, first, features, count)
            sets = sizes, by_b, by_a, alone_b, alone_a
            count = add_candidates((b0, b1), sets, first + CANDIDATE_ROWS, features, count)
            for i in range(np.int64(memo[at + COUNT])):
                features[count] = memo[at + LIST + i]
                count += 1
        for side in range(2):
            count = add_cells(counts[side], side, features, count)
        return add_numbers(row, features, count)

    return write
