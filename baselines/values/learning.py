"""How a network learns: Adam, on the rows that a batch of positions touches, and an average.

Loops over hidden units run over slices whose length the compiler does not know. Otherwise it
unrolls them, and then the additions stay scalar: learning took twice the time.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.values.network import F32, LEAK, Shape, forward_kernel
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

MEAN_RATE, SQUARE_RATE, EPSILON = F32(0.1), F32(0.001), F32(1e-6)
"""Adam's usual `1 - beta1` and `1 - beta2`, and its epsilon."""
TEMPERATURE, VALUE_SHARE = F32(0.5), F32(1)
"""How sharply a question prefers the right moves, and what the values after its moves count."""
SURE, LEAST = F32(0.99999), F32(1e-20)
"""The largest value that is told from a sure one, and the least chance of the right moves."""


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
def add_kernel(shape: Shape) -> Any:
    """The kernel `add(features, start, slope, weights, gradient, hidden)`: add a gradient.

    `slope` is the derivative of what is to become less by the sum before the `tanh`; `hidden` are
    the sums of the hidden units, as `forward_kernel` leaves them, and is overwritten.
    """
    width, bias, second, last = shape.width, shape.bias, shape.second, shape.last

    @kernel
    def add(features, start, slope, weights, gradient, hidden):
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
        for i in range(features.shape[0]):
            first = np.int64(features[i]) * units
            row = gradient[first : first + units]
            for j in range(units):
                row[j] += hidden[j]

    return add


@kernel
def touch(features, touched, marks, seen):
    """Mark the rows of a position; returns how many of a batch's rows are listed in `touched`."""
    for f in range(features.shape[0]):
        row = features[f]
        if not marks[row]:
            marks[row] = True
            touched[seen] = row
            seen += 1
    return seen


@kernel
def descend(first, end, share, rate, weights, mean, square, gradient):
    """Adam's step for some of the parameters; `share` is what a gradient counts."""
    weights, mean = weights[first:end], mean[first:end]
    square, gradient = square[first:end], gradient[first:end]
    for i in range(weights.shape[0]):
        slope = gradient[i] * share
        gradient[i] = F32(0)
        moved = mean[i] + MEAN_RATE * (slope - mean[i])
        spread = square[i] + SQUARE_RATE * (slope * slope - square[i])
        mean[i], square[i] = moved, spread
        weights[i] -= rate * moved / (np.sqrt(spread) + EPSILON)


@functools.cache
def adam_kernel(shape: Shape) -> Any:
    """The kernel that changes the parameters by a batch's gradient, and clears that.

    `step(size, seen, units, rate, weights, mean, square, steps, gradient, touched, marks)`: the
    batch has `size` examples and `seen` rows, which are listed in `touched`; `units` is the width.
    """
    bias, learned = shape.bias, shape.learned

    @kernel
    def step(size, seen, units, rate, weights, mean, square, steps, gradient, touched, marks):
        steps[0] += 1
        unbiased = np.sqrt(1.0 - (1.0 - SQUARE_RATE) ** steps[0])
        now = F32(rate * unbiased / (1.0 - (1.0 - MEAN_RATE) ** steps[0]))
        share = F32(1) / F32(size)
        for k in range(seen):
            row = touched[k]
            marks[row] = False
            descend(row * units, (row + 1) * units, share, now, weights, mean, square, gradient)
        descend(bias, learned, share, now, weights, mean, square, gradient)

    return step


@functools.cache
def learn_kernel(shape: Shape) -> Any:
    """The kernel that learns from positions once, in batches, and returns the mean squared error.

    `learn(order, batch, rate, found, offsets, begun, targets, weights, mean, square, steps,
    gradient, touched, marks, hidden)`: `order`, `(n,)` int64, are the positions in the order of
    learning. `found`, `begun` and `targets` are as `self_play_kernel` writes them, and `offsets`,
    `(positions + 1,)` int64, says where the features of each position begin, and where the last
    ones end. Then come the parameters, what `Moments` has, and what `Room` has.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)

    @kernel
    def learn(
        order, batch, rate, found, offsets, begun, targets,
        weights, mean, square, steps, gradient, touched, marks, hidden,
    ):  # fmt: skip
        found = borrow(found)
        error = 0.0
        for at in range(0, order.shape[0], batch):
            end, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, end):
                i = order[k]
                features = found[offsets[i] : offsets[i + 1]]
                seen = touch(features, touched, marks, seen)
                value = forward(features, features.shape[0], begun[i], weights, hidden)
                off = value - targets[i]
                slope = off * (F32(1) - value * value)
                add(features, begun[i], slope, weights, gradient, hidden)
                error += off * off
            step(
                end - at, seen, hidden.shape[0], rate, weights, mean, square, steps, gradient,
                touched, marks,
            )  # fmt: skip
        return error / max(order.shape[0], 1)

    return learn


@functools.cache
def prefer_kernel(shape: Shape) -> Any:
    """The kernel that learns which moves are right, and returns how often the best-valued one was.

    A question is a position in which some moves keep what others give away. The network's values
    after the moves, before the `tanh`, become probabilities by a softmax with a temperature of
    `TEMPERATURE`; what is to become less is the negative logarithm of the probability of the right
    moves together, and `VALUE_SHARE` of the squared error of the values.

    `prefer(order, batch, rate, firsts, right, signs, found, offsets, begun, targets, scores,
    weights, ...)`: `order` are the questions, and the positions after the moves of question `q` are
    those from `firsts[q]` on, up to `firsts[q + 1]`. Of these, `right`, `(n,)` bool, says whether
    the move is right, and `signs`, `(n,)` float32, is 1 where the player who made it is to move
    again, else -1. `scores` has room for the moves of a question. The others are as for
    `learn_kernel`. A position without features is over, and counts as its target.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)

    @kernel
    def judge(first, end, signs, found, offsets, begun, targets, scores, weights, hidden):
        best = first
        for i in range(first, end):
            features = found[offsets[i] : offsets[i + 1]]
            value = targets[i]
            if features.shape[0] > 0:
                value = forward(features, features.shape[0], begun[i], weights, hidden)
            scores[i - first] = signs[i] * np.arctanh(min(max(value, -SURE), SURE))
            if scores[i - first] > scores[best - first]:
                best = i
        return best

    @kernel
    def weigh(first, end, right, scores, highest):
        total, good = F32(0), F32(0)
        for i in range(first, end):
            scores[i - first] = np.exp((scores[i - first] - highest) / TEMPERATURE)
            total += scores[i - first]
            if right[i]:
                good += scores[i - first]
        return total, max(good, LEAST)

    @kernel
    def prefer(
        order, batch, rate, firsts, right, signs, found, offsets, begun, targets, scores,
        weights, mean, square, steps, gradient, touched, marks, hidden,
    ):  # fmt: skip
        found = borrow(found)
        hits = 0
        for at in range(0, order.shape[0], batch):
            until, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, until):
                first, end = firsts[order[k]], firsts[order[k] + 1]
                best = judge(
                    first, end, signs, found, offsets, begun, targets, scores, weights, hidden
                )
                hits += right[best]
                total, good = weigh(first, end, right, scores, scores[best - first])
                for i in range(first, end):
                    features = found[offsets[i] : offsets[i + 1]]
                    if features.shape[0] == 0:
                        continue
                    seen = touch(features, touched, marks, seen)
                    value = forward(features, features.shape[0], begun[i], weights, hidden)
                    chance = scores[i - first]
                    # half of the derivative, as in `learn`: Adam's steps have the same length
                    slope = signs[i] * (chance / total - (chance / good if right[i] else F32(0)))
                    slope *= F32(0.5) / TEMPERATURE
                    off = (value - targets[i]) * (F32(1) - value * value)
                    slope += VALUE_SHARE / F32(end - first) * off
                    add(features, begun[i], slope, weights, gradient, hidden)
            step(
                until - at, seen, hidden.shape[0], rate, weights, mean, square, steps, gradient,
                touched, marks,
            )  # fmt: skip
        return hits / max(order.shape[0], 1)

    return prefer


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
