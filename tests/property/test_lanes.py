"""Eight floats at a time, compared with NumPy."""

from __future__ import annotations

import numpy as np

from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.lanes import LANES, add_lanes, scale_lanes, whole_lanes


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
