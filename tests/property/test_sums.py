"""Sums of rows: to the last bit the same as one addition after the other, for every width."""

from __future__ import annotations

import numpy as np
import pytest

from azumaya.envs.kernels.lanes import LANES, add_rows

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
