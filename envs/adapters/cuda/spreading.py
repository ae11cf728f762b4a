"""Kernels that spread packed rows to bytes on a CUDA device, one byte for each bit.

Rows of bytes follow one another without padding, so most of them do not begin at a multiple of
eight, where eight bytes can be stored at once. But eight rows have as many words of eight bytes as
one row has bytes. So a team of threads writes a group of eight rows or a multiple of that, word by
word, whatever rows a word belongs to; all stores are aligned, and those of a warp are contiguous.

These kernels mostly write, so the number of instructions per store matters: indices are unsigned
(numba checks whether signed ones are negative), within a group they have 32 bits, and the number of
passes is a constant.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numba import cuda

from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ONE, U64, ZERO, word_count
from azumaya.envs.kernels.compile import kernel

TEAM_BITS = 7
TEAM = 1 << TEAM_BITS
"""Threads that write a group of rows."""
LEAST = 1024
"""The fewest words of a group, so that few threads have nothing to do in the last pass."""
U32 = np.uint32
_0, _1, _3, _4, _7, _8, _15, _255 = map(U32, (0, 1, 3, 4, 7, 8, 15, 255))
_APART, _LOWEST = U32(0x204081), U32(0x01010101)
_EVERY, _HALF = U64(0x0101010101010101), U64(32)


def rows_together(size: int) -> int:
    """The rows of a group, each of `size` bytes."""
    return 8 * -(-LEAST // size)


def threads(count: int, size: int) -> int:
    """The threads that spread `count` rows to `size` bytes each."""
    return -(-count // rows_together(size)) * TEAM


@kernel
def spread_byte(octet):
    """Eight bits as eight bytes, each 0 or 1."""
    low = U32(U32(octet & _15) * _APART) & _LOWEST
    high = U32(U32(octet >> _4) * _APART) & _LOWEST
    return U64(low) | (U64(high) << _HALF)


@functools.cache
def bits_kernel(octets: int, count: int) -> Any:
    """The kernel `bits(packed, base, first)`: eight bits of a row, from bit `first` on, as bytes.

    The row begins at byte `base` and has `octets` bytes, of which the first `count` bits are asked
    for. What comes after these is undefined.
    """
    last, to_the_end = U32(octets - 1), (count - 1) // 8 == octets - 1

    @kernel
    def bits(packed, base, first):
        place = U32(first >> _3)
        found = U32(packed[base + U64(place)])
        if not to_the_end or place < last:
            found = U32(found | U32(U32(packed[base + U64(place) + ONE]) << _8))
        return spread_byte(U32(U32(found >> U32(first & _7)) & _255))

    return bits


@functools.cache
def planes_kernel(game: Game) -> Any:
    """The kernel `planes(seen, base, first)`: eight bytes of an observation, from `first` on.

    They may span the last bits and a number plane, or two number planes, but no more, as boards
    with number planes have at least eight cells. What comes after the last plane is undefined.
    """
    cells, octets = game.observation.cells, 8 * game.observation.packed_words
    count = game.observation.cell_planes * cells
    bits, before = bits_kernel(octets, count), U64(8 * word_count(count))
    in_bits, a_plane = U32(count), U32(cells)
    numbers = U32(len(game.observation.planes) - game.observation.cell_planes)

    @kernel
    def number(seen, base, plane):
        return U64(seen[base + before + U64(plane)]) * _EVERY if plane < numbers else ZERO

    @kernel
    def planes(seen, base, first):
        if U32(first + _8) <= in_bits:
            return bits(seen, base, first)
        # counted from where a plane before the first number plane would begin: never negative
        place = U32(U32(first + a_plane) - in_bits)
        plane = U32(place // a_plane)
        left = U32(a_plane - U32(place - U32(plane * a_plane)))
        eight = bits(seen, base, first) if plane == _0 else number(seen, base, U32(plane - _1))
        if left < _8:
            shift = U64(left) << U64(3)
            eight = (eight & ((ONE << shift) - ONE)) | (number(seen, base, plane) << shift)
        return eight

    return planes


def _write_kernel(eight: Any, octets: int, size: int, some: bool) -> Any:
    """The kernel that writes rows of `size` bytes, of which `eight` gives eight at a time.

    Packed rows have `octets` bytes; those of fewer than eight bits have zeros after these. The last
    word of `out` may go beyond the last row. With `some`, only words of rows in `which`, and of the
    rows next to them, are written.
    """
    together = rows_together(size)
    most, width, wide = together * size // 8, U32(size), U32(octets)
    end, a_team = U32(most), U32(TEAM)

    @cuda.jit
    def write(packed, which, out):
        thread = U64(cuda.grid(1))
        team, word = thread >> U64(TEAM_BITS), U32(thread & U64(TEAM - 1))
        count, above = U64(which.shape[0]), team * U64(together)
        if above >= count:
            return
        rows = U32(min(U64(together), count - above))
        group, target = above * U64(octets), team * U64(most)
        while word < end:
            at = U32(word * _8)
            row = U32(at // width)
            if row >= rows:
                return
            other = U32(min(U32(row + _1), U32(rows - _1)))
            if not some or which[above + U64(row)] or which[above + U64(other)]:
                first = U32(at - U32(row * width))
                base = group + U64(U32(row * wide))
                value, filled = eight(packed, base, first), U32(width - first)
                if filled < _8:
                    value &= (ONE << (U64(filled) << U64(3))) - ONE
                    while filled < _8 and U32(row + _1) < rows:
                        row, base = U32(row + _1), base + U64(octets)
                        value |= eight(packed, base, _0) << (U64(filled) << U64(3))
                        filled = U32(filled + width)
                out[target + U64(word)] = value
            word = U32(word + a_team)

    return write


@functools.cache
def write_masks_kernel(words: int, actions: int) -> Any:
    """The kernel `write(legal, which, masks)` that spreads masks of `words` words to `actions`.

    It takes their bytes and the words of the result, `(n,)` each, and `which`, `(n,)` bool.
    """
    octets = 8 * words
    return _write_kernel(bits_kernel(octets, actions), octets, actions, False)


@functools.cache
def write_planes_kernel(game: Game, some: bool) -> Any:
    """The kernel `write(seen, which, planes)`, with arguments as for masks.

    With `some`, rows that are not in `which` are undefined.
    """
    octets, size = (
        8 * game.observation.packed_words,
        len(game.observation.planes) * game.observation.cells,
    )
    return _write_kernel(planes_kernel(game), octets, size, some)
