"""The network of houses, for a GPU: related cells exchange features as dense products.

Shapes: B games, N numbers, S cells of the board, C planes, A actions, W width, R relations.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import nn

from azumaya.baselines.agents.layers import Dense, linear, scale_of, typed
from azumaya.baselines.agents.plane_groups import CANDIDATE, GRIDS, laid_actions, numbered_planes
from azumaya.envs.game import Game


class Related(nn.Module):
    """A linear layer from features of each cell to such features, with shared weights.

    What a cell gives to another one depends only on how the two are related. The weights are spread
    to a matrix over all cells: a GPU multiplies by that faster than it adds up houses.

    Args:
        relations: for each relation the factors from each cell to each other, `(R, S, S)`.
        inputs: features of a cell that the layer gets.
        outputs: features of a cell that it returns.
    """

    relations: torch.Tensor

    def __init__(self, relations: torch.Tensor, inputs: int, outputs: int) -> None:
        super().__init__()
        self.register_buffer("relations", relations, persistent=False)
        count, self.cells, _ = relations.shape
        self.weight = nn.Parameter(torch.randn(count, outputs, inputs) / (count * inputs) ** 0.5)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From `(..., inputs * S)` to `(..., outputs * S)`."""
        found = self.product(x)
        return found + self.constant(found)

    def product(self, x: torch.Tensor) -> torch.Tensor:
        """The same without a bias."""
        _, outputs, inputs = self.weight.shape
        spread = torch.einsum("roi,rst->osit", self.weight, self.relations)
        weight = spread.reshape(outputs * self.cells, inputs * self.cells)
        return linear(x, weight, None)

    def constant(self, like: torch.Tensor) -> torch.Tensor:
        """The bias, `(outputs * S,)`, in the type of another tensor."""
        return on_cells(self.bias.to(like.dtype), self.cells)


def on_cells(x: torch.Tensor, cells: int) -> torch.Tensor:
    """Features `(..., W)` for each cell, `(..., W * S)`."""
    return x[..., None].expand(*x.shape, cells).flatten(-2)


def relations_of(game: Game) -> torch.Tensor:
    """How cells of a game's board are related, as factors `(R, S, S)`.

    A cell is related to itself, to the cells of its row, column and block, to those next to it, to
    those diagonally next to it, and to all. The factor is 1 for itself, a fourth for those next to
    it, also diagonally, and one over the length of a row for the others.
    """
    rows, columns = game.observation.shape
    place = torch.arange(rows * columns)
    row, column = place // columns, place % columns
    down, across = ((each[:, None] - each).abs() for each in (row, column))
    related = [
        (down + across) == 0,
        down == 0,
        across == 0,
        (down + across) == 1,
        (down == 1) & (across == 1),
        down >= 0,
    ]
    if rows in GRIDS:
        block = torch.tensor(GRIDS[rows].block_of)
        related.insert(3, block[:, None] == block)
    found = torch.stack(related).float()
    return found / found.sum(2, keepdim=True).amax(1, keepdim=True).clamp(max=columns)


class HouseNet(nn.Module):
    """Logits and value by features of each number on each cell, that related cells exchange.

    All numbers have the same weights, and all pairs of cells that are related in the same way, see
    `relations_of`. In each layer a number on a cell is told of the features of that number on
    related cells, and of the mean over all numbers. Only candidates have features, if the game has
    them: what is summed is then about numbers that still fit.

    Args:
        game: a game with planes of numbers.
        num_actions: the number of its actions.
        width: the number of features of each number on each cell.
        depth: the number of layers after the first.

    Raises:
        ValueError: the game has no planes of numbers.
    """

    own: torch.Tensor
    single: torch.Tensor
    shared: torch.Tensor
    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        groups = numbered_planes(game)
        planes, cells = game.observation.planes, game.observation.cells
        own = torch.tensor(groups.numbered).T
        stocks = [plane for kind in groups.counted for plane in kind]
        single = [*stocks, *(i for i in groups.shared if planes[i].kind != "cells")]
        shared = [i for i in groups.shared if planes[i].kind == "cells"]
        for name, tensor in {
            "own": own.contiguous(),
            "single": torch.tensor(single, dtype=torch.int64),
            "shared": torch.tensor(shared, dtype=torch.int64),
            "scale": scale_of(game)[single, 0, 0],
        }.items():
            self.register_buffer(name, tensor, persistent=False)
        self.candidates = planes[groups.numbered[0][0]].group == CANDIDATE
        self.cells, self.width, (numbers, kinds) = cells, width, own.shape
        relations = relations_of(game)
        self.first: Related = Related(relations, kinds, width)
        self.told = Related(relations, kinds + len(shared), width)
        self.known = Dense(len(single), (numbers + 1) * width)
        self.each = nn.ModuleList(Related(relations, width, width) for _ in range(depth))
        self.all = nn.ModuleList(Related(relations, width, width) for _ in range(depth))
        laid = laid_actions(game, num_actions)
        self.logit = Related(relations, width, 1) if laid else None
        self.more = Dense(width * cells, num_actions - laid) if num_actions > laid else None
        self.value = nn.Sequential(Dense(width * cells, 64), nn.ReLU(), Dense(64, 1))
        for head in (self.logit, self.more):
            if head is not None:  # at first all actions are almost alike
                nn.init.normal_(head.get_parameter("weight"), std=0.01)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        planes = typed(planes, self.scale).flatten(2)
        own = planes[:, self.own]
        fits = own[:, :, 0].repeat(1, 1, self.width) if self.candidates else None
        known = self.known(planes[:, :, 0][:, self.single] * self.scale)
        known = on_cells(known.unflatten(1, (-1, self.width)), self.cells)
        told = self.told(torch.cat((own.mean(1), planes[:, self.shared]), 1).flatten(1))
        told = told + known[:, 0] + self.first.constant(told)
        x = self.first.product(own.flatten(2)) + known[:, 1:]
        x = _fitting(x + _to_all(told, x), fits)
        for each, all_ in zip(self.each, self.all, strict=True):
            assert isinstance(each, Related)
            told = all_(_mean(x))
            told = told + each.constant(told)
            x = x + _fitting(each.product(x) + _to_all(told, x), fits)
        pooled = _mean(x)
        parts = [] if self.logit is None else [self.logit(x).flatten(1)]
        if self.more is not None:
            parts.append(self.more(pooled))
        return torch.cat(parts, 1), self.value(pooled).squeeze(1)


class _Mean(torch.autograd.Function):
    """The mean over numbers, added up one by one.

    torch compiles that into a kernel that is three times as fast as that of its own mean over so
    few.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.count = x.shape[1]
        return _added(x) / ctx.count

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return (grad / ctx.count)[:, None].expand(-1, ctx.count, -1)


class _ToAll(torch.autograd.Function):
    """The same for all numbers; its gradient is added up one by one, as in `_Mean`."""

    @staticmethod
    def forward(ctx: Any, told: torch.Tensor, numbers: int) -> torch.Tensor:
        return told[:, None].expand(-1, numbers, -1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _added(grad), None


def _added(x: torch.Tensor) -> torch.Tensor:
    return functools.reduce(torch.add, x.unbind(1))


def _mean(x: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = _Mean.apply(x)  # type: ignore[no-untyped-call]
    return found


def _to_all(told: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = _ToAll.apply(told, x.shape[1])  # type: ignore[no-untyped-call]
    return found


def _fitting(x: torch.Tensor, fits: torch.Tensor | None) -> torch.Tensor:
    """What is positive, where there are candidates if `fits` shows them."""
    return torch.relu(x) if fits is None else torch.relu(x) * fits
