"""What a network learns from, and how: Adam, on the rows that a batch touches, and an average.

Loops over hidden units run over slices whose length the compiler does not know. Otherwise it
unrolls them, and then the additions stay scalar: learning took twice the time.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from azumaya.baselines.values.network import (
    F32,
    LEAK,
    Shape,
    features_of,
    forward_kernel,
    scratch_words,
    view_kernel,
)
from azumaya.envs.game import Game
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel

MEAN_RATE, SQUARE_RATE, EPSILON = F32(0.1), F32(0.001), F32(1e-6)
"""Adam's usual `1 - beta1` and `1 - beta2`, and its epsilon."""
Arrays = TypeVar("Arrays", bound=tuple[np.ndarray, ...])

# ---- examples ----


def joined(parts: Sequence[Arrays]) -> Arrays:
    """The arrays of all parts, of which there is at least one, joined one by one."""
    return type(parts[0])(*map(np.concatenate, zip(*parts, strict=True)))


def row_type(shape: Shape) -> type[np.integer[Any]]:
    """The type of row numbers in examples."""
    return np.uint16 if shape.rows <= np.iinfo(np.uint16).max + 1 else np.int32


def offsets_of(counts: np.ndarray) -> np.ndarray:
    """Where each example begins, and where the last one ends, `(n + 1,)`; `counts` is `(n,)`."""
    return np.concatenate([[0], np.cumsum(counts)])


class Examples(NamedTuple):
    """`N` positions with `M` features to learn from, as kernels take them.

    Attributes:
        features: the rows of the table that apply, one position after another, `(M,)` integers of
            any type.
        offsets: where the features of each position begin, and where the last ones end, `(N + 1,)`.
        heuristic: the game's own evaluation, scaled, see `view_kernel`, `(N,)` float32.
        targets: what the value should be, for the player to move, `(N,)` float32.
    """

    features: np.ndarray
    offsets: np.ndarray
    heuristic: np.ndarray
    targets: np.ndarray

    @classmethod
    def of(cls, seen: Viewed | GameExamples | Choices) -> Examples:
        """All positions."""
        return cls(seen.features, offsets_of(seen.counts), seen.heuristic, seen.targets)


class Viewed(NamedTuple):
    """`N` positions as the network sees them.

    Attributes:
        counts: how many features each position has, `(N,)` int64.
        heuristic, targets, features: as in `Examples`.
    """

    counts: np.ndarray
    heuristic: np.ndarray
    targets: np.ndarray
    features: np.ndarray


class GameExamples(NamedTuple):
    """What can be learned from `G` games: their positions, one game after another.

    Attributes:
        counts, heuristic, targets, features: as in `Viewed`; the targets are TD(lambda) returns.
        lengths: the plies of each game, `(G,)` int64.
        results: player_0's payoffs, `(G,)` int64.
    """

    counts: np.ndarray
    heuristic: np.ndarray
    targets: np.ndarray
    features: np.ndarray
    lengths: np.ndarray
    results: np.ndarray

    @classmethod
    def room(cls, game: Game, shape: Shape, games: int, plies: int) -> GameExamples:
        """Room for `games` games of at most `plies` plies each."""
        most, room = games * plies, features_of(game, shape.plain).room
        return cls(
            np.zeros(most, np.int64), np.zeros(most, np.float32), np.zeros(most, np.float32),
            np.zeros(most * room, row_type(shape)), np.zeros(games, np.int64),
            np.zeros(games, np.int64),
        )  # fmt: skip

    def first(self, count: int) -> GameExamples:
        """A copy of the first `count` games, of those that there is room for."""
        positions = self.lengths[:count].sum()
        ends = (*[positions] * 3, self.counts[:positions].sum(), count, count)
        return GameExamples(*(each[:end].copy() for each, end in zip(self, ends, strict=True)))


class Choices(NamedTuple):
    """`Q` questions, positions in which some moves are right, with those that the moves lead to.

    Attributes:
        counts, heuristic, targets, features: as in `Viewed`.
        moves: how many moves each question has, `(Q,)` int64.
        right: whether the move to a position is right, `(N,)` bool.
        again: whether the player who made it is to move again, `(N,)` bool.
    """

    counts: np.ndarray
    heuristic: np.ndarray
    targets: np.ndarray
    features: np.ndarray
    moves: np.ndarray
    right: np.ndarray
    again: np.ndarray


@functools.cache
def view_all_kernel(game: Game, shape: Shape) -> Any:
    """The kernel that turns positions into what a network sees of them.

    `view_all(states, weights, scratch, found, offsets, heuristic)`: `states` are `(n,)`, and
    `found`, `(n * room,)` int32, `offsets` and `heuristic` are written as `Examples` has them.
    """
    view = view_kernel(game, shape)

    @kernel
    def view_all(states, weights, scratch, found, offsets, heuristic):
        for i in range(states.shape[0]):
            at = offsets[i]
            size, heuristic[i] = view(states[i], weights, scratch, found[at:])
            offsets[i + 1] = at + size
        return 0

    return view_all


def viewed(
    game: Game, shape: Shape, states: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Viewed:
    """Running positions, `(n,)` states, as a network sees them, with what it should say of them.

    Args:
        game: their game.
        shape: the network's sizes.
        states: the positions.
        targets: what their values should be for the players to move, `(n,)` float32.
        weights: the network's parameters, of which only the scale counts.
    """
    n, room = len(states), features_of(game, shape.plain).room
    found, offsets = np.zeros(n * room, np.int32), np.zeros(n + 1, np.int64)
    heuristic, scratch = np.zeros(n, np.float32), np.zeros(scratch_words(game, shape), np.uint64)
    view_all_kernel(game, shape)(states, weights, scratch, found, offsets, heuristic)
    kept = found[: offsets[n]].astype(row_type(shape))
    return Viewed(np.diff(offsets), heuristic, targets, kept)


# ---- the learner ----


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


# ---- a batch ----


@functools.cache
def add_kernel(shape: Shape) -> Any:
    """The kernel `add(features, heuristic, slope, weights, gradient, hidden)`: add a gradient.

    `slope` is the derivative of what is to become less by the sum before the `tanh`; `hidden` are
    the sums of the hidden units, as `forward_kernel` leaves them, and is overwritten.
    """
    width, bias, second, last = shape.width, shape.bias, shape.second, shape.last

    @kernel
    def add(features, heuristic, slope, weights, gradient, hidden):
        gradient[last] += slope
        gradient[last + 1] += slope * heuristic
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

    `learn(order, batch, rate, examples, learner)`: `order`, `(n,)` int64, are the positions of
    `Examples` in the order of learning, `batch` how many are in a batch, `rate` the learning rate.
    """
    forward, add, step = forward_kernel(shape), add_kernel(shape), adam_kernel(shape)

    @kernel
    def learn(order, batch, rate, examples, learner):
        learner, rows = borrow(learner), borrow(examples.features)
        offsets, heuristic, targets = examples.offsets, examples.heuristic, examples.targets
        weights, gradient, hidden = learner.weights, learner.gradient, learner.hidden
        error = 0.0
        for at in range(0, order.shape[0], batch):
            end, seen = min(at + batch, order.shape[0]), 0
            for k in range(at, end):
                i = order[k]
                features = rows[offsets[i] : offsets[i + 1]]
                seen = touch(features, learner.touched, learner.marks, seen)
                value = forward(features, features.shape[0], heuristic[i], weights, hidden)
                off = value - targets[i]
                add(
                    features,
                    heuristic[i],
                    off * (F32(1) - value * value),
                    weights,
                    gradient,
                    hidden,
                )
                error += off * off
            step(end - at, seen, rate, learner)
        return error / max(order.shape[0], 1)

    return learn


# ---- an average ----

WARMING = 10
"""Updates over which averaging begins: at first an average forgets faster."""


def update_average(
    average: np.ndarray, learner: Learner, shape: Shape, updates: int, most: float
) -> None:
    """Move an average of a learner's weights towards them, after an update.

    Rows that nothing has been learned from yet stay as they are.

    Args:
        average: the average, `(size,)` float32.
        learner: what learns.
        shape: the network's sizes.
        updates: how many updates there were, at least 1.
        most: how much of the average stays, 0 to 1; less at first, see `WARMING`.
    """
    kept = F32(min(most, updates / (updates + WARMING)))
    follow(kept, shape.rows, shape.width, learner.square, average, learner.weights)


@kernel
def mix(kept, average, weights):
    """Move an average towards weights; `kept` is how much of it stays."""
    for i in range(weights.shape[0]):
        average[i] = kept * average[i] + (F32(1) - kept) * weights[i]


@kernel
def follow(kept, rows, width, square, average, weights):
    """Move the average of all parameters, except rows in which `square` of `Learner` is zero."""
    for row in range(rows):
        first = row * width
        if square[first] != F32(0):
            mix(kept, average[first : first + width], weights[first : first + width])
    first = rows * width
    mix(kept, average[first:], weights[first:])
