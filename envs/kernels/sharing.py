"""Work sharing between threads, in compiled code: threads split a batch and wait without sleeping.

Each thread makes a single kernel call per job. It first processes its own share of the slices,
which is the same on every call, so that each game stays in one core's cache (letting other threads
take them doubled the time of a small batch). It then takes slices left over by other threads, so
that a slow thread does not delay the rest.
"""

from __future__ import annotations

import functools
import platform
from typing import Any

from azumaya.envs.kernels.compile import INTERPRETED, kernel

_PAUSES = platform.machine().lower() in ("x86_64", "amd64")
MAX_LOOKS = 4_000 if _PAUSES else 100_000
"""Number of polls before a waiting thread gives up: about 0.1 to 0.2 ms."""
COUNT_STRIDE = 16
"""Spacing of the counters in `counts`, in entries; no two counters share a cache line."""

if not INTERPRETED:  # plain Python runs a single thread, see `Workers.slice_of`
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def _entry(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.gep(data, [index])

    @intrinsic  # type: ignore[untyped-decorator]
    def add(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
        """Add atomically to an entry of an int64 array and return its previous value."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            entry = _entry(context, builder, sig.args[0], *args[:2])
            return builder.atomic_rmw("add", entry, args[2], "acq_rel")

        return types.int64(array, types.int64, types.int64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def look(typing_context: Any, array: Any, index: Any) -> Any:
        """Read atomically an entry of an int64 array; on x86, pause briefly first."""

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
        """Store a number in a bell, `(1,)` int64, after all earlier writes (release order)."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            first = ir.Constant(ir.IntType(64), 0)
            entry = _entry(context, builder, sig.args[0], args[0], first)
            builder.store_atomic(args[1], entry, "release", 8)
            return context.get_dummy_value()

        return types.void(bell, types.int64), generate


@kernel
def listen(bell, call, patience):
    """Wait until the bell shows a call after `call`, for at most `patience` polls."""
    looks = 0
    while looks < patience and look(bell, 0) <= call:
        looks += 1


@functools.cache
def shared_kernel(kernel_of_rows: Any) -> Any:
    """A kernel that calls `kernel_of_rows(start, stop, *arguments)` for slices of `count` rows.

    `shared(bell, call, who, counts, results, size, count, patience, arguments)` claims slices of
    `size` rows until none are left and stores the return value for each slice in `results`.
    `counts`, `(COUNT_STRIDE * (threads + 1),)`, holds the number of slices claimed from each
    thread's share, followed by the number completed. `who` is the index of the thread.

    Thread 0 starts by ringing the bell with the number of the call and finishes by waiting for
    the other threads' slices. The other threads finish by listening for the next call, so that
    they do not compete with thread 0 for the GIL. Each wait ends after `patience` polls. Returns
    whether all slices are done.
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
