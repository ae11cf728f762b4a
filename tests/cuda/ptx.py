"""Compiles every kernel for the device to PTX for sm_90, on a machine without a GPU.

Numba asks the device only for its compute capability, so a stand-in is enough.

    python -m tests.cuda.ptx [GAME ...]     # registers and stack of each kernel, if ptxas is
    installed
"""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_FORCE_CUDA_CC", "9.0")

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numba
from numba import config, cuda, types

from azumaya.envs.adapters.cuda import kernels, spreading
from azumaya.envs.adapters.cuda.records import aligned_record
from azumaya.envs.engine.kernels import NONE, PACKED, PLANES, SERIES
from azumaya.envs.errors import OptionError
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.registry import find_game
from tests.cases import TESTED

CAPABILITY = (9, 0)
ARCHITECTURE = (*CAPABILITY, "a")
"""The architecture that numba-cuda uses for a device of this capability."""
TARGET = "sm_90"
FLAGS = 4
"""A game's flags in the outputs: `terminated`, `truncated`, `over`, `ended`."""
CONSTANT_MEMORY = 65_536
"""The size of a device's constant memory in bytes."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


@contextmanager
def device_to_compile_for() -> Iterator[None]:
    """Within this context numba finds a stand-in when it asks for the device's capability."""
    from numba.cuda import dispatcher  # noqa: PLC0415
    from numba.cuda.codegen import CUDACodeLibrary  # noqa: PLC0415

    there = SimpleNamespace(compute_capability=CAPABILITY)
    with ExitStack() as stack:
        for owner, name, answer in (
            (dispatcher, "get_current_device", lambda: there),
            (CUDACodeLibrary, "_ensure_cc", lambda _library, cc: cc or ARCHITECTURE),
        ):
            stack.enter_context(patch.object(owner, name, answer))
        yield


def array(kind: Any, dimensions: int = 1) -> Any:
    """The type of a contiguous array."""
    return types.Array(kind, dimensions, "C")


def record(dtype: Any) -> Any:
    """The type of an array of records on the device."""
    return array(numba.from_dtype(aligned_record(dtype)))


BOOLEANS, NUMBERS, WORDS = array(types.boolean), array(types.int64), array(types.uint64, 2)
BYTES, SPANS = array(types.uint8), array(types.int64, 2)
REST = (array(types.float64), array(types.float64, 2), BOOLEANS, BOOLEANS, NUMBERS)


def kernels_of(game: Game) -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """The kernels of a game: names, kernels and types of their arguments."""
    words = word_count(game.options.num_actions(game.options.defaults))
    starts, series = record(game.rules.state), record(SERIES)
    shown = (WORDS, BOOLEANS, WORDS, WORDS, *REST)
    acted = (*shown, WORDS, BOOLEANS, NUMBERS, NUMBERS, NUMBERS)
    acting = (WORDS, series, starts, SPANS, NUMBERS, *acted)
    yield "step", kernels.step_kernel(game, words, PACKED, True, False, True), acting
    yield "step, lose", kernels.step_kernel(game, words, PACKED, True, True, True), acting
    yield "step, masks", kernels.step_kernel(game, words, NONE, False, False, False), acting
    yield "show", kernels.show_kernel(game, words, PLANES), (WORDS, series, *shown)
    yield "finals", kernels.finals_kernel(game, PLANES), (WORDS, BOOLEANS, WORDS, NUMBERS)
    yield "begin", kernels.begin_kernel(game), (NUMBERS, WORDS, series, starts, types.int64)
    rolled = (types.int64, WORDS, series, starts, SPANS, NUMBERS)
    yield "rollout", kernels.rollout_kernel(game, words), rolled
    spread = (BYTES, BOOLEANS, array(types.uint64))
    yield "write planes", spreading.write_planes_kernel(game, False), spread
    actions = game.options.num_actions(game.options.defaults)
    yield "write masks", spreading.write_masks_kernel(words, actions), spread


def shared_kernels() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """The kernels shared by all games."""
    yield "choose", kernels.choose_all, (WORDS, BOOLEANS, record(SERIES), NUMBERS)
    yield "check", kernels.check_all, (NUMBERS, WORDS, BOOLEANS, NUMBERS)


def compile_ptx(kernel: Any, arguments: tuple[Any, ...]) -> str:
    """The PTX of a kernel.

    Raises:
        Exception: any error of numba that prevents compilation.
    """
    config.FORCE_CUDA_CC = CAPABILITY  # in case numba was imported first
    with device_to_compile_for():
        return str(cuda.compile_ptx(kernel.py_func, arguments, cc=CAPABILITY)[0])


def assemble(ptx: str) -> str | None:
    """The output of ptxas on registers and stack; None without a ptxas for this PTX version.

    Raises:
        subprocess.CalledProcessError: ptxas rejects the PTX.
    """
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        done = subprocess.run(
            [
                ptxas, "-v", f"-arch={TARGET}", f"-maxrregcount={kernels.REGISTERS}", str(source),
                "-o", str(source.with_suffix(".cubin")),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode and "Unsupported .version" in done.stderr:
        return None
    done.check_returncode()
    return done.stderr


def constants(ptx: str) -> int:
    """The bytes of a kernel's tables, which are in the device's constant memory."""
    return sum(map(int, re.findall(r"\.const [^;\[]*\.b8 [^;\[]*\[(\d+)\]", ptx)))


def check(name: str, ptx: str) -> None:
    """Assert that a kernel moves no record byte by byte and that its tables fit into the device.

    Raises:
        AssertionError: the PTX of the kernel `name` is bad.
    """
    assert ".visible .entry" in ptx, name
    for part, most in (("st.local.u8", 0), ("ld.local.u8", 0), ("st.global.u8", FLAGS)):
        found = ptx.count(part)
        assert found <= most, f"{name}: {found} times {part}: a record is copied byte by byte"
    assert constants(ptx) <= CONSTANT_MEMORY, name


def figures(said: str, ptx: str) -> str:
    """A summary of registers, stack, spills and constants."""
    found = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores", said)
    registers = re.search(r"Used (\d+) registers", said)
    assert registers is not None
    return (
        f"{registers[1]} registers, {found[0][0]} bytes of stack, {found[0][1]} spilled, "
        f"{constants(ptx):,} constant"
    )


def main(words: list[str] | None = None) -> int:
    """Print the figures of every kernel."""
    parser = argparse.ArgumentParser(prog="python -m tests.cuda.ptx", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "games", nargs="*", metavar="GAME", type=_game, help="without names, all games"
    )
    chosen = parser.parse_args(words).games or TESTED.values()
    try:
        for game in chosen:
            for title, kernel, arguments in kernels_of(game):
                _tell(game.name, title, kernel, arguments)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED
    return 0


def _game(name: str) -> Game:
    """A game named on the command line."""
    try:
        return find_game(name)
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _tell(name: str, title: str, kernel: Any, arguments: tuple[Any, ...]) -> None:
    begin = time.perf_counter()
    ptx = compile_ptx(kernel, arguments)
    took = time.perf_counter() - begin
    said = assemble(ptx)
    shown = figures(said, ptx) if said else "no ptxas for it"
    print(f"{name:16} {title:14} {took:5.1f} s {len(ptx):8,} bytes: {shown}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
