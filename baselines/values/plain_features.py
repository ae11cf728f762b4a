"""Features that know nothing of a game: each bit of the packed observation has a row.

They are there for comparison: with them every number and every cell has to be learned on its own.
"""

from __future__ import annotations

from azumaya.baselines.values.features import Features
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import ONE, ZERO, lowest
from azumaya.envs.kernels.compile import kernel


def plain_features(game: Game) -> Features:
    """The features of any game, without shared rows."""
    words = game.observation.packed_words
    bits = 64 * words
    return Features("plain 1", bits, bits, bits, words + 1, _kernel(words))


def _kernel(words):  # type: ignore[no-untyped-def]
    """The kernel of the features, for observations of this many words."""

    @kernel
    def write(row, memo, player, features):
        count = 0
        for w in range(words):
            left = row[w]
            while left != ZERO:
                features[count] = 64 * w + lowest(left)
                count += 1
                left &= left - ONE
        return count

    return write
