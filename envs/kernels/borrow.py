"""Arrays without counted references, for kernels that take many arrays.

Numba counts the references to an array whenever a kernel hands it to another kernel, with atomic
instructions. In alpha-beta they took three fifths of the time. A borrowed array has no counter; the
caller of the kernel keeps the array alive.
"""

from __future__ import annotations

from typing import Any

from azumaya.envs.kernels.compile import INTERPRETED

if INTERPRETED:

    def borrow(arrays: Any) -> Any:
        """An array or a tuple of arrays, without counted references."""
        return arrays

else:
    from numba.core import cgutils
    from numba.core.types.containers import BaseTuple
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    def _borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, BaseTuple):
            parts = zip(kind, cgutils.unpack_tuple(builder, value), strict=True)
            borrowed = [_borrow(context, builder, *part) for part in parts]
            return context.make_tuple(builder, kind, borrowed)
        make = context.make_array(kind)
        whole, view = make(context, builder, value), make(context, builder)
        shape = cgutils.unpack_tuple(builder, whole.shape, kind.ndim)
        strides = cgutils.unpack_tuple(builder, whole.strides, kind.ndim)
        populate_array(view, whole.data, shape, strides, whole.itemsize, meminfo=None)
        return view._getvalue()

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow(typing_context: Any, arrays: Any) -> Any:
        """An array or a tuple of arrays, without counted references."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _borrow(context, builder, arrays, args[0])

        return arrays(arrays), generate
