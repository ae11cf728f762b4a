"""Checksums of records, which show that states passed back in are the ones handed out.

Kernels trust every bit of a state. Checking each field of each game would require a second copy of
all invariants, and even a state whose fields are all plausible can make a kernel access memory out
of bounds. So code that hands out states adds a checksum of every record, and code that accepts them
compares it. This guards against accidents: a changed bit, another action space, the wrong file. It
is not a signature, because anyone can compute it.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import mix
from azumaya.envs.kernels.states import words_of


@kernel
def _add(value, words, i, count):
    """A sum, updated with the first `count` words of row `i` of `words`, `(n, W)`.

    `mix` is a bijection, so records that differ in a single word never have the same sum.
    """
    for w in range(count):
        value = mix(value ^ words[i, w])
    return value


@kernel
def _chain(words, sums):
    """Update the sum of each row, `(n,)`, with its words, `(n, W)`."""
    for i in range(words.shape[0]):
        sums[i] = _add(sums[i], words, i, words.shape[1])


@kernel
def seal(key, states, saved):
    """Write checksums of the rows of `states` and `saved`, words, to the last words of `saved`."""
    last = saved.shape[1] - 1
    for i in range(saved.shape[0]):
        value = _add(key, states, i, states.shape[1])
        saved[i, last] = _add(value, saved, i, last)


@kernel
def broken_row(key, states, saved):
    """The first row that is not as `seal` left it, or -1."""
    last = saved.shape[1] - 1
    for i in range(saved.shape[0]):
        value = _add(key, states, i, states.shape[1])
        if _add(value, saved, i, last) != saved[i, last]:
            return i
    return -1


def checksums(kind: str, *records: np.ndarray) -> np.ndarray:
    """A checksum for every row, `(n,)` uint64.

    Args:
        kind: the kind of the records. Equal records of different kinds have different checksums.
        records: arrays of records of 64-bit words, `(n,)` each; checksum `i` covers row `i` of
            all of them.
    """
    sums = np.full(len(records[0]), checksum_key(kind, *(array.dtype for array in records)))
    for array in records:
        _chain(words_of(array), sums)
    return sums


@functools.lru_cache(maxsize=64)  # describing a record takes longer than a checksum of one
def checksum_key(kind: str, *dtypes: np.dtype[Any]) -> np.uint64:
    """What the checksums of records of these types begin with."""
    described = (kind, *(dtype.descr for dtype in dtypes))
    key = hashlib.blake2b(repr(described).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(key, "little"))


def checksum(kind: str, *records: np.ndarray) -> int:
    """One checksum of whole arrays of records, as an int."""
    each = [checksums(kind, array) for array in records]
    sums: Any = np.concatenate(each)[None]
    total = np.full(1, len(sums[0]), np.uint64)
    _chain(sums, total)
    return int(total[0])
