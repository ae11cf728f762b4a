"""Compiled threads: kernels that share the rows of a batch, and hear of work without sleeping.

A call by each thread does it all. Every thread has a part of the slices of its own, the same at
every call, so that games stay in the cache of one core (that others took them cost twice the time
of a small batch); then it takes what others have left, so that none is held up by another.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

from azumaya.envs.kernels.compile import INTERPRETED, kernel

_PAUSES = platform.machine().lower() in ("x86_64", "amd64")
MAX_LOOKS = 4_000 if _PAUSES else 100_000
"""So many looks of a thread at what others change take one or two tenths of a millisecond."""
COUNT_STRIDE = 16
"""Entries of `counts` from one count to the next: each has cache lines of its own."""

if not INTERPRETED:  # plain Python shares nothing, see `Workers.slice_of`
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def _entry(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.gep(data, [index])

    @intrinsic  # type: ignore[untyped-decorator]
    def add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        """Add to an entry of an int64 array; returns what it was."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            entry = _entry(context, builder, sig.args[0], *args[:2])
            return builder.atomic_rmw("add", entry, args[2], "acq_rel")

        return types.int64(array, types.int64, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def look(typing_context: Any, array: Any, index: Any) -> Any:
        """An entry of an int64 array that other threads change; on x86 after a short pause."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if _PAUSES:
                nothing = ir.FunctionType(ir.VoidType(), [])
                pause = builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), nothing)
                builder.call(pause, [])
            entry = _entry(context, builder, sig.args[0], *args)
            return builder.load_atomic(entry, "acquire", 8)

        return types.int64(array, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def ring(typing_context: Any, bell: Any, number: Any) -> Any:
        """Write a number to a bell, `(1,)` int64, after all that was written before."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            first = ir.Constant(ir.IntType(64), 0)
            entry = _entry(context, builder, sig.args[0], args[0], first)
            builder.store_atomic(args[1], entry, "release", 8)
            return context.get_dummy_value()

        return types.void(bell, types.int64), generate


@kernel
def listen(bell, call, patience):
    """Wait until a later call than this is rung, at most for `patience` looks."""
    looks = 0
    while looks < patience and look(bell, 0) <= call:
        looks += 1


@functools.cache
def shared_kernel(kernel_of_rows: Any) -> Any:
    """A kernel that calls `kernel_of_rows(start, stop, *arguments)` for slices of `count` rows.

    `shared(bell, call, who, counts, results, size, count, patience, arguments)` takes slices of
    `size` rows until all are taken, and puts what the kernel returns into `results`, by slice.
    `counts`, `(COUNT_STRIDE * (threads + 1),)`, holds the number of slices taken from each thread's
    part and, last, the number done. `who` is the number of the thread.

    Thread 0 rings the bell with the number of the call first, and in the end waits for the slices
    of the others; the others listen for the next call, so that they do not want the GIL when
    thread 0 does. Both wait for at most `patience` looks. It returns whether all slices are done.
    """

    @kernel
    def shared(bell, call, who, counts, results, size, count, patience, arguments):
        if who == 0:
            ring(bell, call)
        slices, threads = results.shape[0], counts.shape[0] // COUNT_STRIDE - 1
        for turn in range(threads):
            owner = (who + turn) % threads
            end = (owner + 1) * slices // threads
            number = owner * slices // threads + add(counts, COUNT_STRIDE * owner, 1)
            while number < end:
                start = number * size
                stop = min(start + size, count)
                results[number] = kernel_of_rows(start, stop, *arguments)
                add(counts, COUNT_STRIDE * threads, 1)
                number = owner * slices // threads + add(counts, COUNT_STRIDE * owner, 1)
        if who > 0:
            listen(bell, call, patience)
        looks = 0
        while who == 0 and looks < patience and look(counts, COUNT_STRIDE * threads) < slices:
            looks += 1
        return look(counts, COUNT_STRIDE * threads) == slices

    return shared
