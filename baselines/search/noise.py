"""Dirichlet noise in the priors at the root, for exploration in self-play.

As elsewhere in the search there is only exact arithmetic and roots, so every platform draws the
same noise.
"""

from __future__ import annotations

import numpy as np

from azumaya.baselines.search.priors import exp_of
from azumaya.baselines.search.tree import LN2, puct_reach
from azumaya.envs.kernels.bits import U64
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.rng import random_word

NOISE = 1 << 42
"""The index of the draw of a search's key that is the key of its noise."""


@kernel
def ln(x):
    """The natural logarithm of a positive number, to within 2e-10."""
    twos = 0
    while x < 0.75:
        x, twos = x * 2.0, twos - 1
    while x >= 1.5:
        x, twos = x * 0.5, twos + 1
    s, series = (x - 1.0) / (x + 1.0), 0.0
    for k in range(11, 0, -2):
        series = 1.0 / k + s * s * series
    return LN2 * twos + 2.0 * s * series


@kernel
def uniform(key, n):
    """Draw `n` of a key as a number between 0 and 1, both excluded."""
    return (np.float64(random_word(key, n) >> U64(12)) + 0.5) / (1 << 52)


@kernel
def log_gamma(key, shape):
    """The logarithm of a number drawn from a gamma distribution.

    A number for `shape + 1` is drawn by Marsaglia and Tsang ("A simple method for generating gamma
    variables", 2000). Its product with `u ** (1 / shape)` is one for `shape`, however small.
    """
    d = shape + 2.0 / 3.0
    n, normal, v = 0, 0.0, -1.0
    while v <= 0.0 or ln(uniform(key, n)) >= 0.5 * normal * normal + d * (1.0 - v + ln(v)):
        n, size = n + 1, 2.0
        while size >= 1.0:  # a point in the unit circle, for a normal number by the polar method
            x, y, n = 2.0 * uniform(key, n) - 1.0, 2.0 * uniform(key, n + 1) - 1.0, n + 2
            size = x * x + y * y
        normal = x * np.sqrt(-2.0 * ln(size) / size)
        v = 1.0 + normal / np.sqrt(9.0 * d)
        v = v * v * v
    return ln(d * v) + ln(uniform(key, n + 1)) / shape


@kernel
def disturb(key, noise, concentration, tree, desk):
    """Mix Dirichlet noise into the priors of the root's children; `key` is the search's."""
    nodes, drawn, hidden = tree.nodes, desk.values, tree.stats[0].hidden
    count, key = np.int64(nodes[0].count), random_word(key, NOISE)
    at, best, priors, total = np.int64(nodes[0].first), -np.inf, 0.0, 0.0
    for i in range(count):
        drawn[i] = log_gamma(random_word(key, nodes[at].action), concentration / count)
        best = max(best, drawn[i])
        priors += nodes[at].prior
        at = np.int64(nodes[at].next) if hidden else at + 1
    for i in range(count):
        drawn[i] = exp_of(drawn[i] - best)
        total += drawn[i]
    at = np.int64(nodes[0].first)
    for i in range(count):
        child = nodes[at]
        child.prior += noise * (priors * drawn[i] / total - child.prior)
        tree.reach[at] = puct_reach(child) if child.low != child.high else 0.0
        at = np.int64(nodes[at].next) if hidden else at + 1
