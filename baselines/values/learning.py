"""How a network learns: Adam, on the rows that a batch of positions touches, and an average.

Loops over hidden units run over slices whose length the compiler does not know. Otherwise it
unrolls them, and then the additions stay scalar: learning took twice the time.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from azumaya.baselines.values.examples import Rows
from azumaya.baselines.values.network import F32, LEAK, Shape, forward_kernel
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

MEAN_RATE, SQUARE_RATE, EPSILON = F32(0.1), F32(0.001), F32(1e-6)
"""Adam's usual `1 - beta1` and `1 - beta2`, and its epsilon."""
TEMPERATURE, VALUE_SHARE = F32(0.5), F32(1)
"""How sharply a question prefers the right moves, and what the values after its moves count."""
SURE, LEAST = F32(0.99999), F32(1e-20)
"""The largest value that is told from a sure one, and the least chance of the right moves."""


class Learner(NamedTuple):
    """The parameters of a network, what Adam keeps between batches, and scratch space.

    Attributes:
        weights: the parameters, `(size,)` float32.
        mean: the mean of gradients, `(learned,)` float32.
        square: the mean of their squares, `(learned,)` float32.
        steps: the number of batches so far, `(1,)` int64.
        gradient: the sum of a batch's gradients, `(learned,)` float32, zero between batches.
        touched: the rows that a batch touches, `(rows,)` int64.
        marks: whether a row is among them, `(rows,)` bool, False between batches.
        hidden: the sums of the hidden units, `(width,)` float32.
    """

    weights: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    steps: np.ndarray
    gradient: np.ndarray
    touched: np.ndarray
    marks: np.ndarray
    hidden: np.ndarray

    @classmethod
    def new(cls, shape: Shape, weights: np.ndarray) -> Learner:
        """A learner before its first batch, which changes these parameters."""
        return cls(
            weights,
            np.zeros(shape.learned, np.float32),
            np.zeros(shape.learned, np.float32),
            np.zeros(1, np.int64),
            np.zeros(shape.learned, np.float32),
            np.zeros(shape.rows, np.int64),
            np.zeros(shape.rows, np.bool_),
            np.zeros(shape.width, np.float32),
        )


@kernel
def borrowed(learner):
    """A learner whose arrays have no counted references."""
    return Learner(
        borrow(learner.weights), borrow(learner.mean), borrow(learner.square),
        borrow(learner.steps), borrow(learner.gradient), borrow(learner.touched),
        borrow(learner.marks), borrow(learner.hidden),
    )  # fmt: skip


# ---- a batch ----


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
    """The kernel `step(size, seen, rate, learner)`: change the parameters by a batch's gradient.

    The batch has `size` examples and `seen` rows, which are listed in `touched`. The gradient is
    cleared.
    """
    bias, learned = shape.bias, shape.learned

    @kernel
    def step(size, seen, rate, learner):
        weights, mean, square = learner.weights, learner.mean, learner.square
        gradient, units = learner.gradient, learner.hidden.shape[0]
        learner.steps[0] += 1
        count = learner.steps[0]
        unbiased = np.sqrt(1.0 - (1.0 - SQUARE_RATE) ** count)
        now = F32(rate * unbiased / (1.0 - (1.0 - MEAN_RATE) ** count))
        share = F32(1) / F32(size)
        for k in range(seen):
            row = learner.touched[k]
            learner.marks[row] = False
            descend(row * units, (row + 1) * units, share, now, weights, mean, square, gradient)
        descend(bias, learned, share, now, weights, mean, square, gradient)

    return step


@functools.cache
def learn_kernel(shape: Shape) -> Any:
    """The kernel that learns from positions once, in batches, and returns the mean squared error.

    `learn(order, batch, rate, rows, learner)`: `order`, `(n,)` int64, are the positions of `Rows`
    in the order of learning, `batch` how many are in a batch, `rate` the learning rate.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)

    @kernel
    def learn(order, batch, rate, rows, learner):
        learner, found = borrowed(learner), borrow(rows.found)
        offsets, begun, targets = rows.offsets, rows.begun, rows.targets
        weights, gradient, hidden = learner.weights, learner.gradient, learner.hidden
        error = 0.0
        for at in range(0, order.shape[0], batch):
            end, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, end):
                i = order[k]
                features = found[offsets[i] : offsets[i + 1]]
                seen = touch(features, learner.touched, learner.marks, seen)
                value = forward(features, features.shape[0], begun[i], weights, hidden)
                off = value - targets[i]
                add(features, begun[i], off * (F32(1) - value * value), weights, gradient, hidden)
                error += off * off
            step(end - at, seen, rate, learner)
        return error / max(order.shape[0], 1)

    return learn


@functools.cache
def judge_kernel(shape: Shape) -> Any:
    """The kernel `judge(first, end, moves, rows, weights, hidden)`: the best-valued of moves.

    It writes the network's values after the moves from `first` to `end`, before the `tanh` and for
    the player who moves, to `moves.scores`. A position without features is over, and counts as its
    target.
    """
    forward = forward_kernel(shape)

    @kernel
    def judge(first, end, moves, rows, weights, hidden):
        best, scores = first, moves.scores
        for i in range(first, end):
            features = rows.found[rows.offsets[i] : rows.offsets[i + 1]]
            value = rows.targets[i]
            if features.shape[0] > 0:
                value = forward(features, features.shape[0], rows.begun[i], weights, hidden)
            scores[i - first] = moves.signs[i] * np.arctanh(min(max(value, -SURE), SURE))
            if scores[i - first] > scores[best - first]:
                best = i
        return best

    return judge


@kernel
def weigh(first, end, right, scores, highest):
    """Turn scores into chances, not normalised yet; returns the sums of all, and of right ones."""
    total, good = F32(0), F32(0)
    for i in range(first, end):
        scores[i - first] = np.exp((scores[i - first] - highest) / TEMPERATURE)
        total += scores[i - first]
        if right[i]:
            good += scores[i - first]
    return total, max(good, LEAST)


@functools.cache
def prefer_kernel(shape: Shape) -> Any:
    """The kernel that learns which moves are right, and returns how often the best-valued one was.

    A question is a position in which some moves keep what others give away. The network's values
    after the moves, before the `tanh`, become probabilities by a softmax with a temperature of
    `TEMPERATURE`; what is to become less is the negative logarithm of the probability of the right
    moves together, and `VALUE_SHARE` of the squared error of the values.

    `prefer(order, batch, rate, moves, rows, learner)`: `order` are the questions, `moves` a `Moves`
    and `rows` the positions after the moves; the others are as for `learn_kernel`.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)
    judge = judge_kernel(shape)

    @kernel
    def pull(first, end, seen, sums, moves, rows, learner):
        total, good = sums
        hidden, signs, right = learner.hidden, moves.signs, moves.right
        for i in range(first, end):
            features, start = rows.found[rows.offsets[i] : rows.offsets[i + 1]], rows.begun[i]
            if features.shape[0] == 0:
                continue
            seen = touch(features, learner.touched, learner.marks, seen)
            value = forward(features, features.shape[0], start, learner.weights, hidden)
            chance = moves.scores[i - first]
            # half of the derivative, as in `learn`: Adam's steps have the same length
            slope = signs[i] * (chance / total - (chance / good if right[i] else F32(0)))
            slope *= F32(0.5) / TEMPERATURE
            off = (value - rows.targets[i]) * (F32(1) - value * value)
            slope += VALUE_SHARE / F32(end - first) * off
            add(features, start, slope, learner.weights, learner.gradient, hidden)
        return seen

    @kernel
    def prefer(order, batch, rate, moves, rows, learner):
        learner = borrowed(learner)
        rows = Rows(
            borrow(rows.found), borrow(rows.offsets), borrow(rows.begun), borrow(rows.targets)
        )
        hits = 0
        for at in range(0, order.shape[0], batch):
            until, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, until):
                first, end = moves.firsts[order[k]], moves.firsts[order[k] + 1]
                best = judge(first, end, moves, rows, learner.weights, learner.hidden)
                hits += moves.right[best]
                highest = moves.scores[best - first]
                sums = weigh(first, end, moves.right, moves.scores, highest)
                seen = pull(first, end, seen, sums, moves, rows, learner)
            step(until - at, seen, rate, learner)
        return hits / max(order.shape[0], 1)

    return prefer


# ---- an average ----

WARMING = 10
"""Updates over which averaging begins: at first an average forgets faster."""


def kept_share(updates: int, most: float) -> np.float32:
    """How much of an average stays after this many updates, at least 1, and at most `most`."""
    return F32(min(most, updates / (updates + WARMING)))


@kernel
def mix(kept, average, weights):
    """Move an average towards weights; `kept` is how much of it stays."""
    for i in range(weights.shape[0]):
        average[i] = kept * average[i] + (F32(1) - kept) * weights[i]


@kernel
def follow(kept, rows, width, square, average, weights):
    """Move the average of all parameters towards `weights`; `kept` is how much of it stays.

    Rows that nothing has been learned from yet, so that `square` of `Learner` is zero there, stay
    as they are. `average` and `weights` are `(size,)` float32.
    """
    for row in range(rows):
        first = row * width
        if square[first] != F32(0):
            mix(kept, average[first : first + width], weights[first : first + width])
    first = rows * width
    mix(kept, average[first:], weights[first:])
