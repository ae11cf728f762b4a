"""Eight floats at a time, compared with NumPy, and sums that are the same to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.lanes import LANES, add_lanes, add_rows, scale_lanes, whole_lanes


@kernel
def add(sums, at, more, first):  # type: ignore[no-untyped-def]
    add_lanes(sums, at, more, first)


@kernel
def scale(out, at, source, first, factor):  # type: ignore[no-untyped-def]
    scale_lanes(out, at, source, first, factor)


def test_vectors_are_added_and_scaled_in_place_and_nothing_else_changes() -> None:
    draws = np.random.default_rng(3)
    for at, first in ((0, 0), (3, 5), (11, 2)):
        one, other = (draws.standard_normal((4, 7)).astype(np.float32) for _ in range(2))
        sums, out = one.copy(), one.copy()
        add(sums, np.int64(at), other, np.int64(first))
        scale(out, np.int64(at), other, np.int64(first), np.float32(0.3))
        part, read = slice(at, at + LANES), other.reshape(-1)[first : first + LANES]
        wanted = one.reshape(-1).copy()
        wanted[part] += read
        np.testing.assert_array_equal(sums.reshape(-1), wanted)
        wanted = one.reshape(-1).copy()
        wanted[part] = read * np.float32(0.3)
        np.testing.assert_array_equal(out.reshape(-1), wanted)


def test_rows_end_with_a_whole_vector() -> None:
    assert [whole_lanes(count) for count in (1, 7, 8, 9, 16)] == [8, 8, 8, 16, 16]


# ---- sums of rows ----

ROWS = 40


def naive(hidden: np.ndarray, rows: np.ndarray, features: list[int]) -> np.ndarray:
    """The sums unit by unit: four rows are added to each other first, the last ones singly."""
    sums = [np.float32(x) for x in hidden]
    for j in range(len(sums)):
        left = list(features)
        while len(left) >= 4:
            a, b, c, d = (rows[left.pop(0), j] for _ in range(4))
            sums[j] = sums[j] + ((a + b) + (c + d))
        for row in left:
            sums[j] = sums[j] + rows[row, j]
    return np.array(sums, np.float32)


@pytest.mark.parametrize("width", [1, 4, LANES, 11, 2 * LANES, 37])
def test_rows_are_added_in_the_same_order_for_every_unit(width: int) -> None:
    draws = np.random.default_rng(width)
    rows = draws.standard_normal((ROWS, width)).astype(np.float32)
    weights = np.concatenate([rows.ravel(), draws.standard_normal(5).astype(np.float32)])
    for count in range(10):
        features = draws.integers(ROWS, size=count + 3).astype(np.int32)
        room = draws.standard_normal(width + 2 * LANES).astype(np.float32)
        before, hidden = room.copy(), room[LANES : LANES + width]
        expected = naive(hidden, rows, features[:count].tolist())
        add_rows(hidden, weights, features, count, width)
        assert hidden.tobytes() == expected.tobytes()
        assert (room[:LANES] == before[:LANES]).all()
        assert (room[LANES + width :] == before[LANES + width :]).all()
        assert (weights[: ROWS * width] == rows.ravel()).all()
