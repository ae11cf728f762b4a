"""The value of many positions in one call."""

from __future__ import annotations

import functools
from typing import Any

from azumaya.baselines.values.network import Shape, value_kernel
from azumaya.envs.game import Game
from azumaya.envs.kernels.compile import kernel


@functools.cache
def values_kernel(game: Game, shape: Shape) -> Any:
    """The kernel `values(states, weights, scratch, out)`: evaluate running positions, `(n,)`.

    `out` is `(n,)` float32; the other arguments are those of `value_kernel`.
    """
    value = value_kernel(game, shape)

    @kernel
    def values(states, weights, scratch, out):
        for i in range(states.shape[0]):
            out[i] = value(states[i], weights, scratch)
        return 0

    return values
