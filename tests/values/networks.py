"""Positions, features and networks for the tests of values."""

from __future__ import annotations

from collections import Counter

import numpy as np

from azumaya.baselines.agents import RandomAgent
from azumaya.baselines.values.network import Shape, features_of, first_weights, scratch_words
from azumaya.envs import Position
from azumaya.envs.game import Game


def positions_of(game: Game, seeds: int = 4, every: int = 5, **options: object) -> list[Position]:
    """Running positions from random games."""
    agent, found = RandomAgent(), []
    for seed in range(seeds):
        position, ply = Position(game, seed=seed, **options), 0
        while not position.is_over:
            if ply % every == seed % every:
                found.append(position.copy())
            position.play(agent.act([position], [1000 * seed + ply])[0])
            ply += 1
    return found


def observation_row(position: Position, player: int) -> np.ndarray:
    """A packed observation, with all behind it that features read."""
    game, state = position.game, position.state[0]
    features, words = features_of(game), game.observation.packed_words
    row = np.zeros(features.row_words, np.uint64)
    game.rules.observe(state, player, row[:words])
    if features.add is not None:
        features.add(state, player, row[words + 1 :])
    return row


memos: dict[str, np.ndarray] = {}
"""What features keep from call to call: one for each game in all tests, as in a search."""


def features_for(position: Position, player: int | None = None) -> Counter[int]:
    """The features of a position by row; by default for the player to move."""
    features = features_of(position.game)
    player = int(position.to_move) if player is None else player
    out = np.full(features.room, -1, np.int32)
    memo = memos.setdefault(position.game.name, np.zeros(features.memo_words, np.uint64))
    count = int(features.write(observation_row(position, player), memo, player, out))
    assert 0 < count <= features.most
    assert ((out[:count] >= 0) & (out[:count] < features.rows)).all()
    return Counter(out[:count].tolist())


def network_of(game: Game, width: int = 4, seed: int = 3) -> tuple[Shape, np.ndarray, np.ndarray]:
    """A network with random weights: its sizes, weights and scratch space."""
    shape = Shape(features_of(game).rows, width)
    weights = first_weights(shape, seed, scale=5.0, bound=1.0)
    weights[: shape.bias] *= 5
    weights[shape.bias : shape.second] = np.linspace(-0.3, 0.4, width)
    return shape, weights, np.zeros(scratch_words(game, shape), np.uint64)
