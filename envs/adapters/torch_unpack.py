"""Packed words unpacked to planes and masks as torch tensors, on the device of the words."""

from __future__ import annotations

from typing import Any

from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count


def unpack_bits(words: Any, count: int) -> Any:
    """Bits as int8: a tensor `(..., W)` of 64-bit words to `(..., count)`."""
    torch = require("torch", "train")
    octets = _octets(words, torch.uint8)
    places = torch.arange(8, dtype=torch.uint8, device=words.device)
    bits = (octets.unsqueeze(-1) >> places) & 1
    return bits.flatten(-2)[..., :count].to(torch.int8)


def _octets(words: Any, kind: Any) -> Any:
    """The bytes of words, `(..., W)`, as `(..., 8 * W)` of a type of one byte."""
    # flat, because torch calls a column of one word contiguous whatever its stride is
    return words.contiguous().view(-1).view(kind).view(*words.shape[:-1], 8 * words.shape[-1])


def unpack_planes(game: Game, words: Any) -> Any:
    """A packed observation, a tensor `(..., W)`, as planes `(..., C, rows, columns)` int8."""
    torch = require("torch", "train")
    lead, sets = words.shape[:-1], game.observation.cell_planes
    numbers = len(game.observation.planes) - sets
    bits = unpack_bits(words, sets * game.observation.cells).reshape(
        *lead, sets, *game.observation.shape
    )
    octets = _octets(words[..., word_count(sets * game.observation.cells) :], torch.int8)
    values = octets[..., :numbers, None, None].expand(*lead, numbers, *game.observation.shape)
    return torch.cat([bits, values], dim=len(lead))
