"""How a network learns: Adam, on the rows that a batch of positions touches."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.values.network import F32, LEAK, Shape, forward_kernel
from azumaya.envs.kernels.compile import kernel

MEAN_RATE, SQUARE_RATE, EPSILON = F32(0.1), F32(0.001), F32(1e-6)
"""Adam's usual `1 - beta1` and `1 - beta2`, and its epsilon."""


@dataclass
class Moments:
    """What Adam keeps between batches.

    Attributes:
        mean: the mean of gradients, `(learned,)` float32.
        square: the mean of their squares, `(learned,)` float32.
        steps: the number of batches so far, `(1,)` int64.
    """

    mean: np.ndarray
    square: np.ndarray
    steps: np.ndarray

    @classmethod
    def new(cls, shape: Shape) -> Moments:
        """The moments before the first batch: zero."""
        return cls(
            np.zeros(shape.learned, np.float32),
            np.zeros(shape.learned, np.float32),
            np.zeros(1, np.int64),
        )


@functools.cache
def learn_kernel(shape: Shape) -> Any:
    """The kernel that learns from positions once, in batches, and returns the mean squared error.

    `learn(order, batch, rate, found, counts, begun, targets, weights, mean, square, steps,
    gradient, touched, marks)`: `order`, `(n,)` int64, are the positions in the order of learning.
    `found` is `(positions, room)`, the next three are `(positions,)`, as `self_play_kernel` writes
    them. `gradient` is `(learned,)` float32, zeroed; `touched` is `(rows,)` int64, and `marks`
    `(rows,)` bool, zeroed.
    """
    width, rows = shape.width, shape.rows
    bias, second, last, learned = shape.bias, shape.second, shape.last, shape.learned
    forward = forward_kernel(shape)

    @kernel
    def add_gradient(features, size, start, target, weights, gradient, hidden):
        value = forward(features, size, start, weights, hidden)
        error = value - target
        slope = error * (F32(1) - value * value)
        gradient[last] += slope
        gradient[last + 1] += slope * start
        for j in range(width):
            x, part = hidden[j], slope * weights[second + j]
            if x <= F32(0):
                x, part = LEAK * x, LEAK * part
            gradient[second + j] += slope * x
            gradient[bias + j] += part
            hidden[j] = part
        for i in range(size):
            row = features[i] * width
            for j in range(width):
                gradient[row + j] += hidden[j]
        return error * error

    @kernel
    def descend(first, end, share, rate, weights, mean, square, gradient):
        for i in range(first, end):
            slope = gradient[i] * share
            gradient[i] = F32(0)
            mean[i] += MEAN_RATE * (slope - mean[i])
            square[i] += SQUARE_RATE * (slope * slope - square[i])
            weights[i] -= rate * mean[i] / (np.sqrt(square[i]) + EPSILON)

    @kernel
    def learn(
        order, batch, rate, found, counts, begun, targets,
        weights, mean, square, steps, gradient, touched, marks,
    ):  # fmt: skip
        hidden, error = np.empty(width, np.float32), 0.0
        for at in range(0, order.shape[0], batch):
            end, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, end):
                i = order[k]
                for f in range(counts[i]):
                    row = found[i, f]
                    if not marks[row]:
                        marks[row] = True
                        touched[seen] = row
                        seen += 1
                error += add_gradient(
                    found[i], counts[i], begun[i], targets[i], weights, gradient, hidden
                )
            steps[0] += 1
            unbiased = np.sqrt(1.0 - (1.0 - SQUARE_RATE) ** steps[0])
            now = F32(rate * unbiased / (1.0 - (1.0 - MEAN_RATE) ** steps[0]))
            share = F32(1) / F32(end - at)
            for k in range(seen):
                row = touched[k]
                marks[row] = False
                descend(row * width, (row + 1) * width, share, now, weights, mean, square, gradient)
            descend(rows * width, learned, share, now, weights, mean, square, gradient)
        return error / max(order.shape[0], 1)

    return learn
