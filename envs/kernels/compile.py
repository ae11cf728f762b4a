"""The `kernel` decorator: the only place, with `cache.py`, that knows numba's jit.

Compiled kernels are kept on disk, so that a second start is fast; `cache.py` tells how.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

INTERPRETED: bool = bool(numba.config.DISABLE_JIT)
"""True where `NUMBA_DISABLE_JIT=1` makes every kernel plain Python."""

if not INTERPRETED:
    from azumaya.envs.kernels.cache import CachedDispatcher

# Kernels are inlined wherever they are called: a call passes seven values for each array, and not
# to inline cost a third of a batched step. It did not lengthen compilation.
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "forceinline": True}


def kernel(function: Callable[..., Any] | None = None, *, wraps: bool = False) -> Any:
    """Compile a rules function with numba (or leave it as plain Python when interpreted).

    Kernels are unchecked: the adapters check every index before it gets there. What comes back
    is a numba `CPUDispatcher`, which other kernels and CUDA kernels may call, and which keeps its
    machine code on disk between processes. Name, docstring and `__wrapped__` are the function's.

    Args:
        function: the function to compile.
        wraps: the function means its 64-bit arithmetic to wrap round. Compiled code always
            wraps; interpreted NumPy scalars would warn, which this silences.

    Raises:
        TypeError: where `function` is no plain Python function.
    """
    if function is None:
        return functools.partial(kernel, wraps=wraps)
    if INTERPRETED:
        return np.errstate(over="ignore")(function) if wraps else function
    if not inspect.isfunction(function):
        raise TypeError(f"function: must be a plain Python function, not {function!r}")
    return CachedDispatcher(function, targetoptions=dict(_OPTIONS))


def bound(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """A kernel for arguments of exactly these types, which all later calls must have.

    numba looks at the type of every argument at every call, which takes as long as to pass it: of
    1.6 µs for fifteen arrays 0.8. What comes back does not look, and must not be pickled.
    """
    if INTERPRETED:
        return function
    kinds = tuple(function.typeof_pyval(argument) for argument in arguments)  # type: ignore[attr-defined]
    entry: Callable[..., Any] = function.compile(kinds)  # type: ignore[attr-defined]
    return entry
