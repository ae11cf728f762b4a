"""Packed words spread to bytes, 64 at a time: planes and masks in the form that networks need.

LLVM compiles `spread` to one masked move and one store with AVX-512, to a shuffle and a comparison
with AVX2. Each word is written whole, so for a row whose length is not a multiple of 64 bytes
`spread_row` ends with a store that overlaps the one before: rows need no padding. Non-temporal
stores took five times as long, whatever the size of the buffer. Arguments are not checked.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import INTERPRETED, kernel

SPREAD_BYTES = 64
"""The number of bytes that a word spreads to, and the alignment of rows."""


def padded(count: int) -> int:
    """The size of a row that holds `count` bytes and is written in whole words."""
    return -(-count // SPREAD_BYTES) * SPREAD_BYTES


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A new, uninitialised array whose first byte is aligned to 64 bytes."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    room = np.empty(size + SPREAD_BYTES, np.uint8)
    start = -room.ctypes.data % SPREAD_BYTES
    return room[start : start + size].view(dtype).reshape(shape)


if INTERPRETED:

    def row_of(array, index):  # type: ignore[no-untyped-def]
        """Row `index` of a two-dimensional array, without the cost of a counted reference."""
        return array[index]

    def fetch(array, index):  # type: ignore[no-untyped-def]
        """Begin to bring an entry of an array into the cache."""

    def spread(out, offset, word):  # type: ignore[no-untyped-def]
        """Write the 64 bits of a word as bytes 0 and 1, from byte `offset` of `out` on."""
        octets = np.array([word], np.uint64).view(np.uint8)
        bits = np.unpackbits(octets, bitorder="little")
        out.reshape(-1)[offset : offset + SPREAD_BYTES] = bits

    def fill(out, offset, count, value):  # type: ignore[no-untyped-def]
        """Write a byte `count` times, from byte `offset` of `out` on."""
        out.reshape(-1)[offset : offset + count] = value

else:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    _BYTE = ir.IntType(8)

    def _address(context: Any, builder: Any, kind: Any, array: Any, offset: Any) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [offset])

    @intrinsic  # type: ignore[untyped-decorator]
    def row_of(typing_context, array, index):  # type: ignore[no-untyped-def]
        """Row `index` of a two-dimensional array, without the cost of a counted reference."""
        row = types.Array(array.dtype, 1, "C")

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            whole = context.make_array(array)(context, builder, args[0])
            (_, count), (stride, size) = (
                cgutils.unpack_tuple(builder, whole.shape, 2),
                cgutils.unpack_tuple(builder, whole.strides, 2),
            )
            address = _address(context, builder, array, args[0], builder.mul(stride, args[1]))
            view = context.make_array(row)(context, builder)
            data = builder.bitcast(address, view.data.type)
            populate_array(view, data, [count], [size], size, meminfo=None)
            return view._getvalue()

        return row(array, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch(typing_context, array, index):  # type: ignore[no-untyped-def]
        """Begin to bring an entry of an array into the cache."""

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            size = context.get_abi_sizeof(context.get_data_type(array.dtype))
            begin = builder.mul(args[1], ir.Constant(args[1].type, size))
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), *[number] * 3])
            prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            read_soon = [ir.Constant(number, value) for value in (0, 3, 1)]  # read, soon, data
            for byte in range(0, size, SPREAD_BYTES):
                offset = builder.add(begin, ir.Constant(begin.type, byte))
                address = _address(context, builder, array, args[0], offset)
                builder.call(prefetch, [address, *read_soon])
            return context.get_dummy_value()

        return types.void(array, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def spread(typing_context, out, offset, word):  # type: ignore[no-untyped-def]
        """Write the 64 bits of a word as bytes 0 and 1, from byte `offset` of `out` on."""

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            bits = builder.bitcast(args[2], ir.VectorType(ir.IntType(1), SPREAD_BYTES))
            octets = builder.zext(bits, ir.VectorType(_BYTE, SPREAD_BYTES))
            address = _address(context, builder, out, args[0], args[1])
            builder.store(octets, builder.bitcast(address, octets.type.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(out, types.int64, types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def fill(typing_context, out, offset, count, value):  # type: ignore[no-untyped-def]
        """Write a byte `count` times, from byte `offset` of `out` on."""

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            address = _address(context, builder, out, args[0], args[1])
            cgutils.memset(builder, address, args[2], builder.trunc(args[3], _BYTE))
            return context.get_dummy_value()

        return types.void(out, types.int64, types.int64, types.int64), generate


@functools.cache
def spread_row_kernel(words: int) -> Any:
    """The kernel `spread_row(out, base, count, row)` for rows of `words` words.

    It writes the first `count` bits of `row` as bytes 0 and 1, beginning at byte `base` of `out`,
    and no other byte. `count` is more than `64 * (words - 1)`, and at most `64 * words` unless
    `base` and `count` are multiples of 64. If `out` is aligned, all stores but the first and the
    last are. Stores across cache lines cost 40 % of the steps per second of 4,096 games.
    """
    last = words - 1

    @kernel
    def spread_row(out, base, count, row):
        if last == 0:
            for k in range(min(count, SPREAD_BYTES)):
                fill(out, base + k, 1, np.int64((row[0] >> U64(k)) & U64(1)))
            return
        ahead = -base & (SPREAD_BYTES - 1)
        if ahead == 0:
            for w in range(min(words, count // SPREAD_BYTES)):
                spread(out, base + w * SPREAD_BYTES, row[w])
        else:
            down, up = U64(ahead), U64(SPREAD_BYTES - ahead)
            spread(out, base, row[0])
            for w in range((count - ahead) // SPREAD_BYTES):
                at = base + ahead + w * SPREAD_BYTES
                spread(out, at, (row[w] >> down) | (row[w + 1] << up))
        beyond = SPREAD_BYTES * words - count
        if beyond > 0 or ahead > 0:
            low = (row[last - 1] >> U64(1)) >> U64(SPREAD_BYTES - 1 - beyond)
            spread(out, base + count - SPREAD_BYTES, (row[last] << U64(beyond)) | low)

    return spread_row
