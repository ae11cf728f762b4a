"""Packed words spread to bytes, 64 at a time: planes and masks in the form that networks need.

LLVM compiles `spread` to one masked move and one store with AVX-512, to a shuffle and a comparison
with AVX2. Rows must be padded to a multiple of 64 bytes (`padded`), because each word is written
whole. Non-temporal stores took five times as long, whatever the size of the buffer. Arguments are
not checked.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import INTERPRETED

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
            builder.store(
                octets, builder.bitcast(address, octets.type.as_pointer()), align=SPREAD_BYTES
            )
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
