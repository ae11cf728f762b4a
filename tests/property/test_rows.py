"""Rows of any size give the same results in compiled kernels and in plain Python."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.kernels import rows
from azumaya.envs.kernels.compile import INTERPRETED, kernel

SIZES = (1, 2, 3, 6, 8, 12, 20)
U64 = np.uint64
WORDS = st.integers(0, 2**64 - 1)
EDGES = st.sampled_from([0, 1, 2**63, 2**64 - 1])

load, store, everywhere = rows.load, rows.store, rows.everywhere
any_bit, union, meeting, where = rows.any_bit, rows.union, rows.meeting, rows.where
raised = rows.raised
word_at, word_in, with_word = rows.word_at, rows.word_in, rows.with_word

pytestmark = pytest.mark.skipif(INTERPRETED, reason="compares compiled kernels with plain Python")


@functools.cache
def everything(size: int) -> Any:
    """A function that applies every operation to two rows and writes the results to `out`."""

    def work(a, b, word, index, bits, out, words):  # type: ignore[no-untyped-def]
        x, y, shift = load(a, 0, size), load(b, 1, size), U64(bits)
        store(out, 0, (x & y) | ~x)
        store(out, size, (x << shift) | (y >> shift))
        store(out, 2 * size, (x & word) | where(y, x))
        store(out, 3 * size, raised(x, bits))
        store(out, 4 * size, raised(~y, bits))
        store(out, 5 * size, with_word(x, index, word))
        store(out, 6 * size, word_at(index, word, size) | word_at(index + 1, word, size))
        store(out, 7 * size, everywhere(word, size))
        store(out, 8 * size, x >> (y & everywhere(U64(63), size)))
        words[0] = union(x)
        words[1] = union(~x & ~y)
        words[2] = meeting(~x, word)
        words[3] = meeting(everywhere(word, size), word)
        words[4] = word_in(~x, index)
        words[5] = U64(any_bit(~x)) + U64(2) * U64(any_bit(x & ~x)) + U64(4) * U64(any_bit(x))
        words[6] = U64(any_bit(x & y))

    return work, kernel(work)


@pytest.mark.parametrize("size", SIZES)
@given(data=st.data())
def test_compiled_rows_equal_plain_python(size: int, data: st.DataObject) -> None:
    """Every function and operator, for arbitrary words and extreme ones."""
    row = st.lists(EDGES | WORDS, min_size=size, max_size=size)
    a = np.array(data.draw(row), U64)
    b = np.array([7, *data.draw(row), 9], U64)
    word, index = U64(data.draw(EDGES | WORDS)), data.draw(st.integers(0, size - 1))
    bits = data.draw(st.integers(0, 63))
    results = []
    for work in everything(size):
        out, words = np.zeros(9 * size + 1, U64), np.zeros(7, U64)
        work(a, b, word, index, bits, out, words)
        assert out[-1] == 0
        results.append((out.tolist(), words.tolist()))
    assert results[0] == results[1]


def test_rows_of_a_two_dimensional_array_are_consecutive() -> None:
    """`start` is an index of words, whatever the size of the row."""

    @kernel
    def second(table, out):  # type: ignore[no-untyped-def]
        store(out, 3, load(table, 3, 3))

    out = np.zeros((3, 3), U64)
    second(np.arange(9, dtype=U64).reshape(3, 3), out)
    assert out.tolist() == [[0, 0, 0], [3, 4, 5], [0, 0, 0]]
