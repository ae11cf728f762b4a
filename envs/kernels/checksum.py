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


@kernel
def _chain(words, sums):
    """Update the sum of each row, `(n,)`, with its words, `(n, W)`.

    `mix` is a bijection, so records that differ in a single word never have the same sum.
    """
    for i in range(words.shape[0]):
        value = sums[i]
        for w in range(words.shape[1]):
            value = mix(value ^ words[i, w])
        sums[i] = value


def checksums(kind: str, *records: np.ndarray) -> np.ndarray:
    """A checksum for every row, `(n,)` uint64.

    Args:
        kind: the kind of the records. Equal records of different kinds have different checksums.
        records: arrays of records of 64-bit words, `(n,)` each; checksum `i` covers row `i` of
            all of them.
    """
    sums = np.full(len(records[0]), checksum_key(kind, *(array.dtype for array in records)))
    for array in records:
        _chain(_words_of(array), sums)
    return sums


@functools.lru_cache(maxsize=64)  # describing a record takes longer than a checksum of one
def checksum_key(kind: str, *dtypes: np.dtype[Any]) -> np.uint64:
    """What the checksums of records of these types begin with."""
    described = (kind, *(dtype.descr for dtype in dtypes))
    key = hashlib.blake2b(repr(described).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(key, "little"))


def _words_of(records: np.ndarray) -> np.ndarray:
    plain = np.ascontiguousarray(records).view(np.ndarray)
    return plain.view(np.uint64).reshape(len(plain), plain.itemsize // 8)


def checksum(kind: str, *records: np.ndarray) -> int:
    """One checksum of whole arrays of records, as an int."""
    each = [checksums(kind, array) for array in records]
    sums: Any = np.concatenate(each)[None]
    total = np.full(1, len(sums[0]), np.uint64)
    _chain(sums, total)
    return int(total[0])
