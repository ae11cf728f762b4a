"""Confidence intervals of measured shares and means."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Z95 = 1.96
"""Standard deviations on either side of a 95 % interval."""


def wilson(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval for a share.

    Args:
        share: the observed share, from 0 to 1.
        count: the number of observations, at least 1.
    """
    z = Z95
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    spread = math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    half = z / (1 + z * z / count) * spread
    # rounding may put an end on the wrong side of the share
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def normal(values: Sequence[float]) -> tuple[float, float]:
    """The normal 95 % interval for the mean of independent values.

    Args:
        values: the values, at least one; the interval of a single one is that value.
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, mean
    half = Z95 * statistics.stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


def difference(first: tuple[float, int], second: tuple[float, int]) -> tuple[float, float]:
    """Newcombe's 95 % interval for the difference of two independent shares.

    Args:
        first: a share and its number of observations, as for `wilson`.
        second: the same for what is subtracted.
    """
    (one, _), (other, _) = first, second
    (low, high), (other_low, other_high) = wilson(*first), wilson(*second)
    return (
        one - other - math.hypot(one - low, other_high - other),
        one - other + math.hypot(high - one, other - other_low),
    )
