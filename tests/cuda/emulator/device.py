"""A device that is none: `cuda_device.Device` with tensors on the CPU and emulated kernels."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numba
import numpy as np
from numba import types

from azumaya.envs.adapters import cuda as adapter
from azumaya.envs.adapters import cuda_device
from azumaya.envs.extras import require
from tests.cuda.emulator.build import library_of, ptx_of
from tests.cuda.emulator.translate import INSTRUCTIONS, Translation, translate

WARP = 32
WRONG = {1: "not aligned", 2: "outside of what the kernel was given"}
_64_BITS = 2**64 - 1


class MemoryFaultError(RuntimeError):
    """A thread read or wrote where it must not."""


class _Range(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_uint64), ("end", ctypes.c_uint64))


class _Fault(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("kind", "address", "size", "statement", "thread")
    )


@dataclass(frozen=True)
class Array:
    """Memory as kernels take it, by what `cuda.from_cuda_array_interface` is told of it."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any

    @classmethod
    def described(cls, description: dict[str, Any], owner: Any) -> Array:
        """A contiguous array; arguments as `cuda.from_cuda_array_interface`."""
        assert description["strides"] is None
        address, _ = description["data"]
        return cls(address, description["shape"], np.dtype(description["typestr"]), owner)

    @property
    def type(self) -> Any:
        """Its type, as numba's."""
        return types.Array(numba.from_dtype(self.dtype), len(self.shape), "C")

    @property
    def words(self) -> list[int]:
        """What a kernel gets: no owners, size, bytes of an item, address, shape, strides."""
        item = self.dtype.itemsize
        strides = [item * math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]
        return [0, 0, math.prod(self.shape), item, self.address, *self.shape, *strides]

    @property
    def range(self) -> _Range:
        """Where it lies."""
        return _Range(self.address, self.address + math.prod(self.shape) * self.dtype.itemsize)


@dataclass
class Figures:
    """What the launches of a kernel came to.

    Attributes:
        stack: bytes of a thread's own memory.
        launches: how many there were.
        threads: how many threads they had.
        by_thread: instructions of all threads, by kind.
        by_warp: instructions of all warps: each block of a kernel as often as that thread of a
            warp ran it which did so most often, as threads that part meet again after the block.
    """

    stack: int
    launches: int = 0
    threads: int = 0
    by_thread: Counter[str] = field(default_factory=Counter)
    by_warp: Counter[str] = field(default_factory=Counter)

    def per_thread(self, kind: str = INSTRUCTIONS) -> float:
        """Instructions of a kind in a thread."""
        return self.by_thread[kind] / self.threads

    def per_warp(self, kind: str = INSTRUCTIONS) -> float:
        """Instructions of a kind in a warp."""
        return self.by_warp[kind] * WARP / self.threads


@dataclass(frozen=True)
class _Program:
    """A kernel that can be run."""

    translation: Translation
    library: ctypes.CDLL


class Emulator:
    """Runs kernels, and counts what they do.

    Args:
        lto: whether kernels are optimized at link time, which needs nvJitLink.

    Attributes:
        figures: by the name of a kernel's function; kernels of one name are added up.
    """

    def __init__(self, lto: bool = False) -> None:
        self.lto = lto
        self.figures: dict[str, Figures] = {}
        self._programs: dict[tuple[Any, tuple[Any, ...]], _Program] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While this lasts, environments made with `device="cuda"` are emulated."""
        arrays = SimpleNamespace(from_cuda_array_interface=Array.described)
        with (
            patch.object(adapter, "Device", partial(EmulatedDevice, self)),
            patch.object(cuda_device, "cuda", arrays),
        ):
            yield

    def launch(self, kernel: Any, grid: int, block: int, arguments: tuple[Any, ...]) -> None:
        """Run all threads of a kernel.

        Raises:
            MemoryFaultError: an access was not aligned, or lay outside of what it was given; the
                threads before that have run.
            UnknownPtxError: the kernel consists of more than the emulator knows.
        """
        given = tuple(a.type if isinstance(a, Array) else numba.typeof(a) for a in arguments)
        program = self._program(kernel, given)
        words = [w for a in arguments for w in (a.words if isinstance(a, Array) else [a])]
        arrays = [a.range for a in arguments if isinstance(a, Array)]
        blocks = len(program.translation.blocks)
        lanes, warps, fault = (ctypes.c_uint64 * blocks)(), (ctypes.c_uint64 * blocks)(), _Fault()
        assert len(words) == len(program.translation.kernel.parameters)
        program.library.run(
            grid, block, (ctypes.c_uint64 * len(words))(*(w & _64_BITS for w in words)),
            (_Range * len(arrays))(*arrays), len(arrays), lanes, warps, ctypes.byref(fault),
        )  # fmt: skip
        name = kernel.py_func.__name__
        if fault.kind:
            raise MemoryFaultError(f"{name}: {_told(fault, program.translation)}")
        self._count(name, program.translation, grid * block, list(lanes), list(warps))

    def _program(self, kernel: Any, given: tuple[Any, ...]) -> _Program:
        if (kernel, given) not in self._programs:
            translation = translate(ptx_of(kernel, given, self.lto))
            program = _Program(translation, library_of(translation.source))
            self._programs[kernel, given] = program
        return self._programs[kernel, given]

    def _count(
        self, name: str, code: Translation, threads: int, lanes: list[int], warps: list[int]
    ) -> None:
        stack = code.kernel.stack.size if code.kernel.stack else 0
        figures = self.figures.setdefault(name, Figures(stack))
        figures.stack = max(figures.stack, stack)
        figures.launches += 1
        figures.threads += threads
        for block, by_lanes, by_warps in zip(code.blocks, lanes, warps, strict=True):
            for kind, number in block.items():
                figures.by_thread[kind] += number * by_lanes
                figures.by_warp[kind] += number * by_warps


def _told(fault: _Fault, code: Translation) -> str:
    """A fault in words."""
    return (
        f"thread {fault.thread}: {fault.size} bytes at {fault.address:#x} are "
        f"{WRONG[fault.kind]}: {code.kernel.body[fault.statement].text}"  # type: ignore[union-attr]
    )


class EmulatedDevice(cuda_device.Device):
    """The device of an emulator; what it is asked for beside kernels torch does on the CPU."""

    def __init__(self, emulator: Emulator) -> None:
        # a real one looks for a GPU here
        self._emulator, self._torch = emulator, require("torch", "cuda")
        self.place = self._torch.device("cpu")

    def launch(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Run a kernel with at least so many threads, in whole blocks."""
        grid = -(-threads // cuda_device.BLOCK)
        self._emulator.launch(kernel, grid, cuda_device.BLOCK, arguments)
