"""States as words.

NumPy copies records field by field, which takes 30 times as long. Numba copies a record as bytes.
On a CPU LLVM turns this into wide moves; on a GPU it remains a loop over single bytes, which took a
warp longer than playing a move.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import INTERPRETED


def words_of(records: np.ndarray) -> np.ndarray:
    """The words of records, `(n, W)` uint64: a view if they are contiguous, otherwise a copy."""
    return np.ascontiguousarray(records)[:, None].view(np.uint64)


def copied(records: np.ndarray) -> np.ndarray:
    """A copy of records."""
    return words_of(records).copy().view(records.dtype, type(records))[:, 0]


if INTERPRETED:

    def copy_state(states: Any, i: int, starts: Any, k: int) -> None:
        """Copy `starts[k]` to `states[i]`."""
        states[i] = starts[k]

else:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.core.errors import TypingError
    from numba.extending import intrinsic

    _WORD = ir.IntType(64)

    def _words(builder: Any, array: Any, index: Any, size: Any) -> Any:
        """The address of a record as words."""
        first = builder.bitcast(array.data, _WORD.as_pointer())
        return builder.gep(first, [builder.mul(index, size)])

    @intrinsic  # type: ignore[untyped-decorator]
    def copy_state(typing_context: Any, states: Any, i: Any, starts: Any, k: Any) -> Any:
        """Copy `starts[k]` to `states[i]`; both arrays are contiguous."""
        if states.dtype != starts.dtype or {states.layout, starts.layout} != {"C"}:
            raise TypingError(f"copy_state: {states} and {starts} must be whole arrays of one kind")

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            to = context.make_array(sig.args[0])(context, builder, args[0])
            source = context.make_array(sig.args[2])(context, builder, args[2])
            # not a constant: unrolled, the loop would take more registers than a thread has
            size = builder.udiv(source.itemsize, ir.Constant(_WORD, 8))
            into = _words(builder, to, args[1], size)
            of = _words(builder, source, args[3], size)
            with cgutils.for_range(builder, size) as loop:
                word = builder.load(builder.gep(of, [loop.index]))
                builder.store(word, builder.gep(into, [loop.index]))
            return context.get_dummy_value()

        return types.void(states, types.int64, starts, types.int64), generate
