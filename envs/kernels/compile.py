"""The `kernel` decorator. Only this module and `cache.py` use numba's jit.

`cache.py` keeps compiled kernels on disk, so that later starts are fast.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

INTERPRETED: bool = bool(numba.config.DISABLE_JIT)
"""Whether `NUMBA_DISABLE_JIT=1` makes every kernel plain Python."""

if not INTERPRETED:
    from azumaya.envs.kernels.cache import CachedDispatcher

# Kernels are inlined wherever they are called: a call passes seven values for each array, and
# without inlining a batched step took a third longer. Inlining did not slow compilation.
# Nobody calls a kernel through a C function pointer; making these took 4 % of compilation.
_OPTIONS = {
    "nopython": True, "nogil": True, "error_model": "numpy", "forceinline": True,
    "no_cfunc_wrapper": True,
}  # fmt: skip


def kernel(function: Callable[..., Any] | None = None, *, wraps: bool = False) -> Any:
    """Compile a function with numba, or leave it as plain Python if `INTERPRETED`.

    Kernels check nothing: the adapters check every index before they call one. The result is a
    numba `CPUDispatcher`, which other kernels and CUDA kernels can call, and whose machine code is
    kept on disk between processes. It has the function's name and docstring, and the function as
    `__wrapped__`.

    Args:
        function: the function to compile.
        wraps: whether 64-bit overflow is intended. Compiled code always wraps around; in plain
            Python this suppresses NumPy's warnings.

    Raises:
        TypeError: `function` is not a plain Python function.
    """
    if function is None:
        return functools.partial(kernel, wraps=wraps)
    if INTERPRETED:
        return np.errstate(over="ignore")(function) if wraps else function
    if not inspect.isfunction(function):
        raise TypeError(f"function={function!r}: must be a plain Python function")
    return CachedDispatcher(function, targetoptions=dict(_OPTIONS))


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A kernel bound to the types of these arguments, which all later calls must have.

    Numba looks up the type of every argument at every call: 0.8 of the 1.6 µs that a call with
    fifteen arrays takes. The returned function skips the lookup. It must not be pickled.
    """
    if INTERPRETED:
        return function
    kinds = tuple(function.typeof_pyval(argument) for argument in arguments)  # type: ignore[attr-defined]
    entry: Callable[..., Any] = function.compile(kinds)  # type: ignore[attr-defined]
    return entry


class Settled:
    """A kernel whose arguments have the same types in all calls: the first one binds it to them."""

    __slots__ = ("_entry", "_kernel")

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel = kernel
        self._entry: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        if self._entry is None:  # not before: it may have to compile
            self._entry = bound(self._kernel, *arguments)
        return self._entry(*arguments)
