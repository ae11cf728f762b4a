"""Action masks and observation planes as arrays, unpacked from words."""

from __future__ import annotations

import numpy as np

from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count


def unpack_bits(words: np.ndarray, count: int) -> np.ndarray:
    """Bits as int8: `(..., W)` uint64 to `(..., count)`.

    Entry `i` is bit `i % 64` of word `i // 64`.
    """
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=count, bitorder="little").view(np.int8)


def unpack_planes(game: Game, words: np.ndarray) -> np.ndarray:
    """A packed observation, `(..., W)` uint64, as planes `(..., C, rows, columns)` int8."""
    view, lead = game.observation, words.shape[:-1]
    sets, flags = view.cell_planes, view.cell_planes * view.cells
    planes = np.empty((*lead, len(view.planes), *view.shape), np.int8)
    planes[..., :sets, :, :] = unpack_bits(words, flags).reshape(*lead, sets, *view.shape)
    numbers = np.ascontiguousarray(words[..., word_count(flags) :]).view(np.int8)
    planes[..., sets:, :, :] = numbers[..., : len(view.planes) - sets, None, None]
    return planes


def legal_words(game: Game, state: object, num_actions: int) -> np.ndarray:
    """The action mask of the player to move as bits, `(W,)` uint64."""
    words = np.zeros(word_count(num_actions), np.uint64)
    game.rules.write_legal(state, words)
    return words


def legal_mask(game: Game, state: object, num_actions: int) -> np.ndarray:
    """The action mask of the player to move, `(num_actions,)` int8; 1 means legal."""
    return unpack_bits(legal_words(game, state, num_actions), num_actions)


def packed_observation(game: Game, state: object, player: int) -> np.ndarray:
    """A player's observation, packed, `(W,)` uint64."""
    words = np.zeros(game.observation.packed_words, np.uint64)
    game.rules.observe(state, player, words)
    return words


def planes_of(game: Game, state: object, player: int) -> np.ndarray:
    """A player's observation, `(C, rows, columns)` int8."""
    return unpack_planes(game, packed_observation(game, state, player))
