"""Packed words unpacked to planes and masks as torch tensors, on the device of the words."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count
from azumaya.envs.observation import unpack_bits as unpack_array
from azumaya.envs.observation import unpack_planes as unpack_arrays


def unpack(game: Game, words: Any, masks: Any, num_actions: int) -> dict[str, Any]:
    """Packed observations and masks, tensors, as in `AzumayaVectorEnv.unpack`."""
    if words.device.type == "cpu":  # NumPy takes a third of the time of torch
        torch = require("torch", "train")
        observation = unpack_arrays(game, words.numpy())
        mask = unpack_array(masks.numpy(), num_actions)
        found = torch.from_numpy(observation), torch.from_numpy(mask)
    else:
        found = unpack_planes(game, words), unpack_bits(masks, num_actions)
    return dict(zip(("observation", "action_mask"), found, strict=True))


@functools.cache
def _spread(device: Any) -> Any:
    """For each byte its bits as eight bytes, taken together as one word, `(256,)` int64."""
    octets = np.arange(256, dtype=np.uint8)[:, None]
    spread = np.unpackbits(octets, axis=1, bitorder="little").view(np.int64)[:, 0]
    return require("torch", "train").from_numpy(spread.copy()).to(device)


def unpack_bits(words: Any, count: int) -> Any:
    """Bits as int8: a tensor `(..., W)` of 64-bit words to `(..., count)`."""
    torch = require("torch", "train")
    octets = _octets(words, torch.uint8)
    # one word of a table for each byte: with shifts it takes six times as long on a CPU
    return torch.take(_spread(words.device), octets.long()).view(torch.int8)[..., :count]


def _octets(words: Any, kind: Any) -> Any:
    """The bytes of words, `(..., W)`, as `(..., 8 * W)` of a type of one byte."""
    # flat, because torch calls a column of one word contiguous whatever its stride is
    return words.contiguous().view(-1).view(kind).view(*words.shape[:-1], 8 * words.shape[-1])


def unpack_planes(game: Game, words: Any) -> Any:
    """A packed observation, a tensor `(..., W)`, as planes `(..., C, rows, columns)` int8."""
    torch = require("torch", "train")
    lead, sets, cells = words.shape[:-1], game.observation.cell_planes, game.observation.cells
    count, flags = len(game.observation.planes), sets * cells
    planes = torch.empty(*lead, count * cells, dtype=torch.int8, device=words.device)
    planes[..., :flags] = unpack_bits(words, flags)
    numbers = _octets(words[..., word_count(flags) :], torch.int8)[..., : count - sets, None]
    planes[..., flags:] = numbers.expand(*lead, count - sets, cells).flatten(-2)
    return planes.view(*lead, count, *game.observation.shape)
