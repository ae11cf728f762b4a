"""The network: rows of features, one hidden layer, a value.

`x = rows[features].sum() + bias`, `value = tanh(weights · relu(x) + bias + share * heuristic)`,
where `relu` is leaky, with a slope of a tenth for negative values, and `heuristic` is the game's
own evaluation, scaled. At the start `rows` are small and the network plays like the greedy agent;
learning adds what that agent does not see. The value is that of the player to move, as a fraction
of the largest payoff.

All parameters are in one array, `(n,)` float32, so that a search takes them as one argument.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from azumaya.baselines.values.board_features import board_features
from azumaya.baselines.values.features import Features, plain_features
from azumaya.baselines.values.house_features import house_features, suits
from azumaya.baselines.values.open_features import open_features, suits_open
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ZERO
from azumaya.envs.kernels.borrow import borrow
from azumaya.envs.kernels.compile import kernel
from azumaya.envs.kernels.lanes import add_rows

F32 = np.float32
LEAK = F32(0.1)
"""The slope for negative sums."""


@dataclass(frozen=True)
class Shape:
    """Where the parameters of a network are in their array.

    Attributes:
        rows: the rows of the first layer.
        width: the hidden units.
        plain: whether the rows are those of plain features.
    """

    rows: int
    width: int
    plain: bool = False

    @property
    def bias(self) -> int:
        """The index of the first bias of the hidden layer."""
        return self.rows * self.width

    @property
    def second(self) -> int:
        """The index of the first weight of the second layer."""
        return self.bias + self.width

    @property
    def last(self) -> int:
        """The index of the value's bias; the share of the evaluation follows."""
        return self.second + self.width

    @property
    def learned(self) -> int:
        """The number of parameters that learning changes; two constants follow."""
        return self.last + 2

    @property
    def scale(self) -> int:
        """The index of the scale: what the game's evaluation is divided by."""
        return self.learned

    @property
    def bound(self) -> int:
        """The index of the bound: the payoff that the value 1 stands for."""
        return self.learned + 1

    @property
    def size(self) -> int:
        """The length of the array."""
        return self.learned + 2

    def first_layer(self, weights: np.ndarray) -> np.ndarray:
        """The rows of the first layer in such an array, `(rows, width)`, as a view."""
        return weights[: self.bias].reshape(self.rows, self.width)


def first_weights(shape: Shape, seed: int, scale: float, bound: float) -> np.ndarray:
    """The parameters before learning, `(size,)` float32.

    The weights are small and random. The game's evaluation has a share of 1.

    Args:
        shape: the network's sizes.
        seed: the seed of the random weights.
        scale: what the game's evaluation is divided by.
        bound: the payoff that the value 1 stands for.
    """
    draws = np.random.default_rng(seed)
    weights = np.zeros(shape.size, np.float32)
    weights[: shape.bias] = draws.standard_normal(shape.bias) * 0.05
    weights[shape.second : shape.last] = draws.standard_normal(shape.width) * 0.1
    weights[shape.last + 1 :] = 1.0, scale, bound
    return weights


@functools.cache
def features_of(game: Game, plain: bool = False) -> Features:
    """The features of a game, or those without shared rows."""
    if plain:
        return plain_features(game)
    if suits(game):
        return house_features(game)
    return open_features(game) if suits_open(game) else board_features(game)


def scratch_words(game: Game, shape: Shape) -> int:
    """The length of the `scratch` that the kernels of a network need.

    Allocate it as zeros, and give it to the kernels of one network only: it holds their memo.
    """
    features = features_of(game, shape.plain)
    return features.row_words + features.memo_words + (features.room + shape.width + 1) // 2


@functools.cache
def forward_kernel(shape: Shape) -> Any:
    """The kernel `forward(features, count, heuristic, weights, hidden)`: a value from -1 to 1.

    `features` are row numbers, of which the first `count` apply; `heuristic` is the game's own
    evaluation, scaled; `weights` is `(size,)` float32. The sums of the hidden units are left in
    `hidden`, `(width,)` float32.
    """
    width, bias, second, last = shape.width, shape.bias, shape.second, shape.last

    @kernel
    def forward(features, count, heuristic, weights, hidden):
        for j in range(width):
            hidden[j] = weights[bias + j]
        add_rows(hidden, weights, features, count, width)
        total = weights[last] + weights[last + 1] * heuristic
        for j in range(width):
            x = hidden[j]
            total += weights[second + j] * (x if x > F32(0) else LEAK * x)
        return np.tanh(total)

    return forward


@functools.cache
def view_kernel(game: Game, shape: Shape) -> Any:
    """The kernel `view(state, weights, scratch, found)`: what `forward` needs for a position.

    It writes the features from the view of the player to move to `found`, `(room,)` int32, and
    returns how many there are and the `heuristic` for `forward`. `scratch` is an array of
    `scratch_words(game, shape)` uint64.
    """
    features = features_of(game, shape.plain)
    write, observe, evaluate = features.write, game.rules.observe, game.rules.evaluate
    words, scale = features.row_words, shape.scale
    behind, seen = words + features.memo_words, words - 1 - features.added_words
    add = features.add

    @kernel
    def view(state, weights, scratch, found):
        weights, scratch, found = borrow(weights), borrow(scratch), borrow(found)
        for w in range(words):
            scratch[w] = ZERO
        mover = state.to_move
        observe(state, mover, scratch[:seen])
        if add is not None:
            add(state, mover, scratch[seen + 1 : words])
        heuristic = F32(evaluate(state, mover)) / weights[scale]
        return write(scratch[:words], scratch[words:behind], mover, found), heuristic

    return view


@functools.cache
def value_kernel(game: Game, shape: Shape) -> Any:
    """The kernel `value(state, weights, scratch)`: the expected final payoff of player_0.

    The position must be running. `scratch` is as for `view_kernel`.
    """
    view, forward = view_kernel(game, shape), forward_kernel(shape)
    features = features_of(game, shape.plain)
    first = 2 * (features.row_words + features.memo_words)
    behind, bound = first + features.room, shape.bound

    @kernel
    def value(state, weights, scratch):
        weights, scratch = borrow(weights), borrow(scratch)
        found = scratch.view(np.int32)[first:behind]
        hidden = scratch.view(np.float32)[behind:]
        count, heuristic = view(state, weights, scratch, found)
        part = forward(found, count, heuristic, weights, hidden)
        return (part if state.to_move == 0 else -part) * weights[bound]

    return value
