"""Arrays without counted references, for kernels that take many arrays.

Numba counts the references to an array whenever a kernel hands it to another kernel, with atomic
instructions. In alpha-beta they took three fifths of the time. A borrowed array has no counter; the
caller of the kernel keeps the array alive.
"""

from __future__ import annotations

from typing import Any

from azumaya.envs.kernels.compile import INTERPRETED

if INTERPRETED:

    def borrow(array: Any) -> Any:
        """The same array, without a counted reference."""
        return array

else:
    from numba.core import cgutils
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

    @intrinsic  # type: ignore[untyped-decorator]
    def borrow(typing_context: Any, array: Any) -> Any:
        """The same array, without a counted reference."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            make = context.make_array(array)
            whole, view = make(context, builder, args[0]), make(context, builder)
            shape = cgutils.unpack_tuple(builder, whole.shape, array.ndim)
            strides = cgutils.unpack_tuple(builder, whole.strides, array.ndim)
            populate_array(view, whole.data, shape, strides, whole.itemsize, meminfo=None)
            return view._getvalue()

        return array(array), generate
