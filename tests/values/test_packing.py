"""Features packed and unpacked."""

from __future__ import annotations

import numpy as np

from azumaya.baselines.values.packing import gather, scatter


def test_features_are_packed_in_order_and_come_back() -> None:
    """Games of no, some and all plies; what no position uses is neither read nor written."""
    draws = np.random.default_rng(1)
    found = draws.integers(0, 1000, (4, 5, 7)).astype(np.int32)
    counts, lengths = draws.integers(0, 8, (4, 5)), np.array([3, 0, 5, 1])
    used = [list(found[g, t, : counts[g, t]]) for g in range(4) for t in range(int(lengths[g]))]
    packed = np.full(sum(map(len, used)), -1, np.int32)
    gather(found, counts, lengths, packed)
    assert packed.tolist() == [int(row) for rows in used for row in rows]
    other = np.full_like(found, -1)
    scatter(packed, counts, lengths, other)
    for g in range(4):
        for t in range(5):
            size = int(counts[g, t]) if t < lengths[g] else 0
            assert (other[g, t, :size] == found[g, t, :size]).all()
            assert (other[g, t, size:] == -1).all()
