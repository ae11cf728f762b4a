"""What a row of words is and does, said in NumPy: how it runs where kernels are plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = np.ndarray[Any, np.dtype[np.uint64]]
"""A row where kernels run as plain Python, `(size,)`."""


def load(words: Row, start: int, size: int) -> Row:
    """The row of `size` words from word `start` of an array on."""
    return np.array(words.reshape(-1)[start : start + size])


def store(words: Row, start: int, row: Row) -> None:
    """Write a row to an array, from word `start` on."""
    words.reshape(-1)[start : start + len(row)] = row


def everywhere(word: np.uint64, size: int) -> Row:
    """The row of `size` words that are all this one."""
    return np.full(size, word, np.uint64)


def union(row: Row) -> np.uint64:
    """All words of a row in one."""
    return np.uint64(np.bitwise_or.reduce(row))


def any_bit(row: Row) -> bool:
    """Whether a row has a bit set."""
    return bool(row.any())


def meeting(row: Row, word: np.uint64) -> np.uint64:
    """Which words of a row, at most 64, share a bit with a word, as bits."""
    return np.uint64(sum(1 << i for i, other in enumerate(row) if other & word))


def where(test: Row, row: Row) -> Row:
    """The words of a row where the words of another have a bit, else 0."""
    return np.where(test != 0, row, np.uint64(0))


def word_in(row: Row, index: int) -> np.uint64:
    """One word of a row; `index` is best constant."""
    return np.uint64(row[index])


def word_at(index: int, word: np.uint64, size: int) -> Row:
    """The row of `size` words with one word at `index`, all others 0; outside it is lost."""
    row = np.zeros(size, np.uint64)
    if 0 <= index < size:
        row[index] = word
    return row


def with_word(row: Row, index: int, word: np.uint64) -> Row:
    """A row with another word at `index`, which is best constant."""
    row = row.copy()
    row[index] = word
    return row


def raised(row: Row, bits: int) -> Row:
    """A row whose bits move up by `bits`, below 64, from word to word; the highest are lost."""
    below = np.concatenate([np.zeros(1, np.uint64), row[:-1]])
    return (row << np.uint64(bits)) | (below >> np.uint64(1) >> np.uint64(63 - bits))
