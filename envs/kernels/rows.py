"""Rows of words as values: loaded once, processed as a whole, stored once.

In plain Python a row is an array, as defined here; in compiled kernels it is a vector register
(`rows_compiled`). As vectors, 729 stones take two instructions where twelve words took twenty-four;
with loops over words, a batched step of Sudoku Moyo took 1.4 times as long
(`docs/decisions/vector-rows.md` explains why).

A row has `&`, `|`, `~`, `<<` and `>>`, which apply to each word as they do in arrays; the right
side may be a single word. Shifts must be by less than 64. Rows are values: write `a = a | b`,
because `|=` would change an array in place when kernels run as plain Python. Sizes must be global
constants. Arguments are not checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import INTERPRETED

Row = np.ndarray[Any, np.dtype[np.uint64]]
"""A row of words, `(size,)`."""


def load(words: Row, start: int, size: int) -> Row:
    """The row of `size` words that begins at word `start` of an array."""
    return np.array(words.reshape(-1)[start : start + size])


def store(words: Row, start: int, row: Row) -> None:
    """Write a row to an array, beginning at word `start`."""
    words.reshape(-1)[start : start + len(row)] = row


def everywhere(word: np.uint64, size: int) -> Row:
    """A row of `size` words that all equal `word`."""
    return np.full(size, word, np.uint64)


def union(row: Row) -> np.uint64:
    """The OR of all words of a row."""
    return np.uint64(np.bitwise_or.reduce(row))


def any_bit(row: Row) -> bool:
    """Whether any bit of a row is set."""
    return bool(row.any())


def meeting(row: Row, word: np.uint64) -> np.uint64:
    """Which words of a row of at most 64 share a bit with `word`, as bits."""
    return np.uint64(sum(1 << i for i, other in enumerate(row) if other & word))


def where(test: Row, row: Row) -> Row:
    """The words of `row` where the words of `test` are not 0, elsewhere 0."""
    return np.where(test != 0, row, np.uint64(0))


def word_in(row: Row, index: int) -> np.uint64:
    """One word of a row; fastest if `index` is constant."""
    return np.uint64(row[index])


def word_at(index: int, word: np.uint64, size: int) -> Row:
    """A row of `size` words, all 0 but `word` at `index`; all 0 if `index` is out of range."""
    row = np.zeros(size, np.uint64)
    if 0 <= index < size:
        row[index] = word
    return row


def with_word(row: Row, index: int, word: np.uint64) -> Row:
    """A copy of a row with `word` at `index`; fastest if `index` is constant."""
    row = row.copy()
    row[index] = word
    return row


def raised(row: Row, bits: int) -> Row:
    """A row shifted up by `bits`, below 64, across words; the highest bits are lost."""
    below = np.concatenate([np.zeros(1, np.uint64), row[:-1]])
    return (row << np.uint64(bits)) | (below >> np.uint64(1) >> np.uint64(63 - bits))


if not INTERPRETED:
    from azumaya.envs.kernels.rows_compiled import register

    register(globals())
