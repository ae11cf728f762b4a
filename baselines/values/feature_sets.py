"""Which features a game has."""

from __future__ import annotations

import functools

from azumaya.baselines.values.board_features import board_features
from azumaya.baselines.values.features import Features, plain_features
from azumaya.baselines.values.house_features import house_features, suits
from azumaya.baselines.values.open_features import open_features, suits_open
from azumaya.envs.game import Game


@functools.cache
def features_of(game: Game, plain: bool = False) -> Features:
    """The features of a game, or those without shared rows."""
    if plain:
        return plain_features(game)
    if suits(game):
        return house_features(game)
    return open_features(game) if suits_open(game) else board_features(game)
