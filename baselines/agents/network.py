"""Policy and value networks for the games, built from the table of observation planes.

Shapes: B games, N numbers, S cells of the board, C planes, A actions, W width.

There are six kinds of network. `NumberNet` is for games in which numbers are placed on cells and
only houses matter: it treats all numbers alike, and all cells alike except for what their houses
contain, so that what it learns about a 3 on b5 applies to a 7 on h2. `BoardNet` is convolutional,
for games in which adjacent cells matter, and `BoardsNet`, too, but it treats all numbers alike.
`LinesNet` sees whole rows and columns, and learns most where games are seen through symmetries.
`HouseNet` treats all numbers alike, and all pairs of cells that are related in the same way; it is
for a GPU, as it consists of large matrix products. `PlainNet` is a multilayer perceptron that knows
nothing about boards. All return `logits` for every action and a `value`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from azumaya.baselines.agents.candidates import CandidateFinder, Candidates
from azumaya.baselines.agents.house_network import HouseNet
from azumaya.baselines.agents.layers import (
    CellHead,
    Dense,
    cell_heads,
    scale_of,
    scaled,
    value_head,
)
from azumaya.baselines.agents.plane_groups import (
    CANDIDATE,
    GROUPS,
    group_planes,
    has_layout,
    laid_actions,
    numbered_planes,
)
from azumaya.envs.game import Game
from azumaya.envs.geometry.symmetry import square
from azumaya.envs.symmetries import Axis

MOST_ACTIONS, MOST_WIDTH, MOST_DEPTH = 1 << 16, 1 << 13, 256
"""The largest sizes with which a network is built."""
MOST_PARAMETERS = 1 << 28
"""The most parameters of a network; they take 1 GiB."""
BLOCK = 16
"""Rows of a matrix product that are added up in the same order on all CPUs tested."""


class NumberNet(nn.Module):
    """Logits and value for games in which numbers are placed on cells.

    Only candidates, the numbers that still fit a cell, have features: in the middle of a game they
    are one in sixteen of all numbers on all cells. `CandidateFinder` says what the first layer is
    told about each of them. Further layers mix a candidate's features with their sums over the
    candidates of the same number in its row, column, block and on the board, and over those of its
    cell. The value comes from sums over all candidates, and from how many candidates and other
    numbers there are on the board and on either set of cells.

    Planes may have any dtype, but hold whole numbers to 127, as observations do. Candidates are
    found on the CPU; on a GPU each evaluation copies the planes there and what is found back.

    Args:
        game: a game with candidates.
        num_actions: the number of actions; those that are not a number on a cell get their logits
            from the pooled features.
        width: the number of features of each candidate.
        depth: the number of layers.

    Raises:
        ValueError: the game has no candidates, or its board no blocks that are known here.
    """

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 1) -> None:
        super().__init__()
        self.finder = CandidateFinder(game)
        self.layout = layout = self.finder.layout
        inputs = [layout.features, *[(1 + GROUPS) * width] * (depth - 1)]
        self.layers = nn.ModuleList(nn.Linear(count, width) for count in inputs)
        self.logit = nn.Linear(width, 1)
        pooled = width + layout.overview
        more = num_actions - layout.numbers * layout.cells
        self.more = nn.Linear(pooled, more) if more > 0 else None
        self.value = nn.Sequential(nn.Linear(pooled, 64), nn.ReLU(), nn.Linear(64, 1))

    def candidates(self, planes: torch.Tensor) -> Candidates[torch.Tensor]:
        """The candidates in planes `(B, C, rows, columns)` and what is told about them.

        Raises:
            ValueError: the planes are not those of the game.
        """
        found = self.finder.find(planes.detach().to("cpu", torch.int8).numpy())
        return Candidates(*(torch.from_numpy(each).to(planes.device) for each in found))

    def group_sums(self, x: torch.Tensor, these: Candidates[torch.Tensor]) -> torch.Tensor:
        """For features `(M, F)` of candidates the sums over each of their groups, `(M, 5 F)`."""
        groups, size = these.groups.flatten(), len(these.lengths) * self.layout.groups
        places, added = groups[:, None].expand(-1, x.shape[1]), x.repeat_interleave(GROUPS, 0)
        totals = x.new_zeros(size, x.shape[1]).scatter_add(0, places, added)
        # not `totals[groups]`, whose gradient is added up in another order with each call
        return totals.index_select(0, groups).view(len(x), GROUPS * x.shape[1])

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        these = self.candidates(planes)
        dtype, numbers, cells = self.logit.weight.dtype, self.layout.numbers, self.layout.cells
        x = these.features.to(dtype)
        for i, layer in enumerate(self.layers):
            assert isinstance(layer, nn.Linear)
            if i:
                x = torch.cat((x, self.group_sums(x, these) / self.layout.size), 1)
            x = torch.relu(_linear(layer, x))
        sums: torch.Tensor = _Sums.apply(x, these.position, these.lengths)  # type: ignore[no-untyped-call]
        means = sums / cells
        pooled = torch.cat((means, these.overview.to(dtype)), 1)
        action = these.number * cells + these.cell
        logits = pooled.new_zeros(len(planes), numbers * cells)
        logits = logits.index_put((these.position, action), _linear(self.logit, x)[:, 0])
        if self.more is not None:
            logits = torch.cat((logits, self.more(pooled)), dim=1)
        return logits, self.value(pooled).squeeze(1)


class _Sums(torch.autograd.Function):
    """The sums `(B, F)` of the features `(M, F)` of each position's candidates.

    The gradient is that of `segment_reduce`, but lies in memory column by column, as the features
    do; otherwise adding it to another one takes longer.
    """

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, position: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        ctx.save_for_backward(position)
        # a copy row by row, because columns take twice as long
        return torch.segment_reduce(x.contiguous(), "sum", lengths=lengths, axis=0)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (position,) = ctx.saved_tensors
        return grad.T.index_select(1, position).T, None, None


def _linear(layer: nn.Linear, x: torch.Tensor) -> torch.Tensor:
    """What a layer makes of rows `(M, F)`; in inference mode, the same bits wherever a row is.

    Matrix products add in another order at the edges of their blocks, but not where rows are
    columns. With a single output, or very few rows, some CPUs do so there, too, so these are filled
    up.
    """
    rows = len(x)
    if torch.is_inference_mode_enabled() and (layer.out_features == 1 or rows < BLOCK):
        x = nn.functional.pad(x, (0, 0, 0, -rows % BLOCK))
    return torch.addmm(layer.bias[:, None], layer.weight, x.T).T[:rows]


class BoardNet(nn.Module):
    """Logits and value by 3x3 convolutions, for games in which adjacent cells matter.

    The logit of a piece on a cell comes from that cell, the logit of a move from the first cell it
    leaves and one ahead of it, and the logits of other actions from all cells.

    Args:
        game: the game.
        num_actions: the number of its actions.
        width: channels of each layer.
        depth: layers, each of which has a convolution and features pooled over the board.
    """

    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        self.register_buffer("scale", scale_of(game), persistent=False)
        widths = [len(game.observation.planes), *[width] * depth]
        pairs = list(itertools.pairwise(widths))
        self.near = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairs)
        self.far = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        self.logits, self.value = cell_heads(game, num_actions, width)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = scaled(planes, self.scale)
        for i, (near, far) in enumerate(zip(self.near, self.far, strict=True)):
            y = torch.relu(near(x) + far(x.mean((2, 3)))[:, :, None, None])
            x = x + y if i else y
        return self.logits(x), self.value(x.flatten(1)).squeeze(1)


class LinesNet(nn.Module):
    """Logits and value by layers that see a cell's whole row and column, on square boards.

    One matrix takes each row from all features of its cells to new ones, and the same one each
    column, so a layer knows where on its lines a cell is, and which ones share a block. Otherwise
    as `BoardNet`. It does not treat all numbers alike: let it see games through symmetries.

    Args:
        game: a game on a square board.
        num_actions: the number of its actions.
        width: features of a cell in each layer.
        depth: the number of layers.

    Raises:
        ValueError: the board is not square.
    """

    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        rows, columns = game.observation.shape
        if rows != columns:
            raise ValueError(f"{game.id}: needs a square board")
        self.register_buffer("scale", scale_of(game), persistent=False)
        pairs = list(itertools.pairwise([len(game.observation.planes), *[width] * depth]))
        self.line = nn.ModuleList(Dense(rows * a, rows * b) for a, b in pairs)
        self.far = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        self.logits, self.value = cell_heads(game, num_actions, width)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = scaled(planes, self.scale).permute(0, 2, 3, 1)
        for i, (line, far) in enumerate(zip(self.line, self.far, strict=True)):
            rows, columns = (
                line(each.flatten(2)).unflatten(2, (each.shape[2], -1))
                for each in (x, x.transpose(1, 2))
            )
            y = torch.relu(rows + columns.transpose(1, 2) + far(x.mean((1, 2)))[:, None, None])
            x = x + y if i else y
        x = _Planes.apply(x)  # type: ignore[no-untyped-call]
        return self.logits(x), self.value(x.flatten(1)).squeeze(1)


class _Planes(torch.autograd.Function):
    """From `(B, rows, columns, W)` to `(B, W, rows, columns)`.

    The gradient lies in memory as what comes before does; otherwise all that follows takes longer.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 3, 1, 2).contiguous()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad.permute(0, 2, 3, 1).contiguous()


class BoardsNet(nn.Module):
    """Logits and value by 3x3 convolutions over a board for each number, all with the same weights.

    So what it learns about a 3 applies to a 6. In each layer a number is told of its own features
    on the cells next to it and of their mean over the board, and of the mean over all numbers. If
    the players look at the board from different sides, both see it from the first one's.

    Args:
        game: a game with planes of numbers.
        num_actions: the number of its actions. If there are as many as numbers on cells, these come
            first; if as many as numbers are left, they belong to these.
        width: channels of each number in each layer.
        depth: the number of layers.

    Raises:
        ValueError: the game has no planes of numbers.
    """

    own: torch.Tensor
    shared: torch.Tensor
    scale: torch.Tensor
    turn: torch.Tensor
    action_turn: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 16, depth: int = 3) -> None:
        super().__init__()
        groups, cells = numbered_planes(game), game.observation.cells
        self.seat, turn = sides(game)
        shared = [plane for plane in groups.shared if plane != self.seat]
        own = torch.tensor([*groups.numbered, *groups.counted]).T.contiguous()
        self.numbers, kinds = own.shape
        pairs = list(itertools.pairwise([kinds, *[width] * depth]))
        told = [kinds + len(shared), *[width] * (depth - 1)]
        self.near = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1, bias=False) for a, b in pairs)
        self.far = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairs)
        self.all = nn.ModuleList(nn.Conv2d(a, width, 3, padding=1) for a in told)
        laid = laid_actions(game, num_actions)
        self.laid = nn.Conv2d(width, 1, 1) if laid else None
        more = num_actions - laid
        self.each = nn.Linear(width * cells, 1) if more == self.numbers else None
        self.more = CellHead(game, more, width) if more and self.each is None else None
        self.value = value_head(game, width)
        end = laid if self.more is None else num_actions // cells * cells
        on_cells = torch.arange(end).view(-1, cells)[:, turn].flatten()
        for name, tensor in {
            "own": own,
            "shared": torch.tensor(shared),
            "scale": scale_of(game),
            "turn": turn,
            "action_turn": torch.cat((on_cells, torch.arange(end, num_actions))),
        }.items():
            self.register_buffer(name, tensor, persistent=False)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        planes = scaled(planes, self.scale)
        if self.seat is None:
            return self._seen(planes)
        turned = planes.flatten(2)[:, :, self.turn].view_as(planes)
        second = planes[:, self.seat, :1, :1] == 0
        logits, values = self._seen(torch.where(second[:, None], turned, planes))
        return torch.where(second[:, 0], logits[:, self.action_turn], logits), values

    def _seen(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same from one side of the board."""
        x = planes[:, self.own]
        told = torch.cat((x.mean(1), planes[:, self.shared]), 1)
        for i, (near, far, all_) in enumerate(zip(self.near, self.far, self.all, strict=True)):
            y = near(x.flatten(0, 1)).unflatten(0, (-1, self.numbers))
            y = y + all_(told)[:, None] + far(x.mean((3, 4)))[..., None, None]
            x = x + torch.relu(y) if i else torch.relu(y)
            told = x.mean(1)
        parts = []
        if self.laid is not None:
            parts.append(self.laid(x.flatten(0, 1)).view(len(x), -1))
        if self.each is not None:
            parts.append(self.each(x.flatten(2)).squeeze(2))
        if self.more is not None:
            parts.append(self.more(told))
        return torch.cat(parts, 1), self.value(told.flatten(1)).squeeze(1)


def sides(game: Game) -> tuple[int | None, torch.Tensor]:
    """The plane that is 0 for one player, and the turn of the board that exchanges their sides.

    The turn says for each cell where it comes from, `(S,)`. If both players see the board from the
    same side, or nothing shows who looks, there is no plane.
    """
    symmetries = [one for factor in game.symmetries.group for one in factor if one.swaps]
    same = tuple(range(game.observation.cells))
    turns = [one.cells for one in symmetries if one.cells == one.inverse.cells != same]
    seats = [i for i, plane in enumerate(game.observation.planes) if plane.value is Axis.PLAYER]
    if turns and seats:
        return seats[0], torch.tensor(turns[0])
    return None, torch.tensor(same)


class PlainNet(nn.Module):
    """Logits and value by a multilayer perceptron over all planes.

    Args:
        game: the game.
        num_actions: the number of actions.
        width: the number of features of each layer.
        depth: the number of layers before the last.
    """

    scale: torch.Tensor

    def __init__(self, game: Game, num_actions: int, width: int = 256, depth: int = 2) -> None:
        super().__init__()
        self.register_buffer("scale", scale_of(game), persistent=False)
        sizes = [len(game.observation.planes) * game.observation.cells, *[width] * depth]
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(sizes):
            layers += [Dense(inputs, outputs), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.logit, self.value = Dense(width, num_actions), Dense(width, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """From planes `(B, C, rows, columns)` to logits `(B, A)` and values `(B,)`."""
        x = self.body(scaled(planes, self.scale).flatten(1))
        return self.logit(x), self.value(x).squeeze(1)


NETWORKS: dict[str, Any] = {
    "numbers": NumberNet, "houses": HouseNet, "boards": BoardsNet, "lines": LinesNet,
    "board": BoardNet, "plain": PlainNet,
}  # fmt: skip
NUMBERED = ("houses", "boards")
"""Those that need planes of numbers, and nothing else."""


class OversizeError(ValueError):
    """A network is too large to be built."""


def check_size(network: str, game: Game, num_actions: int, sizes: Mapping[str, int]) -> int:
    """Check that a network can be built, before any memory is allocated for it.

    `network` is a key of `NETWORKS`, `sizes` has its `width` and `depth`.

    Returns:
        The number of its parameters.

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
    return parameters


def takes_numbers(game: Game) -> bool:
    """Whether every number on every cell is an action, and candidates are seen.

    `NumberNet` needs both: the logits of numbers that are not candidates are always 0.
    """
    numbered = group_planes(game).numbered
    if not has_layout(game) or game.observation.planes[numbered[0][0]].group != CANDIDATE:
        return False
    return laid_actions(game, game.options.num_actions(game.options.defaults)) > 0


def can_play(network: str, game: Game) -> bool:
    """Whether a network of `NETWORKS` can play a game."""
    if network == "numbers":
        return takes_numbers(game)
    if network == "lines":
        return len(set(game.observation.shape)) == 1
    return network not in NUMBERED or bool(group_planes(game).numbered)


def default_network(game: Game, device: str = "cpu", symmetries: bool = False) -> str:
    """The name of the network that suits a game, and how it is trained.

    `boards` if there are planes of numbers and the players see the board from different sides;
    where numbers are laid on cells `numbers` if these matter only through the houses they share,
    and `lines` if rows and columns are alike and games are seen through symmetries; otherwise
    `board`. On a GPU `houses` if there are planes of numbers, instead of all but `boards`.
    """
    numbered = can_play("boards", game)
    if numbered and sides(game)[0] is not None:
        return "boards"
    if device == "cuda":
        return "houses" if numbered else "board"
    if takes_numbers(game):
        if game.observation.houses_only:
            return "numbers"
        if symmetries and lines_alike(game):
            return "lines"
    return "board"


def lines_alike(game: Game) -> bool:
    """Whether a symmetry of the game exchanges the rows of the board and its columns."""
    exchange = square(game.observation.shape[0])["reflection in the falling diagonal"]
    return any(exchange in factor for factor in game.symmetries.group)
