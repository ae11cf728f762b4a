"""Eight floats at a time: what kernels over short rows of float32 are made of.

Written as loops they are compiled to scalar operations, because LLVM has to assume that the arrays
overlap. Arrays are contiguous and indexed as if they were flat. Arguments are not checked.
"""

from __future__ import annotations

from typing import Any

from azumaya.envs.kernels.compile import INTERPRETED

LANES = 8
"""The floats of a vector."""


def whole_lanes(count: int) -> int:
    """The length of a row for `count` floats that is written in vectors."""
    return -(-count // LANES) * LANES


if INTERPRETED:

    def add_lanes(sums, at, more, first):  # type: ignore[no-untyped-def]
        """Add `more[first : first + LANES]` to `sums[at : at + LANES]`."""
        sums.reshape(-1)[at : at + LANES] += more.reshape(-1)[first : first + LANES]

    def scale_lanes(out, at, source, first, factor):  # type: ignore[no-untyped-def]
        """Write `source[first : first + LANES] * factor` to `out[at : at + LANES]`."""
        out.reshape(-1)[at : at + LANES] = source.reshape(-1)[first : first + LANES] * factor

else:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    _FLOAT_BYTES = 4
    """The alignment of a float."""
    _VECTOR = ir.VectorType(ir.FloatType(), LANES)
    _ANY = ir.Constant(_VECTOR, ir.Undefined)
    _FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)

    def _address(builder: Any, data: Any, index: Any) -> Any:
        return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())

    def load_vector(builder: Any, data: Any, index: Any) -> Any:
        """The vector that begins with float `index` of an array's data."""
        return builder.load(_address(builder, data, index), align=_FLOAT_BYTES)

    def store_vector(builder: Any, vector: Any, data: Any, index: Any) -> None:
        """Write a vector to an array's data, from float `index` on."""
        builder.store(vector, _address(builder, data, index), align=_FLOAT_BYTES)

    def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:
        return context.make_array(kind)(context, builder, array).data

    @intrinsic  # type: ignore[untyped-decorator]
    def add_lanes(typing_context, sums, at, more, first):  # type: ignore[no-untyped-def]
        """Add `more[first : first + LANES]` to `sums[at : at + LANES]`."""

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            total = _data(context, builder, sums, args[0])
            added = load_vector(builder, _data(context, builder, more, args[2]), args[3])
            added = builder.fadd(load_vector(builder, total, args[1]), added)
            store_vector(builder, added, total, args[1])
            return context.get_dummy_value()

        return types.void(sums, types.int64, more, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def scale_lanes(typing_context, out, at, source, first, factor):  # type: ignore[no-untyped-def]
        """Write `source[first : first + LANES] * factor` to `out[at : at + LANES]`."""

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            read = load_vector(builder, _data(context, builder, source, args[2]), args[3])
            one = builder.insert_element(_ANY, args[4], ir.Constant(ir.IntType(32), 0))
            scaled = builder.fmul(read, builder.shuffle_vector(one, _ANY, _FIRST))
            store_vector(builder, scaled, _data(context, builder, out, args[0]), args[1])
            return context.get_dummy_value()

        return types.void(out, types.int64, source, types.int64, types.float32), generate
