"""The kernels of `Viewer`: as operations of torch they took two thirds of an evaluation.

Except in `view_kernels` each takes the planes of one position, `(C, S)` int8.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.baselines.agents.plane_groups import Layout, layout_of
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import kernel

KINDS = 5
"""The kinds of groups that a candidate is in: row, column, block, board and cell."""
ZERO, ONE = np.float32(0), np.float32(1)


def find_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels `count(planes)` and `find(planes, number, cell, rivals)`.

    The latter writes a position's candidates and how many each cell has, and returns their number.
    """
    of_candidate, of_stock, of_set = layout.numbered[0], layout.stocks, layout.sets
    numbers, stocks, sets = len(of_candidate), len(of_stock), len(of_set)
    cells = len(layout.houses)

    @kernel
    def is_spent(planes, n):
        left = 0
        for t in range(stocks):
            left += planes[of_stock[t, n], 0]
        return stocks > 0 and left == 0

    @kernel
    def is_owned(planes, cell):
        owned = 0
        for q in range(sets):
            owned |= planes[of_set[q], cell]
        return owned != 0

    @kernel
    def count(planes):
        total = 0
        for n in range(numbers):
            fits, spent = planes[of_candidate[n]], is_spent(planes, n)
            for cell in range(cells):
                total += fits[cell] != 0 and not (spent and is_owned(planes, cell))
        return total

    @kernel
    def find(planes, number, cell, rivals):
        found = 0
        rivals[:] = 0
        for n in range(numbers):
            fits, spent = planes[of_candidate[n]], is_spent(planes, n)
            for at in range(cells):
                if fits[at] != 0 and not (spent and is_owned(planes, at)):
                    number[found], cell[found] = n, at
                    rivals[at] += 1
                    found += 1
        return found

    return count, find


def field_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels `describe(planes, rivals, field)` and `add_up(number, cell, field, sums)`.

    The former writes the fields of a candidate of each cell, `(S, fields)`. The latter adds those
    of a position's candidates over the houses and the board, `(N, board + 1, fields)`.
    """
    fields, of_set, houses, board = layout.fields, layout.sets, layout.houses, layout.board
    sets, cells = len(of_set), len(houses)

    @kernel
    def describe(planes, rivals, field):
        for cell in range(cells):
            if rivals[cell] != 0:
                field[cell, 0] = ONE
                for q in range(sets):
                    own = np.float32(planes[of_set[q], cell])
                    field[cell, 1 + q] = own
                    field[cell, 1 + sets + q] = own / np.float32(rivals[cell])
                    field[cell, 1 + 2 * sets + q] = own if rivals[cell] == 1 else ZERO

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
    """The kernel `survey(planes, sums, often, overview)`: all but `sums` is written.

    `often` is how often each number is in the planes of each kind, divided by the rows, `(K, N)`.
    """
    numbered, of_set, fields, board = layout.numbered, layout.sets, layout.fields, layout.board
    (kinds, numbers), sets, cells = numbered.shape, len(of_set), len(layout.houses)
    per_row, per_cell = np.float32(1 / layout.size), np.float32(1 / cells)

    @kernel
    def survey(planes, sums, often, overview):
        overview[:] = ZERO
        for n in range(numbers):
            for f in range(fields):
                overview[f] += sums[n, board, f] * per_cell
            for k in range(kinds):
                laid, total, at = planes[numbered[k, n]], 0, fields + k * (1 + sets)
                for cell in range(cells):
                    total += laid[cell]
                often[k, n] = np.float32(total) * per_row
                overview[at] += np.float32(total) * per_cell
                for q in range(sets):
                    owned, total = planes[of_set[q]], 0
                    for cell in range(cells):
                        total += laid[cell] & owned[cell]
                    overview[at + 1 + q] += np.float32(total) * per_cell

    return survey


def write_kernel(layout: Layout) -> Any:
    """The kernel `write(planes, n, cell, rivals, field, sums, often, row)`.

    It writes the features of a candidate; `rivals` and `field` are those of its cell.
    """
    houses, board, fields = layout.houses, layout.board, layout.fields
    shared, scale, of_stock = layout.shared, layout.scale, layout.stocks
    kinds, stocks, told = len(layout.numbered), len(of_stock), len(shared)
    per_row, per_stock = np.float32(1 / layout.size), np.float32(1 / layout.most)

    @kernel
    def write(planes, n, cell, rivals, field, sums, often, row):
        for f in range(fields):
            row[f] = field[f]
            for h in range(3):
                row[(1 + h) * fields + f] = sums[n, houses[cell, h], f] * per_row
            row[4 * fields + f] = sums[n, board, f] * per_row
            row[5 * fields + f] = field[f] * np.float32(rivals) * per_row
        at = (1 + KINDS) * fields
        for p in range(told):
            row[at + p] = np.float32(planes[shared[p], cell]) * scale[p]
        at += told
        for k in range(kinds):
            row[at + k] = often[k, n]
        at += kinds
        for t in range(stocks):
            left = planes[of_stock[t, n], 0]
            row[at + t] = np.float32(left) * per_stock
            row[at + stocks + t] = ONE if left > 0 else ZERO

    return write


def group_kernel(layout: Layout) -> Any:
    """The kernel `name_groups(position, n, cell, groups)`: write the groups of a candidate."""
    houses, board = layout.houses, layout.board
    numbers, cells = layout.numbered.shape[1], len(houses)

    @kernel
    def name_groups(position, n, cell, groups):
        first = position * (numbers * (board + 1) + cells)
        for h in range(3):
            groups[h] = first + n * (board + 1) + houses[cell, h]
        groups[3] = first + n * (board + 1) + board
        groups[4] = first + numbers * (board + 1) + cell

    return name_groups


@functools.cache
def view_kernels(game: Game) -> tuple[Any, Any]:
    """The kernels `count_all(planes, lengths)` and `view(planes, ...)`, for a batch."""
    layout = layout_of(game)
    count, find = find_kernels(layout)
    describe, add_up = field_kernels(layout)
    survey, write, name_groups = survey_kernel(layout), write_kernel(layout), group_kernel(layout)
    (kinds, numbers), cells = layout.numbered.shape, len(layout.houses)
    fields, houses = layout.fields, layout.board

    @kernel
    def count_all(planes, lengths):
        for b in range(len(planes)):
            lengths[b] = count(planes[b])

    @kernel
    def view(planes, position, number, cell, groups, features, overview):
        rivals, field = np.empty(cells, np.int64), np.empty((cells, fields), np.float32)
        sums = np.empty((numbers, houses + 1, fields), np.float32)
        often, first = np.empty((kinds, numbers), np.float32), 0
        for b in range(len(planes)):
            here = planes[b]
            end = first + find(here, number[first:], cell[first:], rivals)
            describe(here, rivals, field)
            add_up(number[first:end], cell[first:end], field, sums)
            survey(here, sums, often, overview[b])
            for i in range(first, end):
                n, at = number[i], cell[i]
                position[i] = b
                name_groups(b, n, at, groups[i])
                write(here, n, at, rivals[at], field[at], sums, often, features[i])
            first = end

    return count_all, view
