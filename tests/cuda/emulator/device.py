"""An emulated device: `cuda_device.Device` with tensors on the CPU and emulated kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numba

from azumaya.envs.adapters.cuda import batch as adapter
from azumaya.envs.adapters.cuda import device as cuda_device
from azumaya.envs.extras import require
from tests.cuda.emulator.build import ptx_of
from tests.cuda.emulator.program import Array, Program, Runs
from tests.cuda.emulator.translate import INSTRUCTIONS

WARP = 32


@dataclass
class Figures:
    """Counts over the launches of a kernel.

    Attributes:
        stack: the bytes of a thread's stack.
        launches: the number of launches.
        threads: the number of threads in all launches.
        by_thread: the instructions of all threads, by kind.
        by_warp: the instructions of all warps, by kind. A block of code counts as often as the
            thread of the warp that ran it most often, because diverging threads meet again.
    """

    stack: int = 0
    launches: int = 0
    threads: int = 0
    by_thread: Counter[str] = field(default_factory=Counter)
    by_warp: Counter[str] = field(default_factory=Counter)

    def add(self, program: Program, threads: int, runs: Runs) -> None:
        """Count a launch."""
        self.stack = max(self.stack, program.stack)
        self.launches += 1
        self.threads += threads
        each = zip(program.code.blocks, runs.threads, runs.warps, strict=True)
        for block, by_threads, by_warps in each:
            for kind, number in block.items():
                self.by_thread[kind] += number * by_threads
                self.by_warp[kind] += number * by_warps

    def per_thread(self, kind: str = INSTRUCTIONS) -> float:
        """Instructions of a kind per thread."""
        return self.by_thread[kind] / self.threads

    def per_warp(self, kind: str = INSTRUCTIONS) -> float:
        """Instructions of a kind per warp."""
        return self.by_warp[kind] * WARP / self.threads


class Emulator:
    """Runs kernels and counts their instructions.

    Args:
        lto: whether to optimize kernels at link time, which needs nvJitLink.
        check: called with the name and the PTX of each kernel.

    Attributes:
        figures: counts by name of the kernel's function; kernels of the same name are added up.
    """

    def __init__(
        self, lto: bool = False, check: Callable[[str, str], None] = lambda name, text: None
    ) -> None:
        self.lto, self._check = lto, check
        self.figures: dict[str, Figures] = {}
        self._programs: dict[tuple[Any, tuple[Any, ...]], Program] = {}

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Within this context environments made with `device="cuda"` are emulated."""
        arrays = SimpleNamespace(from_cuda_array_interface=Array.described)
        with (
            patch.object(adapter, "Device", partial(EmulatedDevice, self)),
            patch.object(cuda_device, "cuda", arrays),
        ):
            yield

    def launch(self, kernel: Any, grid: int, block: int, *arguments: Any) -> None:
        """Run all threads of a kernel and count their instructions.

        Raises:
            MemoryFaultError: an access was not aligned, or outside the memory of the kernel.
            UnknownPtxError: the kernel uses PTX that the emulator does not know.
        """
        program = self.program(kernel, *arguments)
        runs = program.run(grid, block, arguments)
        self.figures.setdefault(program.name, Figures()).add(program, grid * block, runs)

    def program(self, kernel: Any, *arguments: Any) -> Program:
        """The program of a kernel for these types of arguments, compiled once."""
        given = tuple(a.type if isinstance(a, Array) else numba.typeof(a) for a in arguments)
        if (kernel, given) not in self._programs:
            name, text = kernel.py_func.__name__, ptx_of(kernel, given, self.lto)
            self._check(name, text)
            self._programs[kernel, given] = Program(name, text)
        return self._programs[kernel, given]


class EmulatedDevice(cuda_device.Device):
    """The device of an emulator; everything but kernels is done by torch on the CPU."""

    def __init__(self, emulator: Emulator) -> None:
        # not calling the base class, which looks for a GPU
        self._emulator, self._torch = emulator, require("torch", "cuda")
        self.place = self._torch.device("cpu")

    def launch(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Run a kernel with at least `threads` threads, in whole blocks."""
        grid = -(-threads // cuda_device.BLOCK)
        self._emulator.launch(kernel, grid, cuda_device.BLOCK, *arguments)
