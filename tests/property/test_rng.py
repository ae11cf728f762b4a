"""The counter-based generator: known words, uniformity, avalanche, independence of streams.

The statistics use fixed keys, so each test always passes or always fails. The bounds are wide (five
standard deviations): a good generator passes for any keys, a broken one is far outside. The tests
also run with `NUMBA_DISABLE_JIT=1`, with smaller samples.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.kernels.compile import INTERPRETED
from azumaya.envs.kernels.rng import make_key, mix, random_below, random_word

U64 = np.uint64
SAMPLES = 2_000 if INTERPRETED else 40_000
MASK = 2**64 - 1
words = st.integers(0, MASK)
small = st.integers(0, 2**40)


# ---- the definition, in Python's integers ----


def mix_of(word: int) -> int:
    """SplitMix64's finaliser, variant 13."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 27) * 0x94D049BB133111EB & MASK
    return word ^ word >> 31


def word_of(key: int, n: int) -> int:
    """Draw `n` of a key."""
    return mix_of(mix_of(key + (n + 1) * 0x9E3779B97F4A7C15 & MASK) ^ key)


def key_of(seed: int, environment: int, episode: int) -> int:
    """The key of an episode."""
    key = mix_of(seed + 0x9E3779B97F4A7C15 & MASK)
    for part in (environment, episode):
        key = mix_of(key + (part + 1) * 0x9E3779B97F4A7C15 & MASK)
    return key


def test_mix_is_splitmix64() -> None:
    """The first outputs of SplitMix64 seeded with 1234567, as published."""
    published = (6457827717110365317, 3203168211198807973, 9817491932198370423)
    state = 1234567
    for word in published:
        state = state + 0x9E3779B97F4A7C15 & MASK
        assert int(mix(U64(state))) == mix_of(state) == word


@given(words, words, small, small)
def test_words_are_as_defined(key: int, seed: int, environment: int, episode: int) -> None:
    assert int(mix(U64(key))) == mix_of(key)
    assert int(random_word(U64(key), episode)) == word_of(key, episode)
    assert int(make_key(U64(seed), environment, episode)) == key_of(seed, environment, episode)


@given(words, small, st.integers(1, 2**31))
def test_random_below_stays_below(key: int, n: int, bound: int) -> None:
    value = int(random_below(U64(key), n, bound))
    assert value == (word_of(key, n) >> 32) * bound >> 32
    assert 0 <= value < bound


def test_a_bound_of_one_gives_zero() -> None:
    assert {int(random_below(U64(k), k, 1)) for k in range(50)} == {0}


# ---- statistics ----


def key_at(seed: int, environment: int, episode: int) -> np.uint64:
    """The key of an episode as a word (compiled kernels return Python integers)."""
    return U64(make_key(U64(seed), environment, episode))


def chi_square(counts: np.ndarray) -> float:
    """The deviation of counts from uniformity, in standard deviations of chi-square."""
    expected = counts.sum() / counts.size
    degrees = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - degrees) / np.sqrt(2 * degrees))


STREAMS = {
    "draws of one episode": lambda i: (0, 0, 0, i),
    "first draws of episodes": lambda i: (0, 0, i, 0),
    "first draws of environments": lambda i: (0, i, 0, 0),
    "first draws of seeds": lambda i: (i, 0, 0, 0),
    "seeds far apart": lambda i: (i << 40, 0, 0, 3),
    "seeds a multiple of gamma apart": lambda i: (i * 0x9E3779B97F4A7C15 & MASK, 1, 2, 3),
    "all at once": lambda i: (i & 7, i >> 3 & 7, i >> 6 & 7, i >> 9),
}


def stream_of(name: str) -> list[int]:
    """Words of a stream."""
    found = []
    for i in range(SAMPLES):
        seed, environment, episode, n = STREAMS[name](i)
        found.append(int(random_word(key_at(seed, environment, episode), n)))
    return found


@pytest.mark.parametrize("name", STREAMS)
def test_streams_are_uniform_and_independent(name: str) -> None:
    """Bytes are uniform, bits are fair, successive words are independent, none repeats."""
    stream = stream_of(name)
    assert len(set(stream)) == SAMPLES
    octets = np.array(stream, U64).view(np.uint8).reshape(-1, 8)
    for i in range(8):
        assert abs(chi_square(np.bincount(octets[:, i], minlength=256))) < 5
    lit = np.unpackbits(octets, axis=1).mean(axis=0)
    assert np.abs(lit - 0.5).max() < 5 * 0.5 / np.sqrt(SAMPLES)
    pairs = np.array(stream, U64) >> U64(60)
    both = pairs[:-1] * U64(16) + pairs[1:]
    assert abs(chi_square(np.bincount(both.astype(int), minlength=256))) < 5


@pytest.mark.parametrize("bound", [2, 3, 6, 9, 72, 81, 2500])
def test_random_below_is_uniform(bound: int) -> None:
    key = key_at(17, 0, 0)
    drawn = [int(random_below(key, n, bound)) for n in range(SAMPLES)]
    counts = np.bincount(drawn, minlength=bound)
    assert counts.size == bound
    assert abs(chi_square(counts)) < 5


@pytest.mark.parametrize("part", range(4))
def test_avalanche(part: int) -> None:
    """Flipping one bit of the seed, environment, episode or draw flips half of the output bits."""
    rounds = SAMPLES // 1000
    changes = np.zeros((32, 64))
    for i, b in itertools.product(range(rounds), range(32)):
        arguments = [i * 97 + 5, i, i * 3, i * 7]
        one = word_at(arguments)
        arguments[part] ^= 1 << b
        changes[b] += [(one ^ word_at(arguments)) >> k & 1 for k in range(64)]
    assert abs(changes.mean() / rounds - 0.5) < 5 * 0.5 / np.sqrt(rounds * 32 * 64)
    assert np.abs(changes.mean(axis=1) / rounds - 0.5).max() < 6 * 0.5 / np.sqrt(rounds * 64)


def word_at(arguments: list[int]) -> int:
    """The word of a seed, environment, episode and draw."""
    seed, environment, episode, n = arguments
    return int(random_word(key_at(seed, environment, episode), n))


def test_streams_are_not_shifted_copies() -> None:
    """Streams of adjacent keys share no words at small offsets."""
    seen: set[int] = set()
    for seed, environment, episode in itertools.product(range(4), repeat=3):
        key = key_at(seed, environment, episode)
        seen |= {int(random_word(key, n)) for n in range(50)}
    assert len(seen) == 64 * 50


PAIRS = [((0, 0, 1), (0, 1, 0)), ((1, 0, 0), (0, 0, 1)), ((5, 6, 7), (5, 6, 8))]


@pytest.mark.parametrize("pair", PAIRS)
def test_streams_are_uncorrelated(pair: tuple[tuple[int, int, int], ...]) -> None:
    """The bits of two episodes agree as often as fair coins do."""
    one, other = (key_at(*parts) for parts in pair)
    count = SAMPLES // 10
    agree = sum(
        (int(random_word(one, n)) ^ int(random_word(other, n))).bit_count() for n in range(count)
    )
    assert abs(agree - 32 * count) < 5 * np.sqrt(16 * count)
