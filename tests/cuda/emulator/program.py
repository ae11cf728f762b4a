"""A translated kernel that can be run, its memory, and the faults it may cause there."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types

from tests.cuda.emulator.build import library_of
from tests.cuda.emulator.parse import Instruction
from tests.cuda.emulator.translate import translate

WRONG = {1: "not aligned", 2: "outside of what the kernel was given"}
_64_BITS = 2**64 - 1


class MemoryFaultError(RuntimeError):
    """A thread read or wrote outside its memory, or at an unaligned address."""


class _Range(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_uint64), ("end", ctypes.c_uint64))


class _Fault(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("kind", "address", "size", "statement", "thread")
    )


@dataclass(frozen=True)
class Array:
    """An array as kernels take it, in place of what `cuda.from_cuda_array_interface` returns."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any

    @classmethod
    def described(cls, description: dict[str, Any], owner: Any) -> Array:
        """A contiguous array; the arguments are those of `cuda.from_cuda_array_interface`."""
        assert description["strides"] is None
        address, _ = description["data"]
        return cls(address, description["shape"], np.dtype(description["typestr"]), owner)

    @property
    def type(self) -> Any:
        """The numba type."""
        return types.Array(numba.from_dtype(self.dtype), len(self.shape), "C")

    @property
    def words(self) -> list[int]:
        """What a kernel gets: two null pointers, size, item size, address, shape, strides."""
        item = self.dtype.itemsize
        strides = [item * math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        return [0, 0, math.prod(self.shape), item, self.address, *self.shape, *strides]

    @property
    def range(self) -> _Range:
        """Its range of addresses."""
        return _Range(self.address, self.address + math.prod(self.shape) * self.dtype.itemsize)


@dataclass(frozen=True)
class Runs:
    """How often each block of code ran in a launch, counted over threads and over warps."""

    threads: list[int]
    warps: list[int]


class Program:
    """A kernel that can be run on the CPU.

    Args:
        name: the name of the kernel, for error messages.
        text: its PTX.

    Raises:
        UnknownPtxError: the text has PTX that the emulator does not know.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self.code = name, translate(text)
        self._library = library_of(self.code.source)

    @property
    def stack(self) -> int:
        """Bytes of a thread's own memory."""
        return self.code.kernel.stack.size if self.code.kernel.stack else 0

    def run(self, grid: int, block: int, arguments: Sequence[Array | int]) -> Runs:
        """Run `grid` blocks of `block` threads.

        Raises:
            TypeError: the number of arguments is wrong.
            MemoryFaultError: an access was not aligned, or outside the memory of the kernel;
                earlier threads have run.
        """
        words = [w for a in arguments for w in (a.words if isinstance(a, Array) else [a])]
        ranges = [a.range for a in arguments if isinstance(a, Array)]
        if len(words) != len(self.code.kernel.parameters):
            needed = len(self.code.kernel.parameters)
            raise TypeError(f"{self.name}: {len(words)} words given, {needed} needed")
        given = (ctypes.c_uint64 * len(words))(*(word & _64_BITS for word in words))
        threads, warps = ((ctypes.c_uint64 * len(self.code.blocks))() for _ in range(2))
        arrays, fault = (_Range * len(ranges))(*ranges), _Fault()
        self._library.run(
            grid, block, given, arrays, len(ranges), threads, warps, ctypes.byref(fault)
        )
        if fault.kind:
            raise MemoryFaultError(f"{self.name}: {self._told(fault)}")
        return Runs(list(threads), list(warps))

    def _told(self, fault: _Fault) -> str:
        """The message for a fault."""
        statement = self.code.kernel.body[fault.statement]
        assert isinstance(statement, Instruction)
        return (
            f"thread {fault.thread}: {fault.size} bytes at {fault.address:#x} are "
            f"{WRONG[fault.kind]}: {statement.text}"
        )
