"""The limit set by memory: `memset` and `memcpy` of the buffers that a step writes.

They are called in a compiled loop. From Python, the calls alone would take most of the time of a
small batch, and the limit would be one of ctypes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from azumaya.benchmarks.timing import Rates, measure

CHUNK = 4096
"""The fewest steps between two readings of the clock."""
LIMITS = "memset or memcpy of each buffer that a step writes, in a compiled loop"

# Of these types, because compiled code has addresses as numbers.
_SIZE = ctypes.c_size_t
_SET = ctypes.CFUNCTYPE(_SIZE, _SIZE, ctypes.c_int, _SIZE)(
    ctypes.cast(ctypes.memset, ctypes.c_void_p).value or 0
)
_COPY = ctypes.CFUNCTYPE(_SIZE, _SIZE, _SIZE, _SIZE)(
    ctypes.cast(ctypes.memmove, ctypes.c_void_p).value or 0
)


def _fill(places: Any, rounds: int) -> None:
    for _ in range(rounds):
        for i in range(len(places)):
            _SET(places[i, 0], 0, places[i, 2])


def _copy(places: Any, rounds: int) -> None:
    for _ in range(rounds):
        for i in range(len(places)):
            _COPY(places[i, 0], places[i, 1], places[i, 2])


# Not our `kernel`: code with addresses of this process cannot be kept on disk.
_filled, _copied = numba.njit(_fill), numba.njit(_copy)


def limits(written: list[int], size: int, seconds: float, repeats: int) -> dict[str, Rates]:
    """How many steps a second `memset` and `memcpy` of the same buffers would allow.

    Args:
        written: the bytes of each buffer.
        size: the games in a batch.
        seconds, repeats: as for `measure`.
    """
    outs = [np.ones(count, np.uint8) for count in written]
    sources = [np.ones(count, np.uint8) for count in written]
    places = np.array(
        [(o.ctypes.data, s.ctypes.data, o.nbytes) for o, s in zip(outs, sources, strict=True)],
        np.uint64,
    )
    rounds = max(1, CHUNK // size)

    def chunk_of(work: Callable[..., None]) -> Callable[[], int]:
        def chunk() -> int:
            work(places, rounds)
            return rounds * size

        return chunk

    return {
        "memset": measure(chunk_of(_filled), seconds, repeats),
        "memcpy": measure(chunk_of(_copied), seconds, repeats),
    }
