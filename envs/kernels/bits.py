"""Sets of cells as bits of 64-bit words: count, find, pack, draw.

A board of more than 64 cells takes two words: cell `c` is bit `c % 64` of word `c // 64`.
All words are `np.uint64`, and every constant that is combined with a word must be a word itself: of
`uint64` and `int64` Numba makes a signed number or a float, depending on operator and version.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np

from azumaya.envs.kernels.compile import INTERPRETED, kernel

U64 = np.uint64
ZERO, ONE, WORD = U64(0), U64(1), U64(64)
SIX, LOW6 = U64(6), U64(63)
LOW4 = U64(15)

_M1 = U64(0x5555555555555555)
_M2 = U64(0x3333333333333333)
_M4 = U64(0x0F0F0F0F0F0F0F0F)
_H01 = U64(0x0101010101010101)
_H7F, _H80 = U64(0x7F7F7F7F7F7F7F7F), U64(0x8080808080808080)
_DIAGONAL, _BYTE = U64(0x8040201008040201), U64(0xFF)


if INTERPRETED:

    def _ones(word: Any) -> int:
        return int(word).bit_count()

    def _zeros_below(word: Any) -> int:
        return (~int(word) & (int(word) - 1) & (2**64 - 1)).bit_count()

    def high_product(one: Any, other: Any) -> Any:
        """The high 64 bits of the product of two words."""
        return U64(int(one) * int(other) >> 64)

else:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator]
    def _ones(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def _zeros_below(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.cttz(args[0], context.get_constant(types.boolean, False))

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def high_product(typing_context: Any, one: Any, other: Any) -> Any:
        """The high 64 bits of the product of two words."""

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            wide = ir.IntType(128)
            product = builder.mul(*(builder.zext(word, wide) for word in args))
            return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

        return types.uint64(types.uint64, types.uint64), generate


@kernel
def popcount(word):
    """How many bits of a word are set; a single instruction, also on a GPU."""
    return np.int64(_ones(word))


@kernel
def lowest(word):
    """Index of the lowest set bit; 64 for an empty word."""
    return np.int64(_zeros_below(word))


@kernel
def bit(index):
    """The word in which only bit `index` (0 to 63) is set."""
    return ONE << U64(index)


@kernel
def has(word, index):
    """Whether bit `index` (0 to 63) of a word is set."""
    return (word >> U64(index)) & ONE != ZERO


@kernel
def nibble(word, n):
    """The four bits from bit `4 * n` on, as a number; so a word holds 16 small counts."""
    return np.int64((word >> U64(4 * n)) & LOW4)


@kernel(wraps=True)
def select(word, k):
    """Index of the k-th set bit of a word, counting from 0; the word must have more than k.

    Follows Vigna, "Broadword implementation of rank/select queries" (2008): finds first the byte,
    then the bit, comparing k with eight running sums at once. A binary search took twice as long,
    because its branches cannot be predicted.
    """
    sums = word - ((word >> ONE) & _M1)
    sums = (sums & _M2) + ((sums >> U64(2)) & _M2)
    sums = ((sums + (sums >> U64(4))) & _M4) * _H01
    rank = U64(k)
    place = U64(popcount(((rank * _H01 | _H80) - sums) & _H80)) << U64(3)
    rank -= ((sums << U64(8)) >> place) & _BYTE
    bits = (((word >> place) & _BYTE) * _H01) & _DIAGONAL
    sums = (((bits + _H7F) >> U64(7)) & _H01) * _H01
    return np.int64(place) + popcount(((rank * _H01 | _H80) - sums) & _H80)


@kernel
def get(words, index):
    """Whether bit `index` of a row of words is set."""
    return has(words[index >> 6], index & 63)


@kernel
def count(words, size):
    """How many bits of a row of `size` words are set; a few cycles if `size` is constant."""
    total = 0
    for i in range(size):
        total += popcount(words[i])
    return total


@kernel
def select_in(words, size, k):
    """Index of the k-th set bit of `size` words, counting from 0; -1 if at most k are set."""
    total, before, word = 0, 0, 0
    for i in range(size):  # no early exit: the branch could not be predicted
        total += popcount(words[i])
        passed = total <= k
        word += passed
        before = total if passed else before
    if total <= k:
        return -1
    return 64 * word + select(words[word], k - before)


@kernel
def clear(words):
    """Set a row of words to zero."""
    for i in range(words.shape[0]):
        words[i] = ZERO


@kernel
def put(words, offset, width, board):
    """OR a board of `width` bits (1 to 64) into a zeroed row of words, beginning at bit `offset`.

    The board must have no bit set at `width` or above.
    """
    word, shift = offset >> 6, U64(offset & 63)
    words[word] |= board << shift
    if (offset & 63) + width > 64:
        words[word + 1] |= board >> (WORD - shift)


@kernel
def put_bit(words, offset):
    """Set bit `offset` of a row of words."""
    words[offset >> 6] |= ONE << U64(offset & 63)


@kernel
def put_byte(words, index, value):
    """OR a number from 0 to 127 into byte `index` of a zeroed row of words."""
    words[index >> 3] |= U64(value) << U64((index & 7) * 8)


_SLOW_PDEP = ("znver1", "znver2")
"""CPUs that emulate the instruction, which is a hundred times slower."""


def _has_pdep() -> bool:
    if INTERPRETED or numba.config.CPU_NAME or numba.config.CPU_FEATURES:
        return False
    import llvmlite.binding as llvm  # noqa: PLC0415 - only the compiled form has it

    features = llvm.get_host_cpu_features()
    return bool(features.get("bmi2")) and llvm.get_host_cpu_name() not in _SLOW_PDEP


if _has_pdep():

    @intrinsic  # type: ignore[untyped-decorator]
    def _deposit(typing_context: Any, word: Any, mask: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)] * 2)
            pdep = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
            return builder.call(pdep, args)

        return types.uint64(types.uint64, types.uint64), generate

    @kernel
    def nth_bit(word, k):
        """Index of the k-th set bit of a word, counted from 0; the word must have more than k."""
        return lowest(_deposit(ONE << U64(k), word))

else:
    nth_bit = select


def word_count(bits: int) -> int:
    """How many 64-bit words are needed for a number of bits."""
    return -(-bits // 64)


def board_of(cells: Iterable[int], words: int) -> np.ndarray:
    """The board, `(words,)` uint64, on which exactly these cells are set."""
    board = np.zeros(words, U64)
    for cell in cells:
        board[cell >> 6] |= ONE << U64(cell & 63)
    return board


def cells_of(board: np.ndarray) -> list[int]:
    """The cells set on a board, `(words,)` uint64, in ascending order."""
    cells = []
    for i, word in enumerate(board):
        left = int(word)
        while left:
            cells.append(64 * i + (left & -left).bit_length() - 1)
            left &= left - 1
    return cells


def draw(board: np.ndarray, columns: int, rows: int) -> str:
    """A board as lines of `x` and `.`, for docs, tests and debugging."""
    lit = set(cells_of(np.atleast_1d(board)))
    lines = ("".join(".x"[r * columns + c in lit] for c in range(columns)) for r in range(rows))
    return "\n".join(lines)
