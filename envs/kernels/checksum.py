"""Checksums of records, by which states that come back are known.

Kernels trust every bit of a state. To check each field of each game would mean to write the
invariants of all rules once more, and a state that has only plausible fields can still send a
kernel out of bounds. So whatever hands states out adds a checksum of every record, and whatever
takes states in compares it. It guards against accidents: a changed bit, another action space, a
file of something else. It is no signature: who computes it on purpose can forge it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import mix


@kernel
def _chain(words, sums):
    """Go on with the sum of each row, `(n,)`, over its words, `(n, W)`.

    `mix` is a bijection, so records that differ in one word only never have the same sum.
    """
    for i in range(words.shape[0]):
        value = sums[i]
        for w in range(words.shape[1]):
            value = mix(value ^ words[i, w])
        sums[i] = value


def checksums(kind: str, *records: np.ndarray) -> np.ndarray:
    """A checksum for every row, `(n,)` uint64.

    Args:
        kind: what the records are. Equal records of different kinds have different checksums.
        records: arrays of records made of 64-bit words, `(n,)` each; row `i` of all of them gives
            checksum `i`.
    """
    sums = np.full(len(records[0]), checksum_key(kind, *(array.dtype for array in records)))
    for array in records:
        _chain(_words_of(array), sums)
    return sums


def checksum_key(kind: str, *dtypes: np.dtype[Any]) -> np.uint64:
    """What the checksums of records of these types begin with."""
    described = (kind, *(dtype.descr for dtype in dtypes))
    key = hashlib.blake2b(repr(described).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(key, "little"))


def checksum_of_one(key: np.uint64, *records: np.ndarray) -> int:
    """What `checksums` gives for one row, `(1,)` each, where its key is kept for speed."""
    sums = np.array([key])
    for array in records:
        _chain(_words_of(array), sums)
    return int(sums[0])


def _words_of(records: np.ndarray) -> np.ndarray:
    plain = np.ascontiguousarray(records).view(np.ndarray)
    return plain.view(np.uint64).reshape(len(plain), -1)


def checksum(kind: str, *records: np.ndarray) -> int:
    """One checksum of whole arrays of records, as an int."""
    each = [checksums(kind, array) for array in records]
    sums: Any = np.concatenate(each)[None]
    total = np.full(1, len(sums[0]), np.uint64)
    _chain(sums, total)
    return int(total[0])
