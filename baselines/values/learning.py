"""How a network learns: Adam, on the rows that a batch of positions touches, and an average.

Loops over hidden units run over slices whose length the compiler does not know. Otherwise it
unrolls them, and then the additions stay scalar: learning took twice the time.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.search.borrow import borrow
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


@dataclass
class Room:
    """Scratch space for learning.

    Attributes:
        gradient: the sum of a batch's gradients, `(learned,)` float32, zero between batches.
        touched: the rows that a batch touches, `(rows,)` int64.
        marks: whether a row is among them, `(rows,)` bool, False between batches.
        hidden: the sums of the hidden units, `(width,)` float32.
    """

    gradient: np.ndarray
    touched: np.ndarray
    marks: np.ndarray
    hidden: np.ndarray

    @classmethod
    def new(cls, shape: Shape) -> Room:
        """Room for a network of these sizes."""
        return cls(
            np.zeros(shape.learned, np.float32),
            np.zeros(shape.rows, np.int64),
            np.zeros(shape.rows, np.bool_),
            np.zeros(shape.width, np.float32),
        )


@functools.cache
def learn_kernel(shape: Shape) -> Any:
    """The kernel that learns from positions once, in batches, and returns the mean squared error.

    `learn(order, batch, rate, found, offsets, begun, targets, weights, mean, square, steps,
    gradient, touched, marks, hidden)`: `order`, `(n,)` int64, are the positions in the order of
    learning. `found`, `begun` and `targets` are as `self_play_kernel` writes them, and `offsets`,
    `(positions + 1,)` int64, says where the features of each position begin, and where the last
    ones end. Then come the parameters, what `Moments` has, and what `Room` has.
    """
    width, bias, learned = shape.width, shape.bias, shape.learned
    second, last = shape.second, shape.last
    forward = forward_kernel(shape)

    @kernel
    def add_gradient(features, start, target, weights, gradient, hidden):
        size = features.shape[0]
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
        units = hidden.shape[0]
        for i in range(size):
            first = np.int64(features[i]) * units
            row = gradient[first : first + units]
            for j in range(units):
                row[j] += hidden[j]
        return error * error

    @kernel
    def descend(first, end, share, rate, weights, mean, square, gradient):
        weights, mean = weights[first:end], mean[first:end]
        square, gradient = square[first:end], gradient[first:end]
        for i in range(weights.shape[0]):
            slope = gradient[i] * share
            gradient[i] = F32(0)
            moved = mean[i] + MEAN_RATE * (slope - mean[i])
            spread = square[i] + SQUARE_RATE * (slope * slope - square[i])
            mean[i], square[i] = moved, spread
            weights[i] -= rate * moved / (np.sqrt(spread) + EPSILON)

    @kernel
    def learn(
        order, batch, rate, found, offsets, begun, targets,
        weights, mean, square, steps, gradient, touched, marks, hidden,
    ):  # fmt: skip
        found = borrow(found)
        units, error = hidden.shape[0], 0.0
        for at in range(0, order.shape[0], batch):
            end, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, end):
                i = order[k]
                features = found[offsets[i] : offsets[i + 1]]
                for f in range(features.shape[0]):
                    row = features[f]
                    if not marks[row]:
                        marks[row] = True
                        touched[seen] = row
                        seen += 1
                error += add_gradient(features, begun[i], targets[i], weights, gradient, hidden)
            steps[0] += 1
            unbiased = np.sqrt(1.0 - (1.0 - SQUARE_RATE) ** steps[0])
            now = F32(rate * unbiased / (1.0 - (1.0 - MEAN_RATE) ** steps[0]))
            share = F32(1) / F32(end - at)
            for k in range(seen):
                row = touched[k]
                marks[row] = False
                descend(row * units, (row + 1) * units, share, now, weights, mean, square, gradient)
            descend(bias, learned, share, now, weights, mean, square, gradient)
        return error / max(order.shape[0], 1)

    return learn


@kernel
def mix(kept, average, weights):
    """Move an average towards weights; `kept` is how much of it stays."""
    for i in range(weights.shape[0]):
        average[i] = kept * average[i] + (F32(1) - kept) * weights[i]


@kernel
def follow(kept, rows, width, square, average, weights):
    """Move the average of all parameters towards `weights`; `kept` is how much of it stays.

    Rows that nothing has been learned from yet, so that `square` of `Moments` is zero there, stay
    as they are. `average` and `weights` are `(size,)` float32.
    """
    for row in range(rows):
        first = row * width
        if square[first] != F32(0):
            mix(kept, average[first : first + width], weights[first : first + width])
    first = rows * width
    mix(kept, average[first:], weights[first:])
