"""Random numbers for kernels: a keyed, counter-based generator without state.

Draw `n` of a key is a pure function of both: `mix(mix(key + (n + 1) * GAMMA) ^ key)`. So the same
key and draw number give the same word on every platform, in any order and from any thread. The
mixer is the finaliser of SplitMix64 (David Stafford's variant 13; Steele, Lea and Flood, "Fast
splittable pseudorandom number generators", OOPSLA 2014). The second round, which adds the key
again, makes streams differ whose keys differ by a multiple of GAMMA.
"""

from __future__ import annotations

import numpy as np

from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.states import copy_state

U64 = np.uint64
GAMMA = U64(0x9E3779B97F4A7C15)
_A, _B = U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB)
_32 = U64(32)


@kernel(wraps=True)
def mix(word):
    """A bijection of 64-bit words in which every input bit affects every output bit."""
    word = (word ^ (word >> U64(30))) * _A
    word = (word ^ (word >> U64(27))) * _B
    return word ^ (word >> U64(31))


@kernel(wraps=True)
def make_key(seed, environment, episode):
    """The key of an episode; different (seed, environment, episode) give different keys."""
    key = mix(U64(seed) + GAMMA)
    key = mix(key + (U64(environment) + U64(1)) * GAMMA)
    return mix(key + (U64(episode) + U64(1)) * GAMMA)


@kernel(wraps=True)
def random_word(key, n):
    """Draw `n` of a key: 64 random bits."""
    return mix(mix(key + (U64(n) + U64(1)) * GAMMA) ^ key)


@kernel(wraps=True)
def random_below(key, n, bound):
    """Draw `n` of a key as a whole number from 0 to `bound - 1`; `bound` from 1 to 2**31.

    It is the high half of (32 random bits) * bound; its bias is below bound / 2**32.
    """
    return np.int64(((random_word(key, n) >> _32) * U64(bound)) >> _32)


@kernel
def drawn(starts, key):
    """The index of the start, of `starts` `(n,)`, with which the episode of a key begins."""
    return random_below(key, 0, starts.shape[0])


@kernel
def draw_start(states, i, starts, key):
    """Begin an episode in `states[i]` with one of the starts, drawn by the key."""
    copy_state(states, i, starts, drawn(starts, key))
