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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from azumaya.baselines.values.planes import STOCKS
from azumaya.envs.game import Game
from azumaya.envs.symmetries import Axis

BLOCKS = {9: 3, 6: 2}
"""The rows of a block, by the rows of the board."""
CANDIDATE = "candidate"
"""The group of the planes that show candidates."""
KINDS = 5
"""The kinds of groups that a candidate is in, see `Candidates`."""
MOST_ACTIONS, MOST_WIDTH, MOST_DEPTH = 1 << 16, 1 << 13, 256
"""The largest sizes with which a network is built."""
MOST_PARAMETERS = 1 << 28
"""The most parameters of a network; they take 1 GiB."""


@dataclass(frozen=True)
class PlaneGroups:
    """Which planes belong to single numbers, and which to the whole board.

    Attributes:
        numbered: for each kind of plane of cells, the index of its plane for each number, `(K, N)`.
        counted: the same for planes that hold one value for a number, such as a stock.
        shared: the indices of the other planes.
    """

    numbered: tuple[tuple[int, ...], ...]
    counted: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]


def group_planes(game: Game) -> PlaneGroups:
    """Group a game's planes by kind; for example, the candidates of all numbers are one kind."""
    kinds: dict[tuple[str, str], list[int]] = {}
    for index, plane in enumerate(game.observation.planes):
        if plane.index is not None and plane.index[0] is Axis.NUMBER:
            kinds.setdefault((plane.kind, plane.group), []).append(index)
    most = max((len(planes) for (kind, _), planes in kinds.items() if kind == "cells"), default=0)
    numbered, counted = (
        tuple(tuple(planes) for (kind, _), planes in kinds.items() if (kind, len(planes)) == wanted)
        for wanted in (("cells", most), ("number", most))
    )
    used = set(itertools.chain(*numbered, *counted)) if most > 1 else set()
    shared = tuple(i for i in range(len(game.observation.planes)) if i not in used)
    return PlaneGroups(numbered, counted, shared) if used else PlaneGroups((), (), shared)


def scale_of(game: Game) -> torch.Tensor:
    """The factors that scale each plane's values to the range 0 to 1, `(C, 1, 1)`."""
    return torch.tensor([1.0 / plane.high for plane in game.observation.planes])[:, None, None]


@dataclass(frozen=True)
class Candidates:
    """The candidates of a batch of positions, one after another.

    Attributes:
        position: the position of each candidate, `(M,)`, in ascending order.
        lengths: how many candidates each position has, `(B,)`.
        number: its number, counted from 0, `(M,)`.
        cell: its cell, `(M,)`.
        groups: the groups that it is in, `(5, M)`: the candidates of its number in its row, its
            column, its block and on the board, and those in its cell.
        count: the number of groups.
    """

    position: torch.Tensor
    lengths: torch.Tensor
    number: torch.Tensor
    cell: torch.Tensor
    groups: torch.Tensor
    count: int

    def sums(self, x: torch.Tensor) -> torch.Tensor:
        """For features `(M, F)` of candidates the sums over each of their groups, `(M, 5 F)`."""
        places = self.groups.flatten()[:, None].expand(-1, x.shape[1])
        totals = x.new_zeros(self.count, x.shape[1]).scatter_add(0, places, x.repeat(KINDS, 1))
        return totals.index_select(0, self.groups.T.flatten()).view(len(x), KINDS * x.shape[1])

    def totals(self, x: torch.Tensor) -> torch.Tensor:
        """For features `(M, F)` of candidates the sums over each position, `(B, F)`."""
        return torch.segment_reduce(x, "sum", lengths=self.lengths, axis=0)

    def in_cell(self) -> torch.Tensor:
        """How many candidates the cell of each has, `(M, 1)`."""
        cells = self.groups[-1]
        return cells.bincount()[cells][:, None]


def index_of(planes: Sequence[int]) -> slice | list[int]:
    """An index of some planes; of successive ones a slice, so that taking them makes no copy."""
    if planes and list(planes) == list(range(planes[0], planes[-1] + 1)):
        return slice(planes[0], planes[-1] + 1)
    return list(planes)


def houses_of_cells(size: int) -> torch.Tensor:
    """The row, column and block of each cell, counted together, `(3, S)`."""
    cells, block = torch.arange(size * size), BLOCKS[size]
    rows, columns = cells // size, cells % size
    blocks = rows // block * (size // block) + columns // block
    return torch.stack((rows, size + columns, 2 * size + blocks))


class NumberNet(nn.Module):
    """Logits and value for games in which numbers are placed on cells.

    Only candidates, the numbers that still fit a cell, have features: in the middle of a game they
    are one in sixteen of all numbers on all cells. A layer mixes a candidate's features with their
    sums over the candidates of the same number in its row, column, block and on the board, and over
    those of its cell. The first layer is told whose cell it is (from the first two sets of cells
    that all numbers share), its share of that cell's candidates, whether it is the only one, the
    other planes at the cell, how often its number is in the planes of each kind, and how many
    stones of it either player has left, where players have stocks. There a number that nobody has
    left is a candidate only of cells in neither set, where stones come from no stock. (The shares
    add up to the number of cells that are alive. Placing a number in a house of a cell of which it
    is the only candidate makes the cell dead.) The value comes from sums over all candidates, and
    from how many candidates and other numbers there are on the board and on either set of cells.

    Args:
        game: a game with candidates.
        num_actions: the number of actions; those that are not a number on a cell get their logits
            from the pooled features.
        width: the number of features of each candidate.
        depth: the number of layers.
    """

    scale: torch.Tensor
    houses: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 1) -> None:
        super().__init__()
        groups, planes = group_planes(game), game.observation.planes
        self.size, self.numbers = game.observation.shape[0], len(groups.numbered[0])
        self.sets = [i for i, p in enumerate(groups.shared) if planes[p].kind == "cells"][:2]
        self.numbered = [index_of(kind) for kind in groups.numbered]
        self.stocks = [list(kind) for kind in groups.counted if planes[kind[0]].group in STOCKS]
        self.most_left = max((planes[kind[0]].high for kind in self.stocks), default=0)
        self.shared = index_of(groups.shared)
        self.register_buffer("scale", scale_of(game)[self.shared, 0, 0], persistent=False)
        self.house_count = 2 * self.size + (self.size // BLOCKS[self.size]) ** 2
        self.register_buffer("houses", houses_of_cells(self.size), persistent=False)
        fields = 1 + 3 * len(self.sets)
        told = len(groups.numbered) + len(groups.shared) + 2 * len(self.stocks)
        widths = [fields, *[width] * depth]
        self.layers = nn.ModuleList(
            nn.Linear((1 + KINDS) * a + (0 if i else told), b)
            for i, (a, b) in enumerate(itertools.pairwise(widths))
        )
        self.logit = nn.Linear(width, 1)
        pooled = width + fields + (1 + len(self.sets)) * len(groups.numbered)
        more = num_actions - self.numbers * self.size**2
        self.more = nn.Linear(pooled, more) if more > 0 else None
        self.value = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))

    def candidates(self, planes: torch.Tensor) -> Candidates:
        """The candidates in the planes of numbers, `(B, N, S)`."""
        position, number, cell = planes.nonzero().unbind(1)
        board = position * self.numbers + number
        boards, houses = len(planes) * self.numbers, self.house_count
        groups = (
            *(board * houses + self.houses[:, cell]),
            boards * houses + board,
            boards * (houses + 1) + position * self.size**2 + cell,
        )
        count = boards * (houses + 1) + len(planes) * self.size**2
        lengths = position.bincount(minlength=len(planes))
        return Candidates(position, lengths, number, cell, torch.stack(groups), count)

    @torch.no_grad()
    def look(self, planes: torch.Tensor, these: Candidates) -> tuple[torch.Tensor, torch.Tensor]:
        """What the first layer sees, from planes `(B, C, S)`; nothing here is learned.

        Returns:
            The features of candidates that are summed over their groups, `(M, F)`, and those that
            are not, `(M, G)`.
        """
        shared = planes[:, self.shared].transpose(1, 2)[these.position, these.cell] * self.scale
        counts = torch.stack([planes[:, kind].sum(2) for kind in self.numbered], 1) / self.size
        told = torch.cat((shared, counts[these.position, :, these.number]), 1)
        if self.stocks:
            left = planes[:, self.stocks, 0].float()[these.position, :, these.number]
            told = torch.cat((told, left / self.most_left, left > 0), 1)
        one, own = torch.ones_like(shared[:, :1]), shared[:, self.sets]
        rivals = these.in_cell()
        return torch.cat((one, own, own / rivals, own * (rivals == 1)), 1), told

    @torch.no_grad()
    def overview(self, planes: torch.Tensor) -> torch.Tensor:
        """How many numbers of each kind of planes there are, from planes `(B, C, S)`.

        Returns:
            The numbers on the whole board and on each of the sets of cells, by kind, as fractions
            of the cells, `(B, (1 + sets) K)`.
        """
        numbers = torch.stack([planes[:, kind].sum(1) for kind in self.numbered], 1).float()
        sets = planes[:, self.shared][:, self.sets].float()
        places = torch.cat((torch.ones_like(numbers[:, :1]), sets), 1)
        return (numbers @ places.transpose(1, 2)).flatten(1) / self.size**2

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        planes = planes.flatten(2)
        fitting = planes[:, self.numbered[0]]
        if self.stocks:
            spent = (planes[:, self.stocks, 0] == 0).all(1)
            owned = planes[:, self.shared][:, self.sets].any(1)
            fitting = fitting * ~(spent[:, :, None] & owned[:, None])
        these = self.candidates(fitting)
        fields, told = self.look(planes, these)
        x = fields
        for i, layer in enumerate(self.layers):
            parts = x, these.sums(x) / self.size, *(() if i else (told,))
            assert isinstance(layer, nn.Linear)
            x = torch.relu(_linear(layer, torch.cat(parts, 1)))
        means = these.totals(torch.cat((x, fields), 1)) / self.size**2
        pooled = torch.cat((means, self.overview(planes)), 1)
        action = these.number * self.size**2 + these.cell
        logits = pooled.new_zeros(len(planes), self.numbers * self.size**2)
        logits = logits.index_put((these.position, action), _linear(self.logit, x)[:, 0])
        if self.more is not None:
            logits = torch.cat((logits, self.more(pooled)), dim=1)
        return logits, self.value(pooled).squeeze(1)


def _linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What a layer makes of rows `(M, F)`, bit by bit the same wherever in the batch a row is.

    Matrix products add in another order at the edges of their blocks, but not where rows are
    columns.
    """
    return torch.addmm(layer.bias[:, None], layer.weight, x.T).T


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
    """Whether every number on every cell is an action, and candidates are seen.

    `NumberNet` needs both: the logits of numbers that are not candidates are always 0.
    """
    numbered = group_planes(game).numbered
    if not numbered or game.observation.planes[numbered[0][0]].group != CANDIDATE:
        return False
    laying = len(numbered[0]) * game.observation.cells
    return game.options.num_actions(game.options.defaults) >= laying


def default_network(game: Game) -> str:
    """The name of the network that suits a game.

    `numbers` if the network can play it and cells matter only through the houses they share,
    otherwise `board`.
    """
    return "numbers" if takes_numbers(game) and game.observation.houses_only else "board"
