"""What a game's `bounds` say about final payoffs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import kernel

UNKNOWN = 1 << 18
"""More than any payoff, and few enough points for alpha-beta's scale of `UNIT` per point."""


@functools.cache
def payoff_range_kernel(bounds: Any) -> Any:
    """The kernel `payoff_range(state)`: the least and the most that player_0's payoff can become.

    Both are proven, for a running position. `bounds` is the kernel of a game's `Hints`; without one
    nothing is known, and they are `-UNKNOWN` and `UNKNOWN`.
    """

    @kernel
    def payoff_range(state):
        if bounds is None:
            return np.int64(-UNKNOWN), np.int64(UNKNOWN)
        least, most = bounds(state)
        payoff = np.int64(state.payoff)
        if state.to_move == 0:
            return payoff + least, payoff + most
        return payoff - most, payoff - least

    return payoff_range
