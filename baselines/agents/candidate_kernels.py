"""The kernels of `CandidateFinder`: as operations of torch they took two thirds of an evaluation.

Each is for one position, except those of `finder_kernels`, with these arrays:

- `planes`, `(C, S)` int8;
- `number` and `cell` of its `M` candidates, `(M,)` int64;
- `rivals`, how many candidates each cell has, `(S,)` int64;
- `field`, the fields that a candidate of each cell has, `(S, fields)` float32;
- `sums`, these added up by number over each house and, last, over the board,
  `(N, house_count + 1, fields)` float32;
- `often`, how often each number is in the planes of each kind, divided by the rows, `(K, N)`
  float32.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.agents.plane_groups import GROUPS, Layout, layout_of
from azumaya.envs.game import Game
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

ZERO, ONE = np.float32(0), np.float32(1)


def list_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels `count(planes)` and `list_all(planes, number, cell, rivals)`.

    Both return how many candidates there are; the latter also writes them to its other arguments.
    """
    of_candidate, of_stock, of_set = layout.numbered[0], layout.stocks, layout.sets
    numbers, cells, stocks, sets = layout.numbers, layout.cells, len(of_stock), len(of_set)

    @kernel
    def is_spent(planes, n):
        left = 0
        for t in range(stocks):
            left += planes[of_stock[t, n], 0]
        return stocks > 0 and left == 0

    @kernel
    def is_owned(planes, at):
        owned = 0
        for q in range(sets):
            owned |= planes[of_set[q], at]
        return owned != 0

    @kernel
    def fits(planes, n, spent, at):
        return planes[of_candidate[n], at] != 0 and not (spent and is_owned(planes, at))

    @kernel
    def count(planes):
        found = 0
        for n in range(numbers):
            spent = is_spent(planes, n)
            for at in range(cells):
                found += fits(planes, n, spent, at)
        return found

    @kernel
    def list_all(planes, number, cell, rivals):
        found = 0
        rivals[:] = 0
        for n in range(numbers):
            spent = is_spent(planes, n)
            for at in range(cells):
                if fits(planes, n, spent, at):
                    number[found], cell[found] = n, at
                    rivals[at] += 1
                    found += 1
        return found

    return count, list_all


def field_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels `describe(planes, rivals, field)` and `add_up(number, cell, field, sums)`.

    Each writes its last argument.
    """
    fields, of_set, houses, board = layout.fields, layout.sets, layout.houses, layout.house_count
    sets, cells = len(of_set), layout.cells

    @kernel
    def describe(planes, rivals, field):
        for at in range(cells):
            if rivals[at] != 0:
                field[at, 0] = ONE
                for q in range(sets):
                    own = np.float32(planes[of_set[q], at])
                    field[at, 1 + q] = own
                    field[at, 1 + sets + q] = own / np.float32(rivals[at])
                    field[at, 1 + 2 * sets + q] = own if rivals[at] == 1 else ZERO

    @kernel
    def add_up(number, cell, field, sums):
        sums[:] = ZERO
        for i in range(len(cell)):
            n, own = number[i], field[cell[i]]
            for h in range(3):
                total = sums[n, houses[cell[i], h]]
                for f in range(fields):
                    total[f] += own[f]
            total = sums[n, board]
            for f in range(fields):
                total[f] += own[f]

    return describe, add_up


def survey_kernel(layout: Layout) -> Any:
    """The kernel `survey(planes, sums, often, overview)`: write `often` and the overview."""
    numbered, of_set, board = layout.numbered, layout.sets, layout.house_count
    (kinds, numbers), sets = numbered.shape, len(of_set)
    fields, cells = layout.fields, layout.cells
    per_row, per_cell = np.float32(1 / layout.size), np.float32(1 / cells)

    @kernel
    def survey(planes, sums, often, overview):
        overview[:] = ZERO
        for n in range(numbers):
            for f in range(fields):
                overview[f] += sums[n, board, f] * per_cell
            for k in range(kinds):
                laid, total, first = planes[numbered[k, n]], 0, fields + k * (1 + sets)
                for at in range(cells):
                    total += laid[at]
                often[k, n] = np.float32(total) * per_row
                overview[first] += np.float32(total) * per_cell
                for q in range(sets):
                    owned, total = planes[of_set[q]], 0
                    for at in range(cells):
                        total += laid[at] & owned[at]
                    overview[first + 1 + q] += np.float32(total) * per_cell

    return survey


def feature_kernel(layout: Layout) -> Any:
    """The kernel `write(planes, n, at, rivals, own, sums, often, row)`.

    It writes the features of a candidate to `row`; `rivals` and `own` are the number of candidates
    and the fields of its cell.
    """
    houses, board, fields = layout.houses, layout.house_count, layout.fields
    shared, scale, of_stock = layout.shared, layout.scale, layout.stocks
    kinds, stocks, told = len(layout.numbered), len(of_stock), len(shared)
    per_row, per_stock = np.float32(1 / layout.size), np.float32(1 / layout.most)

    @kernel
    def write(planes, n, at, rivals, own, sums, often, row):
        for f in range(fields):
            row[f] = own[f]
        for h in range(3):
            for f in range(fields):
                row[(1 + h) * fields + f] = sums[n, houses[at, h], f] * per_row
        for f in range(fields):
            row[4 * fields + f] = sums[n, board, f] * per_row
        for f in range(fields):
            row[5 * fields + f] = own[f] * np.float32(rivals) * per_row
        first = (1 + GROUPS) * fields
        for p in range(told):
            row[first + p] = np.float32(planes[shared[p], at]) * scale[p]
        first += told
        for k in range(kinds):
            row[first + k] = often[k, n]
        first += kinds
        for t in range(stocks):
            left = planes[of_stock[t, n], 0]
            row[first + t] = np.float32(left) * per_stock
            row[first + stocks + t] = ONE if left > 0 else ZERO

    return write


def group_kernel(layout: Layout) -> Any:
    """The kernel `name_groups(position, n, at, groups)`: write a candidate's groups, `(5,)`."""
    houses, board, numbers, size = layout.houses, layout.house_count, layout.numbers, layout.groups

    @kernel
    def name_groups(position, n, at, groups):
        first = position * size
        for h in range(3):
            groups[h] = first + n * (board + 1) + houses[at, h]
        groups[3] = first + n * (board + 1) + board
        groups[4] = first + numbers * (board + 1) + at

    return name_groups


@functools.cache
def finder_kernels(game: Game) -> tuple[Any, Any]:
    """The kernels `count_all(planes, lengths)` and `find_all(planes, ...)` for a batch.

    `find_all(planes, position, number, cell, groups, features, overview)` writes all but the
    planes, `(B, C, S)`; the arrays are those of `Candidates`.
    """
    layout = layout_of(game)
    count, list_all = list_kernels(layout)
    describe, add_up = field_kernels(layout)
    survey, write, name_groups = survey_kernel(layout), feature_kernel(layout), group_kernel(layout)
    (kinds, numbers), cells = layout.numbered.shape, layout.cells
    fields, board = layout.fields, layout.house_count

    @kernel
    def count_all(planes, lengths):
        for b in range(len(planes)):
            lengths[b] = count(borrow(planes[b]))

    @kernel
    def find_all(planes, position, number, cell, groups, features, overview):
        rivals, field = np.empty(cells, np.int64), np.empty((cells, fields), np.float32)
        sums = np.empty((numbers, board + 1, fields), np.float32)
        often, first = np.empty((kinds, numbers), np.float32), 0
        for b in range(len(planes)):
            here = borrow(planes[b])
            end = first + list_all(here, number[first:], cell[first:], rivals)
            describe(here, rivals, field)
            add_up(number[first:end], cell[first:end], field, sums)
            survey(here, sums, often, overview[b])
            for i in range(first, end):
                n, at = number[i], cell[i]
                position[i] = b
                name_groups(b, n, at, groups[i])
                write(here, n, at, rivals[at], field[at], sums, often, features[i])
            first = end

    return count_all, find_all
