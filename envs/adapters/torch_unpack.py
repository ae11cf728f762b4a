"""Packed words unpacked to planes and masks as torch tensors, on the device of the words."""

from __future__ import annotations

from typing import Any

from azumaya.envs.extras import require
from azumaya.envs.game import Game
from azumaya.envs.kernels.bits import word_count


def unpack_bits(words: Any, count: int) -> Any:
    """Bits as int8: a tensor `(..., W)` of 64-bit words to `(..., count)`."""
    torch = require("torch", "train")
    octets = words.contiguous().view(torch.uint8)
    places = torch.arange(8, dtype=torch.uint8, device=words.device)
    bits = (octets.unsqueeze(-1) >> places) & 1
    return bits.flatten(-2)[..., :count].to(torch.int8)


def unpack_planes(game: Game, words: Any) -> Any:
    """A packed observation, a tensor `(..., W)`, as planes `(..., C, rows, columns)` int8."""
    torch = require("torch", "train")
    lead, sets = words.shape[:-1], game.observation.cell_planes
    numbers = len(game.observation.planes) - sets
    bits = unpack_bits(words, sets * game.observation.cells).reshape(
        *lead, sets, *game.observation.shape
    )
    octets = words[..., word_count(sets * game.observation.cells) :].contiguous().view(torch.int8)
    values = octets[..., :numbers, None, None].expand(*lead, numbers, *game.observation.shape)
    return torch.cat([bits, values], dim=len(lead))
