"""Policy and value networks for the games, built from the table of observation planes.

Shapes: B games, N numbers, S cells of the board, C planes, A actions, W width.

There are three kinds of network. `NumberNet` is for games in which numbers are placed on cells and
only houses matter: it treats all numbers alike, and all cells alike except for what their houses
contain, so that what it learns about a 3 on b5 applies to a 7 on h2. `BoardNet` is convolutional,
for games in which adjacent cells matter. `PlainNet` is a multilayer perceptron that knows nothing
about boards. All return `logits` for every action and a `value`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from azumaya.envs.game import Game
from azumaya.envs.symmetries import Axis

BLOCKS = {9: 3, 6: 2}
MOST_ACTIONS, MOST_WIDTH, MOST_DEPTH = 1 << 16, 1 << 13, 256
"""The largest sizes with which a network is built."""
MOST_PARAMETERS = 1 << 28
"""The most parameters of a network; they take 1 GiB."""


@dataclass(frozen=True)
class PlaneGroups:
    """Which planes belong to single numbers, and which to the whole board.

    Attributes:
        numbered: for each kind of plane, the index of its plane for each number, `(K, N)`.
        shared: the indices of the other planes.
    """

    numbered: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]


def group_planes(game: Game) -> PlaneGroups:
    """Group a game's planes by kind; for example, the candidates of all numbers are one kind."""
    kinds: dict[str, list[int]] = {}
    for index, plane in enumerate(game.observation.planes):
        if plane.kind == "cells" and plane.index is not None and plane.index[0] is Axis.NUMBER:
            kinds.setdefault(plane.group, []).append(index)
    most = max(map(len, kinds.values()), default=0)
    numbered = tuple(tuple(planes) for planes in kinds.values() if len(planes) == most > 1)
    used = {index for planes in numbered for index in planes}
    return PlaneGroups(
        numbered, tuple(i for i in range(len(game.observation.planes)) if i not in used)
    )


def scale_of(game: Game) -> torch.Tensor:
    """The factors that scale each plane's values to the range 0 to 1, `(C, 1, 1)`."""
    return torch.tensor([1.0 / plane.high for plane in game.observation.planes])[:, None, None]


class Fields(nn.Module):
    """Features of each cell for each number: `(C, B, S)` to `(F, B, N, S)`.

    There are three kinds: the planes of each number; the planes of the first kind (in our games the
    candidates) restricted to each of the first two sets of cells that all numbers share; and the
    same, but only on cells with a single number left. (Placing that number in a house of such a
    cell makes the cell dead.) Nothing here is learned.
    """

    numbered: torch.Tensor
    sets: torch.Tensor

    def __init__(self, game: Game, groups: PlaneGroups) -> None:
        super().__init__()
        sets = [i for i in groups.shared if game.observation.planes[i].kind == "cells"]
        self.register_buffer("numbered", torch.tensor(groups.numbered), persistent=False)
        self.register_buffer("sets", torch.tensor(sets[:2], dtype=torch.long), persistent=False)
        self.count = len(groups.numbered) + 2 * len(sets[:2])

    @torch.no_grad()
    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """The fields."""
        numbered = planes[self.numbered].transpose(1, 2)
        first = numbered[0]
        single = first * (first.sum(1, keepdim=True) == 1)
        sets = planes[self.sets, :, None]
        return torch.cat((numbered, sets * first, sets * single))


def house_means(size: int) -> torch.Tensor:
    """The matrix that takes cells to the means of their rows, columns and blocks, `(S, 3 R)`."""
    cells, block = torch.arange(size * size), BLOCKS[size]
    rows, columns = cells // size, cells % size
    blocks = rows // block * (size // block) + columns // block
    houses = torch.stack((rows, columns, blocks), 1)[:, :, None] == torch.arange(size)
    return houses.flatten(1).float() / size


class HouseLayer(nn.Module):
    """Mixes features within numbers, cells and houses: `(F, B, N, S)` to `(W, B, N, S)`.

    A cell receives the means over its row, column and block. The means are taken before they are
    transformed, so a layer costs little more than one matrix product per cell. Taking the means and
    giving them to the cells are products with a constant matrix, several times as fast as sums over
    short dimensions; and since features come first, no product needs a copy.
    """

    means: torch.Tensor
    spread: torch.Tensor

    def __init__(self, inputs: int, width: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.here = nn.Linear(inputs, width)
        self.row, self.column, self.square, self.across, self.number = (
            nn.Linear(inputs, width, bias=False) for _ in range(5)
        )
        means = house_means(size)
        self.register_buffer("means", means, persistent=False)
        self.register_buffer("spread", (means.T * size).contiguous(), persistent=False)

    def forward(self, x: torch.Tensor, cells: torch.Tensor | None = None) -> torch.Tensor:
        """The mixed features, before any nonlinearity.

        Args:
            x: the features.
            cells: what to add to each cell whatever its number, `(W, B, S)`.
        """
        numbers, size = x.shape[2], self.size
        rows, columns, squares = (x @ self.means).chunk(3, 3)
        number = _mix(self.number, rows.sum(3, keepdim=True))
        near = _mix(self.row, rows) + number, _mix(self.column, columns)
        houses = torch.cat((*near, _mix(self.square, squares)), dim=3)
        here = _mix(self.here, x)
        mixed = torch.addmm(here.view(-1, size**2), houses.view(-1, 3 * size), self.spread)
        across = _mix(self.across, x.sum(2) / numbers) + self.here.bias[:, None, None]
        if cells is not None:
            across = across + cells
        return mixed.view(here.shape) + across[:, :, None]


def _mix(linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """A linear map of features, the first dimension of `x`, without its bias."""
    return (linear.weight @ x.flatten(1)).view(-1, *x.shape[1:])


class NumberNet(nn.Module):
    """Logits and value for games in which numbers are placed on cells.

    Args:
        game: the game.
        num_actions: the number of actions; those that are not a number on a cell get their logits
            from the pooled features.
        width: the number of features of each number on each cell.
        depth: the number of `HouseLayer`s.
    """

    shared: torch.Tensor
    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 1) -> None:
        super().__init__()
        groups = group_planes(game)
        size = game.observation.shape[0]
        self.register_buffer("shared", torch.tensor(groups.shared), persistent=False)
        self.register_buffer("scale", scale_of(game), persistent=False)
        self.fields = Fields(game, groups)
        self.on_cell = nn.Linear(len(groups.shared), width, bias=False)
        widths = [self.fields.count, *[width] * depth]
        self.layers = nn.ModuleList(HouseLayer(a, b, size) for a, b in itertools.pairwise(widths))
        self.logit = nn.Linear(width, 1)
        more = num_actions - len(groups.numbered[0]) * game.observation.cells
        pooled = width + self.fields.count
        self.more = nn.Linear(pooled, more) if more > 0 else None
        self.value = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        flat = planes.flatten(2).transpose(0, 1).float() * self.scale
        fields = x = self.fields(flat)
        cells = _mix(self.on_cell, flat[self.shared])
        for i, layer in enumerate(self.layers):
            x = torch.relu_(layer(x, None if i else cells))
        fields_on, means = fields.sum((2, 3)) / fields.shape[3], x.sum((2, 3)) / x[0, 0].numel()
        pooled = torch.cat((means, fields_on)).T
        logits = (_mix(self.logit, x) + self.logit.bias).flatten(2)[0]
        if self.more is not None:
            logits = torch.cat((logits, self.more(pooled)), dim=1)
        return logits, self.value(pooled).squeeze(1)


class BoardNet(nn.Module):
    """Logits and value by 3x3 convolutions, for games in which adjacent cells matter.

    The logit of a piece on a cell comes from that cell, the logit of a move from the cells it
    leaves and enters, and the logits of other actions from all cells.

    Args:
        game: the game.
        num_actions: the number of actions.
        width: the number of channels.
        depth: the number of layers; each has a convolution and features pooled over the board.
    """

    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        self.register_buffer("scale", scale_of(game), persistent=False)
        widths = [len(game.observation.planes), *[width] * depth]
        pairs = list(itertools.pairwise(widths))
        self.near = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairs)
        self.far = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        head = MoveHead if game.symmetries.moves else CellHead
        self.logits = head(game, num_actions, width)
        self.value = nn.Sequential(
            nn.Linear(width * game.observation.cells, 64), nn.ReLU(), nn.Linear(64, 1)
        )

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = planes.float() * self.scale
        for i, (near, far) in enumerate(zip(self.near, self.far, strict=True)):
            y = torch.relu(near(x) + far(x.mean((2, 3)))[:, :, None, None])
            x = x + y if i else y
        return self.logits(x), self.value(x.flatten(1)).squeeze(1)


class CellHead(nn.Module):
    """Logits of placing each piece on each cell, and of the other actions.

    A game with fewer actions than cells has no pieces to place.
    """

    def __init__(self, game: Game, num_actions: int, width: int) -> None:
        super().__init__()
        pieces, more = divmod(num_actions, game.observation.cells)
        self.pieces = nn.Conv2d(width, pieces, 1) if pieces else None
        self.more = nn.Linear(width * game.observation.cells, more) if more else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From features `(B, W, rows, columns)` to logits `(B, A)`."""
        parts = [] if self.pieces is None else [self.pieces(x).flatten(1)]
        if self.more is not None:
            parts.append(self.more(x.flatten(1)))
        return torch.cat(parts, 1)


class MoveHead(nn.Module):
    """The logit of a move: the sum of the scores of the cells that it leaves and enters."""

    cells: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int) -> None:
        super().__init__()
        cells = torch.zeros(2, game.observation.cells, num_actions)
        assert game.symmetries.moves is not None
        for action in range(num_actions):
            for which, own in enumerate(game.symmetries.moves(action)):
                cells[which, list(own), action] = 1.0
        self.register_buffer("cells", cells.flatten(0, 1), persistent=False)
        self.worth = nn.Conv2d(width, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From features `(B, W, rows, columns)` to logits `(B, A)`."""
        logits: torch.Tensor = self.worth(x).flatten(1) @ self.cells
        return logits


class PlainNet(nn.Module):
    """Logits and value by a multilayer perceptron over all planes."""

    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 256, depth: int = 2) -> None:
        super().__init__()
        self.register_buffer("scale", scale_of(game), persistent=False)
        sizes = [len(game.observation.planes) * game.observation.cells, *[width] * depth]
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(sizes):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.logit, self.value = nn.Linear(width, num_actions), nn.Linear(width, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = self.body((planes.float() * self.scale).flatten(1))
        return self.logit(x), self.value(x).squeeze(1)


NETWORKS: dict[str, Any] = {"numbers": NumberNet, "board": BoardNet, "plain": PlainNet}


class OversizeError(ValueError):
    """A network is too large to be built."""


def check_size(network: str, game: Game, num_actions: int, sizes: Mapping[str, int]) -> None:
    """Check that a network can be built, before any memory is allocated for it.

    Args:
        network: a key of `NETWORKS`.
        game: the game.
        num_actions: the number of actions.
        sizes: `width` and `depth`.

    Raises:
        OversizeError: a size is above its limit, or there would be too many parameters.
        IndexError, RuntimeError, TypeError, ValueError: the network does not allow these sizes.
    """
    limits = {"num_actions": MOST_ACTIONS, "width": MOST_WIDTH, "depth": MOST_DEPTH}
    for name, number in {"num_actions": num_actions, **sizes}.items():
        if name in limits and number > limits[name]:
            raise OversizeError(
                f"a network with {name} {number} is too large; the most is {limits[name]:,}"
            )
    with torch.device("meta"):  # shapes without memory
        parts = NETWORKS[network](game, num_actions, **sizes)
    parameters = sum(part.numel() for part in parts.parameters())
    if parameters > MOST_PARAMETERS:
        said = ", ".join(f"{name} {number}" for name, number in sizes.items())
        raise OversizeError(
            f"the network {network!r} with {said} is too large: it has {parameters:,} parameters; "
            f"the most is {MOST_PARAMETERS:,}"
        )


def takes_numbers(game: Game) -> bool:
    """Whether every number on every cell is an action, which `NumberNet` needs."""
    numbered = group_planes(game).numbered
    numbers = len(numbered[0]) if numbered else 0
    return (
        numbers > 0
        and game.options.num_actions(game.options.defaults) >= numbers * game.observation.cells
    )


def default_network(game: Game) -> str:
    """The name of the network that suits a game.

    `numbers` if every number on every cell is an action and cells matter only through the houses
    they share, otherwise `board`.
    """
    return "numbers" if takes_numbers(game) and game.observation.houses_only else "board"
