"""`@kernel` returns a numba dispatcher with the name and docstring of its function."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

from azumaya.envs.kernels import bits
from azumaya.envs.kernels.compile import INTERPRETED, bound, kernel

compiled_only = pytest.mark.skipif(INTERPRETED, reason="about compiled kernels")


def test_a_kernel_has_the_metadata_of_its_function():
    def add(x, y=2):
        """Add."""
        return x + y

    made = kernel(add)
    assert (made.__name__, made.__doc__, made.__module__) == ("add", "Add.", __name__)
    assert str(inspect.signature(made)) == "(x, y=2)"
    assert made(1) == 3


def test_wrapping_arithmetic_is_silent():
    @kernel(wraps=True)
    def triple(x):
        """Three times."""
        return x * np.uint64(3)

    assert triple.__doc__ == "Three times."
    with np.errstate(all="raise"):
        assert triple(np.uint64(2**63)) == 2**63


@compiled_only
def test_is_a_cpu_dispatcher():
    from numba.core.registry import CPUDispatcher  # noqa: PLC0415

    assert isinstance(bits.popcount, CPUDispatcher)
    assert bits.popcount.targetoptions["nogil"] is True
    assert bits.popcount.py_func is inspect.unwrap(bits.popcount)


def test_survives_pickling():
    again = pickle.loads(pickle.dumps(bits.popcount))
    assert again(np.uint64(7)) == 3


@compiled_only
@pytest.mark.parametrize("thing", [3, "text", len, bits.popcount])
def test_only_functions_are_accepted(thing):
    with pytest.raises(TypeError, match=r"function=.*: must be a plain Python function"):
        kernel(thing)


def test_a_bound_kernel_equals_the_kernel():
    """For arguments of its types, a bound kernel gives the same results as the kernel."""

    @kernel
    def total(words, factor):
        return factor * bits.count(words, len(words))

    words = np.array([7, 1], np.uint64)
    entry = bound(total, words, 3)
    assert entry(words, 3) == total(words, 3) == 12
    assert entry(np.array([1], np.uint64), 5) == 5
