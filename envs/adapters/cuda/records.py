"""States on a device: words in columns, and one column in thread-local memory as a record.

Word `w` of game `i` is `columns[w, i]`, so the threads of a warp access adjacent words; with an
array of records, the same access touches 32 cache lines. Records are typed as aligned, because
numba reads and writes scalar fields of packed records byte by byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.kernels.states import words_of

WORD = U64().itemsize


def aligned_record(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A record's dtype marked as aligned, as all of its fields are."""
    aligned = np.dtype(dtype.descr, align=True)
    if aligned.itemsize != dtype.itemsize or dtype.itemsize % WORD:
        raise TypeError(f"{dtype}: a record on a device must consist of 64-bit words")
    return np.dtype((np.record, dtype)) if INTERPRETED else aligned


def to_columns(records: np.ndarray) -> np.ndarray:
    """Records, `(n,)`, as columns of words, `(W, n)` int64."""
    return np.ascontiguousarray(words_of(records).view(np.int64).T)


def from_columns(columns: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Columns of words, `(W, n)`, as records, `(n,)`."""
    return np.ascontiguousarray(columns.T).reshape(-1).view(dtype)


if INTERPRETED:

    def record_in(words, dtype):  # type: ignore[no-untyped-def]
        """Words of a thread's own memory as an array of one record."""
        return words.view(dtype).view(np.recarray)

else:
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def record_in(typing_context, words, dtype):  # type: ignore[no-untyped-def]
        """Words of a thread's own memory as an array of one record."""
        array = types.Array(dtype.dtype, 1, "C")

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            source = context.make_array(signature.args[0])(context, builder, args[0])
            made = context.make_array(array)(context, builder)
            size = context.get_constant(types.intp, array.dtype.size)
            context.populate_array(
                made,
                data=builder.bitcast(source.data, made.data.type),
                shape=cgutils.pack_array(builder, [context.get_constant(types.intp, 1)]),
                strides=cgutils.pack_array(builder, [size]),
                itemsize=size,
                meminfo=None,
            )
            return made._getvalue()

        return array(words, dtype), generate
