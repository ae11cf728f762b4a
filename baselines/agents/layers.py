"""What networks begin with, dense layers, and heads: from features of cells to logits and a value.

Shapes: B games, A actions, W features of a cell.
"""

from __future__ import annotations

import torch
from torch import nn

from azumaya.envs.game import Game

LINE = 8
"""Numbers of two bytes in 16 bytes."""


def scale_of(game: Game) -> torch.Tensor:
    """The factors that scale each plane's values to the range 0 to 1, `(C, 1, 1)`."""
    scales = [1.0 / plane.high for plane in game.observation.planes]
    return torch.tensor(scales, dtype=torch.float32)[:, None, None]


def typed(planes: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Planes in the type in which a network computes: that of `scale`, or of autocast."""
    kind = planes.device.type
    mixed = torch.is_autocast_enabled(kind)
    return planes.to(torch.get_autocast_dtype(kind) if mixed else scale.dtype)


def scaled(planes: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Planes times the factors of `scale_of`."""
    planes = typed(planes, scale)
    return planes * scale.to(planes.dtype)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """As torch's, but filled up to whole lines of memory on a GPU that computes with bfloat16.

    It multiplies matrices four times as fast if their rows begin at multiples of 16 bytes.
    """
    if not (x.is_cuda and torch.is_autocast_enabled("cuda")):
        return nn.functional.linear(x, weight, bias)
    outputs, inputs = weight.shape
    weight = nn.functional.pad(weight, (0, -inputs % LINE, 0, -outputs % LINE))
    bias = None if bias is None else nn.functional.pad(bias, (0, -outputs % LINE))
    if inputs % LINE:
        x = nn.functional.pad(x, (0, -inputs % LINE))
    return nn.functional.linear(x, weight, bias)[..., :outputs]


class Dense(nn.Linear):
    """A linear layer by `linear`."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From `(..., in_features)` to `(..., out_features)`."""
        return linear(x, self.weight, self.bias)


# ---- heads ----


def cell_heads(game: Game, num_actions: int, width: int) -> tuple[nn.Module, nn.Module]:
    """What takes the features of all cells to logits, and flattened to a value."""
    head = MoveHead if game.symmetries.moves else CellHead
    return head(game, num_actions, width), value_head(game, width)


def value_head(game: Game, width: int) -> nn.Module:
    """What takes the features of all cells, flattened, to a value, `(B, 1)`."""
    cells = game.observation.cells
    return nn.Sequential(nn.Linear(width * cells, 64), nn.ReLU(), nn.Linear(64, 1))


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
    """The logit of each move, from the first cell that it leaves and the one `AHEAD` steps from it.

    A step leads from the first cell left to the first one entered. Moves that leave and enter the
    same cells, seen from there, are scored with the same weights.
    """

    index: torch.Tensor
    on_board: torch.Tensor

    AHEAD = 3
    """Three layers of 3x3 convolutions see no further, and a push may end five cells away."""

    def __init__(self, game: Game, num_actions: int, width: int) -> None:
        super().__init__()
        assert game.symmetries.moves is not None
        rows, columns = game.observation.shape
        kinds: dict[object, int] = {}
        found = []
        for action in range(num_actions):
            leaves, enters = (
                [divmod(cell, columns) for cell in cells] for cells in game.symmetries.moves(action)
            )
            row, column = leaves[0]
            seen = tuple(tuple((r - row, c - column) for r, c in each) for each in (leaves, enters))
            down, right = (self.AHEAD * step for step in seen[1][0])
            inside = 0 <= row + down < rows and 0 <= column + right < columns
            near, kind = row * columns + column, kinds.setdefault(seen, len(kinds)) * rows * columns
            far = near + down * columns + right if inside else near
            found.append((kind + near, kind + far, inside))
        *index, on_board = zip(*found, strict=True)
        self.register_buffer("index", torch.tensor(index), persistent=False)
        self.register_buffer("on_board", torch.tensor(on_board), persistent=False)
        self.near, self.far = (nn.Conv2d(width, len(kinds), 1) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """From features `(B, W, rows, columns)` to logits `(B, A)`."""
        near, far = (
            head(x).flatten(1).index_select(1, index)  # `[:, index]` takes half as long again
            for head, index in zip((self.near, self.far), self.index, strict=True)
        )
        return near + far * self.on_board
