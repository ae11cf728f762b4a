"""The counter-based generator: its words are those of its definition and of SplitMix64."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from azumaya.envs.kernels.rng import make_key, mix, random_below, random_word

U64 = np.uint64
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
