"""Confidence intervals of measured shares and means."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

Z95 = 1.96
"""Standard deviations on either side of a 95 % interval."""


def wilson(share: float, count: float) -> tuple[float, float]:
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


def share_of_pairs(pairs: Sequence[int]) -> float:
    """The share that is won of games played in pairs, draws counting half; `pairs` as below."""
    return sum(halves * n for halves, n in enumerate(pairs)) / (4 * sum(pairs))


def of_pairs(pairs: Sequence[int]) -> tuple[float, float]:
    """The 95 % interval for the share that is won of games played in pairs.

    It is Wilson's, for as many observations as the pairs are worth: as many as would leave the
    share as uncertain as the results of the pairs, which are independent, do. The two games of a
    pair need not be. If one seat wins both of them, a pair is worth more than two observations, and
    if one player does, only one. A pair is taken to be worth one until results say otherwise: one
    more pair of the largest variance is added.

    Args:
        pairs: how many pairs gave 0, 1, 2, 3 and 4 half points; at least one.
    """
    count, share = sum(pairs), share_of_pairs(pairs)
    spread = sum(n * (halves / 4 - share) ** 2 for halves, n in enumerate(pairs))
    return _of_spread(share, count, spread)


def of_repeats(halves: Sequence[int], starts: Sequence[int]) -> tuple[float, float]:
    """`of_pairs` where starts are repeated: the pairs of one start count as one observation.

    Where nothing is left to chance they are the same games again. If all starts differ, it is the
    interval of `of_pairs`.

    Args:
        halves: the half points of each pair, at least one.
        starts: the number of each pair's start.
    """
    share, missed = statistics.fmean(halves) / 4, dict.fromkeys(starts, 0.0)
    for won, start in zip(halves, starts, strict=True):
        missed[start] += won / 4 - share
    count = len(missed)
    spread = sum(each**2 for each in missed.values()) * (count / len(halves)) ** 2
    return _of_spread(share, count, spread)


def _of_spread(share: float, count: int, spread: float) -> tuple[float, float]:
    """Wilson's interval for `count` observations, given the sum of their squared differences."""
    largest = count * share * (1 - share)
    return wilson(share, count * (largest + 1 / 4) / (spread + 1 / 4))


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


def difference(
    one: float, ends: tuple[float, float], other: float, other_ends: tuple[float, float]
) -> tuple[float, float]:
    """Newcombe's 95 % interval for the difference of two independent shares.

    Args:
        one: a share.
        ends: its 95 % interval.
        other: the share that is subtracted.
        other_ends: its 95 % interval.
    """
    (low, high), (other_low, other_high) = ends, other_ends
    return (
        one - other - math.hypot(one - low, other_high - other),
        one - other + math.hypot(high - one, other - other_low),
    )
