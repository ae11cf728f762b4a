"""The kernels of `CandidateFinder`: as operations of torch they took two thirds of an evaluation.

Each is for one position, except those of `finder_kernels`, with these arrays:

- `planes`, `(C, S)` int8;
- `number` and `cell` of its `M` candidates, `(M,)` int64;
- `rivals`, how many candidates each cell has, `(S,)` int64;
- `field`, the fields that a candidate of each cell has, `(S, lanes)` float32: rows that are
  handled eight floats at a time end with zeros;
- `crowd`, the sums of these over the candidates of the cell, divided by the rows, `(S, lanes)`;
- `shown`, the shared planes at each cell, scaled, `(S, shared)` float32;
- `sums`, the fields added up by number over each house and, last, over the board,
  `(N, house_count + 1, lanes)` float32;
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
from azumaya.envs.kernels.lanes import LANES, add_lanes, scale_lanes, whole_lanes

ZERO, ONE = np.float32(0), np.float32(1)


def put_kernel(layout: Layout) -> Any:
    """The kernel `put(out, at, source, first, factor)`: write a row of fields times a factor.

    Both arrays are indexed as if they were flat; what is written may end with zeros, see `field`.
    """
    lanes = whole_lanes(layout.fields)

    @kernel
    def put(out, at, source, first, factor):
        for f in range(0, lanes, LANES):
            scale_lanes(out, at + f, source, first + f, factor)

    return put


def list_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels `count(planes)` and `list_all(planes, number, cell, rivals)`.

    Both return how many candidates there are; the latter also writes them to its other arguments,
    of which `number` and `cell` have room for one more. A jump for each number on each cell would
    take twice as long.
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
                here = fits(planes, n, spent, at)
                number[found], cell[found] = n, at  # if it is none, the next one takes its place
                rivals[at] += here
                found += here
        return found

    return count, list_all


def field_kernels(layout: Layout) -> tuple[Any, Any]:
    """The kernels that write what candidates have in common.

    `describe(planes, rivals, field, crowd, shown)` writes its last three arguments, for the cells
    that have candidates, and `add_up(number, cell, field, sums)` writes its last.
    """
    of_set, houses, board = layout.sets, layout.houses, layout.house_count
    shared, scale, told = layout.shared, layout.scale, len(layout.shared)
    sets, cells, lanes = len(of_set), layout.cells, whole_lanes(layout.fields)
    put, per_row = put_kernel(layout), np.float32(1 / layout.size)

    @kernel
    def describe(planes, rivals, field, crowd, shown):
        for at in range(cells):
            if rivals[at] != 0:
                field[at, 0] = ONE
                for q in range(sets):
                    own = np.float32(planes[of_set[q], at])
                    field[at, 1 + q] = own
                    field[at, 1 + sets + q] = own / np.float32(rivals[at])
                    field[at, 1 + 2 * sets + q] = own if rivals[at] == 1 else ZERO
                put(crowd, at * lanes, field, at * lanes, np.float32(rivals[at]))
                put(crowd, at * lanes, crowd, at * lanes, per_row)
                for p in range(told):
                    shown[at, p] = np.float32(planes[shared[p], at]) * scale[p]

    @kernel
    def add_up(number, cell, field, sums):
        sums[:] = ZERO
        for i in range(len(cell)):
            first, own = number[i] * (board + 1), cell[i] * lanes
            for f in range(0, lanes, LANES):
                for h in range(3):
                    add_lanes(sums, (first + houses[cell[i], h]) * lanes + f, field, own + f)
                add_lanes(sums, (first + board) * lanes + f, field, own + f)

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
                laid, total, first = planes[numbered[k, n]], np.int16(0), fields + k * (1 + sets)
                for at in range(cells):
                    total = np.int16(total + laid[at])
                often[k, n] = np.float32(total) * per_row
                overview[first] += np.float32(total) * per_cell
                for q in range(sets):
                    owned, total = planes[of_set[q]], np.int16(0)
                    for at in range(cells):
                        total = np.int16(total + (laid[at] & owned[at]))
                    overview[first + 1 + q] += np.float32(total) * per_cell

    return survey


def feature_kernel(layout: Layout) -> Any:
    """The kernel `write(planes, n, at, field, crowd, shown, sums, often, features, i)`.

    It writes the features of a candidate to row `i` of `features`. What is written in vectors may
    reach beyond its place; what belongs there is written afterwards.
    """
    houses, board, fields = layout.houses, layout.house_count, layout.fields
    of_stock, told, lanes = layout.stocks, len(layout.shared), whole_lanes(layout.fields)
    kinds, stocks, put = len(layout.numbered), len(of_stock), put_kernel(layout)
    per_row, per_stock = np.float32(1 / layout.size), np.float32(1 / layout.most)
    begun, size = told - told % LANES, layout.features
    assert size - (1 + GROUPS) * fields >= lanes - fields  # so that no vector leaves its row

    @kernel
    def write(planes, n, at, field, crowd, shown, sums, often, features, i):
        row, own, total = i * size, at * lanes, n * (board + 1)
        put(features, row, field, own, ONE)
        for h in range(3):
            house = (total + houses[at, h]) * lanes
            put(features, row + (1 + h) * fields, sums, house, per_row)
        put(features, row + 4 * fields, sums, (total + board) * lanes, per_row)
        put(features, row + 5 * fields, crowd, own, ONE)
        first = (1 + GROUPS) * fields
        for p in range(0, begun, LANES):
            scale_lanes(features, row + first + p, shown, at * told + p, ONE)
        for p in range(begun, told):
            features[i, first + p] = shown[at, p]
        first += told
        for k in range(kinds):
            features[i, first + k] = often[k, n]
        first += kinds
        for t in range(stocks):
            left = planes[of_stock[t, n], 0]
            features[i, first + t] = np.float32(left) * per_stock
            features[i, first + stocks + t] = ONE if left > 0 else ZERO

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
    lanes, told, board = whole_lanes(layout.fields), len(layout.shared), layout.house_count

    @kernel
    def count_all(planes, lengths):
        for b in range(len(planes)):
            lengths[b] = count(borrow(planes[b]))

    @kernel
    def find_all(planes, position, number, cell, groups, features, overview):
        rivals, field = np.empty(cells, np.int64), np.zeros((cells, lanes), np.float32)
        crowd, shown = np.zeros((cells, lanes), np.float32), np.empty((cells, told), np.float32)
        sums = np.empty((numbers, board + 1, lanes), np.float32)
        often, first = np.empty((kinds, numbers), np.float32), 0
        for b in range(len(planes)):
            here = borrow(planes[b])
            end = first + list_all(here, number[first:], cell[first:], rivals)
            describe(here, rivals, field, crowd, shown)
            add_up(number[first:end], cell[first:end], field, sums)
            survey(here, sums, often, overview[b])
            for i in range(first, end):
                n, at = number[i], cell[i]
                position[i] = b
                name_groups(b, n, at, groups[i])
                write(here, n, at, field, crowd, shown, sums, often, features, i)
            first = end

    return count_all, find_all
