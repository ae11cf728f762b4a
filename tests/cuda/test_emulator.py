"""The emulator itself: the meaning of instructions, and the faults that it catches."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import cuda

from azumaya.envs.adapters.cuda import batch as adapter
from azumaya.envs.adapters.cuda import device as cuda_device
from tests.cases import TESTED
from tests.cuda.emulator.build import missing
from tests.cuda.emulator.device import Emulator, Figures
from tests.cuda.emulator.parse import UnknownPtxError
from tests.cuda.emulator.program import Array, MemoryFaultError, Program
from tests.cuda.emulator.translate import translate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]
EMULATOR = Emulator()
TEXT = """
.version 9.0
.target sm_90
.address_size 64
.const .align 8 .b8 table[17] = {{1, 0, 0, 0, 0, 0, 0, 0, 2}};
.visible .entry planted(
	.param .u64 owner, .param .u64 parent, .param .u64 size, .param .u64 item,
	.param .u64 address, .param .u64 length, .param .u64 stride
)
{{
	.local .align 8 .b8 	__local_depot0[8];
	.reg .pred 	%p<4>;
	.reg .b16 	%rs<4>;
	.reg .b32 	%r<4>;
	.reg .f64 	%fd<4>;
	.reg .b64 	%rd<9>;
	ld.param.u64 	%rd8, [address];
{}
	ret;
}}
"""
STORED = {"rd": "st.global.u64", "rs": "st.global.u16", "r": "st.global.u32", "fd": "st.global.f64"}

MEANINGS = (
    ("add.s64 %rd0, -1, 3", 2),
    ("sub.s16 %rs0, 1, 2", 2**16 - 1),
    ("neg.s32 %r0, -2147483648", 2**31),
    ("and.b32 %r0, 12, 10", 8),
    ("or.b16 %rs0, 12, 10", 14),
    ("xor.b64 %rd0, 12, -1", 2**64 - 13),
    ("and.pred %p1, 1, 0; or.pred %p2, %p1, 1; selp.u64 %rd0, 3, 4, %p2", 3),
    ("not.b16 %rs0, 1", 2**16 - 2),
    ("mul.lo.s64 %rd0, -3, 5", 2**64 - 15),
    ("mul.wide.s32 %rd0, -3, 5", 2**64 - 15),
    ("mul.wide.u32 %rd0, -1, -1", (2**32 - 1) ** 2),
    ("mul.wide.u16 %r0, -1, -1", (2**16 - 1) ** 2),
    ("mul.hi.s64 %rd0, -1, 2", 2**64 - 1),
    ("mul.hi.u64 %rd0, -1, 2", 1),
    ("mul.hi.u32 %r0, -1, 2", 1),
    ("mad.lo.s32 %r0, -3, 5, 1", 2**32 - 14),
    ("min.s64 %rd0, -1, 1", 2**64 - 1),
    ("min.u64 %rd0, -1, 1", 1),
    ("max.s64 %rd0, -1, 1", 1),
    ("shl.b64 %rd0, 3, 63", 2**63),
    ("mov.u32 %r1, 64; shl.b64 %rd0, 3, %r1", 0),
    ("mov.u32 %r1, 33; shl.b32 %r0, 3, %r1", 0),
    ("shr.u64 %rd0, -1, 63", 1),
    ("mov.u32 %r1, 64; shr.u64 %rd0, -1, %r1", 0),
    ("shr.b64 %rd0, -1, 70", 0),
    ("shr.s64 %rd0, -8, 1", 2**64 - 4),
    ("mov.u32 %r1, 64; shr.s64 %rd0, -8, %r1", 2**64 - 1),
    ("shr.s16 %rs0, -8, 99", 2**16 - 1),
    ("shr.u16 %rs0, -1, 15", 1),
    ("popc.b64 %r0, -1", 64),
    ("popc.b32 %r0, -1", 32),
    ("clz.b32 %r0, 1", 31),
    ("clz.b64 %r0, 0", 64),
    ("brev.b32 %r0, 1", 2**31),
    ("brev.b64 %rd0, 2", 2**62),
    ("bfi.b32 %r0, -1, 0, 4, 8", 0xFF0),
    ("bfi.b64 %rd0, 5, -1, 64, 8", 2**64 - 1),
    ("bfi.b64 %rd0, 5, 7, 8, 0", 7),
    ("bfi.b64 %rd0, 5, -1, 0, 64", 5),
    ("bfe.u32 %r0, -1, 28, 8", 15),
    ("bfe.u64 %rd0, -1, 64, 8", 0),
    ("cvt.s64.s32 %rd0, -1", 2**64 - 1),
    ("cvt.u64.u32 %rd0, -1", 2**32 - 1),
    ("cvt.u32.u16 %r0, -1", 2**16 - 1),
    ("cvt.s64.s16 %rd0, 32768", 2**64 - 2**15),
    ("cvt.rn.f64.s64 %fd0, -2", 0xC000000000000000),
    ("mov.f64 %fd0, 0d3FF0000000000000", 0x3FF0000000000000),
    ("mov.f64 %fd1, 0d3FF0000000000000; neg.f64 %fd0, %fd1", 0xBFF0000000000000),
    ("mov.u32 %r1, 5; mov.u32 %r2, 6; mov.b64 %rd0, {%r1, %r2}", 5 + (6 << 32)),
    ("mov.u64 %rd1, 21474836486; mov.b64 {%r1, %r0}, %rd1", 5),
    ("mov.pred %p1, -1; selp.u64 %rd0, 3, 4, %p1", 3),
    ("mov.pred %p1, -1; not.pred %p2, %p1; selp.b32 %r0, 3, 4, %p2", 4),
    ("mov.pred %p1, -1; xor.pred %p2, %p1, 1; selp.u16 %rs0, 3, 4, %p2", 4),
    ("setp.lt.s64 %p1, -1, 0; selp.u64 %rd0, 1, 0, %p1", 1),
    ("setp.lt.u64 %p1, -1, 0; selp.u64 %rd0, 1, 0, %p1", 0),
    ("setp.lt.s64 %p1, 4, 4; selp.u64 %rd0, 1, 0, %p1", 0),
    ("setp.le.s64 %p1, 4, 4; selp.u64 %rd0, 1, 0, %p1", 1),
    ("setp.gt.s64 %p1, 4, 4; selp.u64 %rd0, 1, 0, %p1", 0),
    ("setp.ne.s32 %p1, 4, 4; selp.u64 %rd0, 1, 0, %p1", 0),
    ("setp.eq.b64 %p1, 4, 4; selp.u64 %rd0, 1, 0, %p1", 1),
    ("setp.gt.s16 %p1, 32767, 32768; selp.u64 %rd0, 1, 0, %p1", 1),
    ("setp.ge.u32 %p1, 2, 2; @!%p1 mov.u64 %rd0, 9; @%p1 mov.u64 %rd0, 8", 8),
    ("mov.u32 %r0, %tid.x", 0),
    ("mov.u32 %r0, %ntid.x", 1),
    ("ld.const.u8 %r0, [table+8]", 2),
    ("st.global.u32 [%rd8], -2; ld.global.s32 %rd0, [%rd8]", 2**64 - 2),
    ("mov.u64 %rd1, __local_depot0; ld.local.u64 %rd0, [%rd1]", 0xABABABABABABABAB),
    ("st.global.u64 [%rd8], 7; atom.global.min.s64 %rd0, [%rd8], 8", 7),
    (
        "st.global.u64 [%rd8], 7; atom.global.add.u64 %rd1, [%rd8], -1; ld.global.u64 %rd0, [%rd8]",
        6,
    ),
)


BEYOND = (
    (
        "st.global.u64 [%rd8+16], 1",
        r"8 bytes at 0x\w+ are outside .*: st.global.u64 \[%rd8\+16\]",
    ),
    ("st.global.u8 [%rd8+-1], 1", "outside"),
    ("ld.global.u64 %rd0, [table]", "outside"),
    ("ld.const.u8 %r0, [table+17]", "outside"),
    ("ld.const.u16 %rs0, [table+16]", "outside"),
    ("ld.const.u64 %rd0, [%rd8]", "outside"),
    ("ld.local.u64 %rd0, [%rd8]", "outside"),
    ("mov.u64 %rd1, __local_depot0; st.local.u32 [%rd1+8], 1", "outside"),
    ("mov.u64 %rd1, -4; atom.global.add.u64 %rd0, [%rd1+-4], 1", "outside"),
    ("ld.global.u64 %rd0, [%rd8+4]", "8 bytes at .* are not aligned: ld.global.u64"),
    ("ld.const.v2.u64 {%rd0, %rd1}, [table]", "16 bytes at .* are not aligned"),
    ("mov.u64 %rd1, __local_depot0; ld.local.u16 %rs0, [%rd1+1]", "2 bytes at .* not aligned"),
)
UNKNOWN = (
    ("frob.b32 %r0, 1", "frob.b32"),
    ("add.f32 %r0, %r1, %r2", "add.f32"),
    ("add.cc.u32 %r0, %r1, %r2", "add.cc.u32"),
    ("mul.hi.u8 %r0, %r1, %r2", "mul.hi.u8"),
    ("setp.eq.and.s32 %p0, 1, 1, %p1", "setp.eq.and.s32"),
    ("cvt.rn.f64.u64 %fd0, 1", "cvt.rn.f64.u64"),
    ("ld.u64 %rd0, [%rd8]", "ld.u64"),
    ("ld.param.u32 %r0, [address]", "ld.param.u32"),
    ("ld.volatile.global.u64 %rd0, [%rd8]", "ld.volatile.global.u64"),
    ("atom.global.cas.b64 %rd0, [%rd8], 1, 2", "atom.global.cas.b64"),
    ("selp.u64 %rd0, 1, 2", "selp.u64"),
    ("mov.u64 %rd0, %clock64", "%clock64"),
    ("bra nowhere", "nowhere"),
    (".shared .align 8 .b8 room[8]", ".shared"),
    (".reg .v4 %rv<4>", ".v4"),
)


def words(count: int) -> tuple[Array, np.ndarray]:
    """An array of zeros for a kernel, and the same memory as a NumPy array."""
    seen = np.zeros(count, np.int64)
    return Array(seen.ctypes.data, (count,), seen.dtype, seen), seen


def program(text: str) -> Program:
    """A kernel of some instructions; `%rd8` has the address of its argument."""
    return Program("planted", TEXT.format(text.replace("; ", ";\n") + ";"))


def test_the_meaning_of_instructions() -> None:
    """One kernel runs all instructions and stores the result of each."""
    lines: list[str] = []
    for number, (text, _) in enumerate(MEANINGS):
        target = next(kind for kind in STORED if f"%{kind}0" in text)
        lines += [text, f"{STORED[target]} [%rd8+{8 * number + 8}], %{target}0"]
    array, seen = words(len(MEANINGS) + 1)
    program("; ".join(lines)).run(1, 1, [array])
    found = [int(word) for word in seen[1:].view(np.uint64)]
    wrong = [(*case, is_) for case, is_ in zip(MEANINGS, found, strict=True) if case[1] != is_]
    assert wrong == []


@pytest.mark.parametrize(("text", "pattern"), BEYOND)
def test_accesses_are_checked(text: str, pattern: str) -> None:
    """Accesses out of bounds or not aligned are found in every memory space."""
    array, seen = words(2)
    with pytest.raises(MemoryFaultError, match=f"planted: thread 0: .*({pattern})"):
        program(text).run(1, 1, [array])
    assert not seen.any()


@pytest.mark.parametrize(("text", "name"), UNKNOWN)
def test_unknown_instructions_are_named(text: str, name: str) -> None:
    with pytest.raises(UnknownPtxError, match=re.escape(name)):
        program(text)


def test_unknown_declarations_are_named() -> None:
    for line in (".global .align 8 .b8 room[8];", ".func helper()", ".extern .shared .b8 room[];"):
        with pytest.raises(UnknownPtxError, match=re.escape(line)):
            translate(TEXT.format("").replace(".const", f"{line}\n.const"))
    with pytest.raises(UnknownPtxError, match="entry"):
        translate(".version 9.0")


def test_blocks_are_counted() -> None:
    """A warp runs a block as often as the thread that runs it most often."""
    loop = """
	mov.u32 	%r1, %tid.x;
$again:
	add.s32 	%r1, %r1, -1;
	setp.ge.s32 	%p1, %r1, 0;
	@%p1 bra 	$again;
	ld.global.u64 	%rd0, [%rd8];"""
    array, _ = words(1)
    figures, made = Figures(), Program("planted", TEXT.format(loop))
    figures.add(made, 64, made.run(2, 32, [array]))
    turns = [thread + 1 for thread in range(32)]
    assert figures.per_warp() == 2 + 3 * max(turns) + 2
    assert figures.per_thread() == 2 + 3 * sum(turns) / 32 + 2
    assert figures.per_warp("ld.global") == 1
    assert (figures.launches, figures.threads, figures.stack) == (1, 64, 8)


# ---- faults planted in kernels compiled by numba ----

TABLE = np.arange(9) ** 2


@cuda.jit
def fills(given, out):
    """Planted: the index is not checked."""
    out[cuda.grid(1)] = given[0]


@cuda.jit
def reads_own(given, out):
    """Planted: the array has only four items."""
    own = cuda.local.array(4, np.int64)
    for i in range(4):
        own[i] = out[i]
    out[0] = own[given[0]]


@cuda.jit
def reads_table(given, out):
    """Planted: the table has only nine items."""
    out[0] = TABLE[given[0]]


@cuda.jit
def waits(given, out):
    """Threads wait for each other."""
    out[cuda.grid(1)] = given[0]
    cuda.syncthreads()


@cuda.jit
def shares(given, out):
    """Threads share memory."""
    shared = cuda.shared.array(4, np.int64)
    shared[given[0]] = 1
    out[0] = shared[given[1]]


@cuda.jit
def adds_fractions(given, out):
    """Arithmetic that none of our kernels needs."""
    out[0] = np.int64(float(given[0]) + 0.5)


def launch(kernel: Any, value: int, places: int = 128, offset: int = 0) -> list[int]:
    """Run one block; returns what it wrote. `offset` bytes misalign the output."""
    room = torch.zeros((1, 8 * places + offset), dtype=torch.uint8)[:, offset:]
    with EMULATOR.installed():
        device: Any = adapter.Device()
        given = device.view(device.put(np.full(2, value)))
        taken = dataclasses.replace(device.view(room, np.int64), shape=(places,))
        device.launch(kernel, 1, given, taken)
    return room.flatten().clone().view(torch.int64).tolist()


def test_correct_kernels_run() -> None:
    assert launch(fills, 5) == [5] * 128
    assert launch(reads_own, 3) == [0] * 128
    assert launch(reads_table, 8)[0] == 64


@pytest.mark.parametrize(
    ("kernel", "value", "places", "offset", "pattern"),
    [
        (fills, 1, 100, 0, r"fills: thread 100: 8 bytes .* outside .* st\.global\.u64"),
        (fills, 1, 128, 4, r"fills: thread 0: 8 bytes .* not aligned: st\.global\.u64"),
        (reads_own, 4, 4, 0, r"reads_own: .* outside .* ld\.local\.u64"),
        (reads_table, 9, 1, 0, r"reads_table: .* outside .* ld\.const\.u64"),
    ],
)
def test_planted_faults_are_caught(
    kernel: Any, value: int, places: int, offset: int, pattern: str
) -> None:
    with pytest.raises(MemoryFaultError, match=pattern):
        launch(kernel, value, places, offset)


@pytest.mark.parametrize(
    ("kernel", "name"), [(waits, "bar.sync"), (shares, ".shared"), (adds_fractions, "add.f64")]
)
def test_unsupported_kernels_are_refused(kernel: Any, name: str) -> None:
    with pytest.raises(UnknownPtxError, match=re.escape(name)):
        launch(kernel, 1)


def test_installing_patches_only_temporarily() -> None:
    before = adapter.Device, cuda_device.cuda
    with EMULATOR.installed():
        assert (adapter.Device, cuda_device.cuda) != before
    assert (adapter.Device, cuda_device.cuda) == before
    assert adapter.Device is cuda_device.Device


def test_arguments_are_counted() -> None:
    with pytest.raises(TypeError, match="planted: 1 words given, 7 needed"):
        program("ret").run(1, 1, [3])


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m tests.cuda.emulator`."""
    line = [sys.executable, "-m", "tests.cuda.emulator", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command() -> None:
    """It prints a line for every kernel, and refuses unknown games."""
    name = next(iter(TESTED))
    done = command(name, "--games", "128", "--steps", "3", "--form", "none")
    assert done.returncode == 0, done.stderr
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines()[2:]}
    kernels = {"begin", "show", "expand_masks", "choose_all", "step", "rollout"}
    assert lines.keys() == {"kernel", *kernels}
    assert float(lines["step"][3]) > float(lines["step"][2]) > 0
    assert "unknown games ['chess']" in command("chess").stderr
