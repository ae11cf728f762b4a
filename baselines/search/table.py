"""The transposition table, and the 128-bit keys of positions.

A key is made of two NH hashes (Black, Halevi, Krawczyk, Krovetz and Rogaway, "UMAC", CRYPTO 1999)
of all words of the state, with fixed random keys, each mixed down to 64 bits. For any two different
states, NH collides with a probability of at most 2**-64 over the choice of its keys, which are
independent of the games; the mixing adds as much. Both hashes collide with a probability of about
2**-126 per pair, so in a search of 2**32 different positions, which takes days, the odds that any
two of them are confused are 1 in 2**63.

An entry bounds the final payoff of player_0, with `UNIT` per point. A bound based on evaluations at
a horizon is valid for a depth; one based only on finished games has the depth `PROVEN`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from azumaya.baselines.search.arguments import allocating, check_megabytes
from azumaya.envs.errors import OptionError, brief
from azumaya.envs.game import as_states
from azumaya.envs.kernels.bits import U64, ZERO, high_product
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import GAMMA, mix
from azumaya.envs.kernels.spread import SPREAD_BYTES, fetch

UNIT = 1 << 40
"""One point of payoff; greater than any evaluation."""
INFINITE = 1 << 60
PROVEN = 30000
"""The depth of bounds that are independent of the horizon."""
NO_MOVE = -1

ENTRY = np.dtype(
    [
        ("key", U64, (2,)),
        ("low", np.int64),
        ("high", np.int64),
        ("work", np.int64),  # positions visited to find this
        ("move", np.int32),  # the best move, NO_MOVE if none is known
        ("age", np.int32),  # age of the search that wrote this; 0: empty
        ("low_depth", np.int16),
        ("high_depth", np.int16),
        ("pad", np.int32, (3,)),  # to the size of a cache line
    ]
)
WAYS = 2
"""Entries per bucket; the first keeps the result that took more work."""

SECOND_HASH = 1024
"""Index of the first key of the second hash."""
MOST_HASHED = SECOND_HASH - 2
"""The most words of a row that `nh` has keys for."""

_rounds = np.arange(1, 2049, dtype=np.uint64)
with np.errstate(over="ignore"):
    HASH_KEYS = np.array([mix(r * GAMMA) for r in _rounds], U64)


@kernel(wraps=True)
def nh(words, row, first):
    """The NH hash of a row of words, using the keys from `first` on, mixed to 64 bits."""
    low, high = ZERO, ZERO
    size = words.shape[1]
    for w in range(0, size, 2):
        one = words[row, w] + HASH_KEYS[first + w]
        other = HASH_KEYS[first + w + 1]
        if w + 1 < size:
            other += words[row, w + 1]
        product = one * other
        low += product
        high += high_product(one, other) + U64(low < product)
    return mix(low ^ mix(high + HASH_KEYS[first + size + 1]))


@kernel
def bucket(table, first, ways):
    """The index of the first entry of a key's bucket."""
    return ways * np.int64(first & U64(table.shape[0] // ways - 1))


@kernel
def prefetch(table, first):
    """Begin to bring a key's bucket into the cache."""
    at = bucket(table, first, WAYS)
    for way in range(WAYS):
        fetch(table, at + way)


@kernel
def find(table, first, second, age, ways):
    """The index of a key's entry, -1 if there is none; a bucket has as many entries as `ways`."""
    at = bucket(table, first, ways)
    for way in range(ways):
        entry = table[at + way]
        if entry.key[0] == first and entry.key[1] == second and entry.age == age:
            return at + way
    return -1


@kernel
def place_for(table, first, second, age, work):
    """The index to write a key's entry to."""
    at = bucket(table, first, WAYS)
    known = find(table, first, second, age, WAYS)
    if known >= 0:
        table[known].work = max(table[known].work, work)
        return known
    keeper = table[at]
    if keeper.age == age and keeper.work > work:
        at += 1
    entry = table[at]
    entry.key[0] = first
    entry.key[1] = second
    entry.low, entry.high = -INFINITE, INFINITE
    entry.low_depth = entry.high_depth = 0
    entry.move = NO_MOVE
    entry.work, entry.age = work, age
    return at


@kernel
def remember(table, frame, age, work, low, high, depth):
    """Store a frame's result: bounds (infinite if unknown) and the best move."""
    entry = table[place_for(table, frame.key[0], frame.key[1], age, work)]
    if low > -INFINITE and (
        depth > entry.low_depth
        or (depth == entry.low_depth and (depth < PROVEN or low > entry.low))
    ):
        entry.low, entry.low_depth = low, depth
    if high < INFINITE and (
        depth > entry.high_depth
        or (depth == entry.high_depth and (depth < PROVEN or high < entry.high))
    ):
        entry.high, entry.high_depth = high, depth
    if frame.move != NO_MOVE:
        entry.move = frame.move


def new_table(megabytes: float, entry: np.dtype[Any] = ENTRY, ways: int = WAYS) -> np.ndarray:
    """An empty table, `(n,)`, of at most `megabytes`; `n` is a power of two.

    Args:
        megabytes: memory for the table.
        entry: the dtype of an entry, of a power of two bytes.
        ways: entries per bucket.

    Raises:
        OptionError: the memory is too small for a bucket, or there is less.
    """
    if entry.itemsize * ways > check_megabytes(megabytes) * 2**20:
        raise OptionError(f"megabytes={brief(megabytes)}: a table needs at least 0.001")
    entries = int(megabytes * 2**20) // entry.itemsize
    size = entry.itemsize << (entries.bit_length() - 1)
    with allocating(megabytes):
        # not `aligned`: memory is used as it is needed
        room = np.zeros(size + SPREAD_BYTES, np.uint8)
    start = -room.ctypes.data % SPREAD_BYTES
    return as_states(room[start : start + size].view(entry))
