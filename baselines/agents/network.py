"""Policy and value networks for the games, built from the table of observation planes.

Shapes: B games, N numbers, S cells of the board, C planes, A actions, W width.

Two kinds of network are here. `NumberNet` is for games in which numbers are laid on cells: it
treats all numbers alike and all cells alike but for what lies in their houses, so that what it
learns about a 3 on b5 holds for a 7 on h2. `PlainNet` is a multilayer perceptron for the others.
Both give `logits` for every action and a `value`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from azumaya.envs.game import Game

NUMBERED = re.compile(r"^(.*\D) ?([1-9])$")
BLOCKS = {9: 3, 6: 2}


@dataclass(frozen=True)
class PlaneGroups:
    """Which planes belong to single numbers, and which to the board as a whole.

    Attributes:
        numbered: by kind of plane, the index of its plane for each number, `(K, N)`.
        shared: the indices of the other planes.
    """

    numbered: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]


def group_planes(game: Game) -> PlaneGroups:
    """Sort a game's planes by their names: `candidate 1` to `candidate 9` are one kind."""
    kinds: dict[str, list[int]] = {}
    for index, plane in enumerate(game.planes):
        match = NUMBERED.match(plane.name)
        if match and plane.kind == "cells" and not plane.name.startswith("region"):
            kinds.setdefault(match.group(1), []).append(index)
    most = max(map(len, kinds.values()), default=0)
    numbered = tuple(tuple(planes) for planes in kinds.values() if len(planes) == most > 1)
    used = {index for planes in numbered for index in planes}
    return PlaneGroups(numbered, tuple(i for i in range(len(game.planes)) if i not in used))


class HouseLayer(nn.Module):
    """One exchange of features within numbers, cells and houses: `(B, N, R, R, W)` to the same.

    What a cell hears of its row, column and block is the mean there; the means are taken before
    they are transformed, so that a layer costs little more than one product per cell.
    """

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.size, self.block = size, BLOCKS[size]
        self.here = nn.Linear(width, width)
        self.row, self.column, self.square, self.across, self.around = (
            nn.Linear(width, width, bias=False) for _ in range(5)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Exchange features."""
        batch, numbers, size, _, width = x.shape
        rows, columns, across = x.mean(3), x.mean(2), x.mean(1)
        tiles = size // self.block
        squares = x.view(batch, numbers, tiles, self.block, tiles, self.block, width).mean((3, 5))
        square = self.square(squares)[:, :, :, None, :, None]
        square = square.expand(-1, -1, -1, self.block, -1, self.block, -1).reshape(x.shape)
        around = self.around(across.mean((1, 2)))[:, None, None]
        near = self.row(rows)[:, :, :, None] + self.column(columns)[:, :, None]
        return torch.relu(self.here(x) + near + square + (self.across(across) + around)[:, None])


class NumberNet(nn.Module):
    """Logits and value for games in which numbers are laid on cells.

    Args:
        game: the game.
        num_actions: how many actions there are; those beyond the numbers on cells are read from
            the pooled features.
        width: features of each number on each cell.
        depth: exchanges within houses.
    """

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        groups = group_planes(game)
        self.register_buffer("numbered", torch.tensor(groups.numbered), persistent=False)
        self.register_buffer("shared", torch.tensor(groups.shared), persistent=False)
        scale = torch.tensor([1.0 / plane.high for plane in game.planes])
        self.register_buffer("scale", scale[:, None, None], persistent=False)
        self.on_number = nn.Linear(len(groups.numbered), width)
        self.on_cell = nn.Linear(len(groups.shared), width, bias=False)
        self.layers = nn.ModuleList(HouseLayer(width, game.shape[0]) for _ in range(depth))
        self.logit = nn.Linear(width, 1)
        more = num_actions - len(groups.numbered[0]) * game.cells
        self.more = nn.Linear(width, more) if more > 0 else None
        self.value = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        flat = planes.float() * self.scale
        own = flat[:, self.numbered].permute(0, 2, 3, 4, 1)
        shared = flat[:, self.shared].permute(0, 2, 3, 1)
        x = torch.relu(self.on_number(own) + self.on_cell(shared)[:, None])
        for layer in self.layers:
            x = layer(x)
        pooled = x.mean((1, 2, 3))
        logits = self.logit(x).flatten(1)
        if self.more is not None:
            logits = torch.cat((logits, self.more(pooled)), dim=1)
        return logits, self.value(pooled).squeeze(1)


class PlainNet(nn.Module):
    """Logits and value by a multilayer perceptron over all planes."""

    def __init__(self, game: Game, num_actions: int, width: int = 256, depth: int = 2) -> None:
        super().__init__()
        scale = torch.tensor([1.0 / plane.high for plane in game.planes])
        self.register_buffer("scale", scale[:, None, None], persistent=False)
        sizes = [len(game.planes) * game.cells, *[width] * depth]
        layers: list[nn.Module] = []
        for inputs, outputs in zip(sizes, sizes[1:], strict=False):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.logit, self.value = nn.Linear(width, num_actions), nn.Linear(width, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = self.body((planes.float() * self.scale).flatten(1))
        return self.logit(x), self.value(x).squeeze(1)


NETWORKS: dict[str, Any] = {"numbers": NumberNet, "plain": PlainNet}


def default_network(game: Game) -> str:
    """The network that fits a game."""
    return "numbers" if group_planes(game).numbered else "plain"
