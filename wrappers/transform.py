"""Transforms of games: observations, masks, actions and positions mapped by a symmetry."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from azumaya.envs.errors import IllegalActionError, OptionError, brief
from azumaya.envs.game import Game
from azumaya.envs.geometry.grid import Cells
from azumaya.envs.geometry.symmetry import Symmetry, identity
from azumaya.envs.kernels.bits import U64
from azumaya.envs.position import Position
from azumaya.envs.registry import find_game
from azumaya.envs.setup import POSITION, check_names
from azumaya.envs.symmetries import Axis, Content, InPlace, Moved, Settings, Symmetries

NIBBLES = 16
"""The number of counts or tiles in a word of a state, four bits each."""


class Transform:
    """A transform that keeps the rules: it moves cells, swaps players and renames numbers.

    Playing transformed actions from a transformed position gives transformed positions,
    observations and masks, and the same rewards. If the symmetry swaps the players, each sees in
    the transformed game what the other sees in the original.

    Shapes: `C` planes of `rows * columns` cells, `A` actions; `...` stands for any batch
    dimensions, which all share this one transform. Planes and masks may be NumPy arrays or torch
    tensors.

    Args:
        game: the game or its name.
        symmetry: the new place of each cell, any product of members of `game.symmetries.group`;
            None moves no cell.
        renaming: for each number (from 0) its new number (from 0); None renames none.
        settings: the settings that actions depend on, by name; others have their defaults.

    The arrays among the attributes are those that the methods use: do not write into them.

    Attributes:
        observation_index: `(C * rows * columns,)` int64: for each entry of the flattened
            transformed observation, the entry that it is taken from (see also `recoded_planes`).
        action_table: `(A,)` int64: the transformed action of each action.
        action_index: `(A,)` int64: the inverse of `action_table`; it transforms masks.

    Raises:
        OptionError: the symmetry does not fit the board, the renaming is not a permutation, or
            the game has no option with a name in `settings`. Their values are not checked.
    """

    def __init__(
        self,
        game: Game | str,
        symmetry: Symmetry | None = None,
        renaming: Sequence[int] | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.game = find_game(game)
        self.symmetry = identity(self.game.observation.cells) if symmetry is None else symmetry
        names = range(self.data.numbers) if renaming is None else renaming
        try:
            self.renaming = tuple(operator.index(name) for name in names)
        except TypeError:
            raise OptionError(f"renaming={brief(renaming)}: must be whole numbers") from None
        if not isinstance(settings, Mapping | None):
            raise OptionError(f"settings={brief(settings)}: must be a dict of settings by name")
        check_names(self.game, settings or {})
        if settings and POSITION in settings:
            raise OptionError(f"settings: {POSITION!r} says where a game begins; leave it out")
        self.settings = {**self.game.options.defaults, **(settings or {})}
        self._check()
        self._axes = {
            Axis.CELL: np.array(self.symmetry.cells, np.int64),
            Axis.NUMBER: np.array(self.renaming, np.int64),
            Axis.PLAYER: np.array([1, 0] if self.swaps else [0, 1]),
            Axis.REGION: self._regions(),
        }

    def _check(self) -> None:
        if not isinstance(self.symmetry, Symmetry):
            raise OptionError(
                f"symmetry={brief(self.symmetry)}: must be a Symmetry, like those in "
                "game.symmetries.group"
            )
        if sorted(self.symmetry.cells) != list(range(self.game.observation.cells)):
            raise OptionError(
                f"symmetry={self.symmetry.name!r}: must be a permutation of the "
                f"{self.game.observation.cells} cells of {self.game.title}"
            )
        if sorted(self.renaming) != list(range(self.data.numbers)):
            raise OptionError(
                f"renaming={brief(self.renaming)}: must be a permutation of the numbers from 0 to "
                f"{self.data.numbers - 1}"
            )

    def _regions(self) -> np.ndarray:
        goes = np.arange(max(self.data.regions, default=-1) + 1)
        for cell, region in enumerate(self.data.regions):
            goes[region] = self.data.regions[self.symmetry.cells[cell]]
        return goes

    def __repr__(self) -> str:
        numbers = "".join(str(name + 1) for name in self.renaming)
        return f"<{self.game.title}: {self.symmetry.name}, numbers to {numbers or 'themselves'}>"

    @property
    def data(self) -> Symmetries:
        """The symmetries of the game."""
        return self.game.symmetries

    @property
    def swaps(self) -> bool:
        """Whether the players are swapped."""
        return self.symmetry.swaps

    @cached_property
    def inverse(self) -> Transform:
        """The transform that undoes this one."""
        renaming = np.argsort(self.renaming).tolist()
        return Transform(self.game, self.symmetry.inverse, renaming, self.settings)

    def then(self, other: Transform) -> Transform:
        """The product: this transform followed by another of the same game.

        Raises:
            OptionError: `other` is not a transform, or of another game, or its settings give the
                game other actions.
        """
        if not isinstance(other, Transform) or other.game is not self.game:
            raise OptionError(f"other={brief(other)}: must be a transform of {self.game.title}")
        if self._actions != other._actions:
            raise OptionError(
                "other: its settings give the game other actions; make both transforms with the "
                "same settings"
            )
        symmetry = self.symmetry.then(other.symmetry)
        renaming = [other.renaming[name] for name in self.renaming]
        return Transform(self.game, symmetry, renaming, self.settings)

    # ---- actions and masks ----

    @property
    def _actions(self) -> tuple[Any, ...]:
        """What actions there are."""
        return self.game.options.num_actions(self.settings), self.data.actions(self.settings)

    @cached_property
    def action_table(self) -> np.ndarray:
        """The transformed action of each action, `(A,)` int64."""
        table = np.arange(self.game.options.num_actions(self.settings))
        first = 0
        for block in self.data.actions(self.settings):
            goes = self._moved_moves() if block == (Axis.MOVE,) else self._moved_block(block)
            table[first : first + len(goes)] = first + goes
            first += len(goes)
        return table

    def _moved_block(self, axes: Sequence[Axis]) -> np.ndarray:
        goes = np.zeros(1, np.int64)
        for axis in axes:
            places = self._axes[axis]
            goes = (goes[:, None] * len(places) + places).ravel()
        return goes

    def _moved_moves(self) -> np.ndarray:
        if self.data.moves is None:
            raise OptionError(
                f"{self.game.name}: the symmetries have actions of Axis.MOVE, so `moves` must say "
                "which cells an action leaves and enters"
            )
        count = self.game.options.num_actions(self.settings)
        table = _moved_moves(self.data.moves, count, self.symmetry.cells)
        if table is None:
            raise OptionError(f"symmetry={self.symmetry.name!r}: must map every move to a move")
        return table

    @cached_property
    def action_index(self) -> np.ndarray:
        """For each transformed action the original one, `(A,)` int64."""
        return np.argsort(self.action_table)

    def action(self, action: Any) -> Any:
        """Transform an action, an int, or an array of actions of any shape.

        Raises:
            IllegalActionError: a value is not an action of the game.
        """
        count = len(self.action_table)
        try:
            given = np.asarray(action)
        except Exception:  # rows of different lengths, and any `__array__`
            given = np.empty(0)
        whole = given.dtype.kind in "iu"
        if not whole or (given.size and not 0 <= given.min() <= given.max() < count):
            raise IllegalActionError(
                f"action={brief(action)}: must be whole numbers from 0 to {count - 1}; if the "
                "settings are not the defaults, pass them to the Transform"
            )
        moved = self.action_table[given]
        return moved if isinstance(moved, np.ndarray) else int(moved)

    def mask(self, mask: Any) -> Any:
        """The mask `(..., A)` of the transformed position.

        Raises:
            OptionError: this is not a mask of the game's actions.
        """
        shape = _shape_of(mask, "mask")
        if shape[-1:] != self.action_index.shape:
            raise OptionError(
                f"mask: the last dimension must be {len(self.action_index)} actions, not the shape "
                f"{shape}; if the settings are not the defaults, pass them to the Transform"
            )
        return mask[..., self.action_index]

    # ---- observations ----

    def _indexed(self, axis: Axis) -> dict[str, dict[int, int]]:
        """For each group of planes that an axis distinguishes, the plane of each index."""
        groups: dict[str, dict[int, int]] = {}
        for i, plane in enumerate(self.game.observation.planes):
            if plane.index is not None and plane.index[0] is axis:
                groups.setdefault(plane.group, {})[plane.index[1]] = i
        return groups

    @cached_property
    def observation_index(self) -> np.ndarray:
        """The entry that each transformed entry is taken from, `(C * rows * columns,)` int64."""
        planes = np.arange(len(self.game.observation.planes))
        for group in self._indexed(Axis.NUMBER).values():
            for number, renamed in enumerate(self.renaming):
                planes[group[renamed + 1]] = group[number + 1]
        cells = np.argsort(self._axes[Axis.CELL])
        return (planes[:, None] * self.game.observation.cells + cells).ravel()

    @cached_property
    def recoded_planes(self) -> dict[int, dict[int, int]]:
        """For each plane whose values change, the new value of each old one."""
        tiles = {number + 1: renamed + 1 for number, renamed in enumerate(self.renaming)}
        players = dict(enumerate(self._axes[Axis.PLAYER].tolist()))
        codes_of = {Axis.NUMBER: tiles, Axis.PLAYER: players}
        found = {
            i: codes_of[plane.value]
            for i, plane in enumerate(self.game.observation.planes)
            if plane.value is not None
        }
        changes = {i: {k: v for k, v in codes.items() if k != v} for i, codes in found.items()}
        return {i: codes for i, codes in changes.items() if codes}

    def observation(self, planes: Any) -> Any:
        """The observation `(..., C, rows, columns)` of the transformed position.

        It is the observation of the same player, or of the other one if the players are swapped.

        Raises:
            OptionError: the shape is not that of the game's observations.
        """
        shape, view = _shape_of(planes, "planes"), self.game.observation
        wanted = (len(view.planes), *view.shape)
        if shape[-3:] != wanted:
            raise OptionError(f"planes: the shape is {shape}; it must end with {wanted}")
        index = self.observation_index
        moved = planes.reshape((*shape[:-3], len(index)))[..., index].reshape(shape)
        for plane, codes in self.recoded_planes.items():
            moved[..., plane, :, :] = _recoded(moved[..., plane, :, :], codes)
        for bits in self._indexed(Axis.REGION).values():
            self._renumber_regions(moved, bits)
        return moved

    def _renumber_regions(self, planes: Any, bits: Mapping[int, int]) -> None:
        """Renumber in place the regions whose numbers are spread over planes bit by bit."""
        goes = self._axes[Axis.REGION].tolist()
        codes = {old: new for old, new in enumerate(goes) if old != new}
        if not codes:
            return
        regions = sum(planes[..., plane, :, :] * 2**b for b, plane in bits.items())
        regions = _recoded(regions, codes)
        for b, plane in bits.items():
            planes[..., plane, :, :] = regions // 2**b % 2

    # ---- positions ----

    def position(self, position: Position) -> Position:
        """The transformed position, as a new object.

        Its options are those that matter after the start, transformed like the board.

        Raises:
            OptionError: this is not a position of the game, or it is in a stage in which the order
                of players and numbers is fixed while the transform swaps or renames them, or in
                which cells have to stay that the transform moves.
        """
        if not isinstance(position, Position) or position.game is not self.game:
            raise OptionError(
                f"position={brief(position)}: must be a position of {self.game.title}"
            )
        self._check_stage(position)
        states, start = self.states(position._states), self.states(position._start)
        setup, regions = position.setup, self._axes[Axis.REGION].tolist()
        moved = self.data.options(setup.settings, self.symmetry.cells, regions)
        return Position.of_states(self.game, setup.without_starts(moved), states, start)

    def _check_stage(self, position: Position) -> None:
        """Refuse a position in a stage in which this transform does not keep the rules."""
        if in_order(position) and (self.swaps or list(self.renaming) != sorted(self.renaming)):
            raise OptionError(
                f"position={brief(position)}: the order of players and numbers is fixed in this "
                "stage; the transform must not swap players or rename numbers"
            )
        place = in_place(position)
        if place is not None and not place.kept_by(self.symmetry):
            cells = ", ".join(map(str, sorted(place.cells)))
            raise OptionError(
                f"position={brief(position)}: in this stage the transform must move the cells "
                f"{cells} only among each other"
            )

    def states(self, states: np.ndarray) -> np.ndarray:
        """Transformed states, `(n,)`, as a copy."""
        moved = states.copy()
        for name, how in self.data.fields.items():
            moved[name] = self._moved_field(states[name], how)
        if self.swaps:
            moved["to_move"] = 1 - states["to_move"]
            moved["payoff"] = -states["payoff"]
        return moved

    def _moved_field(self, values: np.ndarray, how: Moved) -> np.ndarray:
        values = np.array(values)
        for dimension, axis in enumerate(how.axes, start=1):
            if axis is not Axis.FIXED:
                values = np.take(values, np.argsort(self._axes[axis]), axis=dimension)
        change = {
            Content.CELLS: self._moved_bits,
            Content.STONES: self._moved_stones,
            Content.REGIONS: self._moved_regions,
            Content.COUNTS: self._moved_counts,
            Content.TILES: self._tiles,
        }
        return values if how.content is Content.VALUES else change[how.content](values)

    @cached_property
    def _bits(self) -> np.ndarray:
        """For each bit of a board in a state, its new place."""
        cells = np.array(self.data.bits or range(self.game.observation.cells))
        place = np.full(self.game.observation.cells, -1)
        place[cells] = np.arange(len(cells))
        goes: np.ndarray = place[self._axes[Axis.CELL][cells]]
        return goes

    def _moved_bits(self, boards: np.ndarray) -> np.ndarray:
        """Transformed boards of one word `(...)` or of several words `(..., words)`."""
        shape = boards.shape
        words = boards.reshape(*shape, 1) if len(self._bits) <= 64 else boards
        return _permuted(words, self._bits).reshape(shape)

    def _moved_stones(self, rows: np.ndarray) -> np.ndarray:
        return _permuted(rows, self._moved_block((Axis.NUMBER, Axis.CELL)))

    def _moved_regions(self, boards: np.ndarray) -> np.ndarray:
        """Transformed boards `(..., bits, words)` of the bits of the cells' region numbers."""
        octets = self._moved_bits(boards).view(np.uint8)
        bits = np.unpackbits(octets, axis=-1, bitorder="little")
        weights = 1 << np.arange(bits.shape[-2])[:, None]
        here = bits[..., : self.game.observation.cells]
        regions = self._axes[Axis.REGION][(here * weights).sum(axis=-2)]
        here[...] = (regions[..., None, :] & weights) != 0
        return np.packbits(bits, axis=-1, bitorder="little").view(U64)

    def _moved_counts(self, words: np.ndarray) -> np.ndarray:
        moved = np.zeros_like(words)
        for number, renamed in enumerate(self.renaming):
            moved |= (words >> U64(4 * number) & U64(15)) << U64(4 * renamed)
        return moved

    def _tiles(self, words: np.ndarray) -> np.ndarray:
        table = np.arange(NIBBLES, dtype=U64)
        table[1 : 1 + len(self.renaming)] = self._axes[Axis.NUMBER] + 1
        old, moved = words.astype(U64), np.zeros(words.shape, U64)
        for k in range(NIBBLES):
            moved |= table[old >> U64(4 * k) & U64(15)] << U64(4 * k)
        return moved.astype(words.dtype)


def _shape_of(given: Any, name: str) -> tuple[int, ...]:
    """The shape of an array or tensor; raises `OptionError` for anything else."""
    try:
        return tuple(given.shape)
    except (AttributeError, TypeError):
        raise OptionError(
            f"{name}: {type(given).__name__} given; must be a NumPy array or a torch tensor"
        ) from None


def _permuted(rows: np.ndarray, goes: np.ndarray) -> np.ndarray:
    """Rows of words, `(..., words)`, in which bit i has become bit `goes[i]`."""
    octets = np.ascontiguousarray(rows).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    moved = np.zeros_like(bits)
    moved[..., goes] = bits[..., : len(goes)]
    return np.packbits(moved, axis=-1, bitorder="little").view(U64)


@lru_cache(maxsize=64)
def _moved_moves(
    cells_of: Callable[[int], tuple[Cells, Cells]], count: int, to: Cells
) -> np.ndarray | None:
    """The transformed move of each move; None if one of them is not mapped to a move.

    A move is identified by the cells that its pieces leave and enter, in any order.
    """
    moves = [cells_of(action) for action in range(count)]
    known = {tuple(map(frozenset, move)): action for action, move in enumerate(moves)}
    moved = [tuple(frozenset(to[c] for c in cells) for cells in move) for move in moves]
    if not known.keys() >= set(moved):
        return None
    return np.array([known[move] for move in moved])


def _recoded(values: Any, codes: dict[int, int]) -> Any:
    """Values with some of them replaced, by arithmetic that works on arrays and tensors."""
    return values + sum((values == old) * (new - old) for old, new in codes.items())


def in_order(position: Position) -> bool:
    """Whether a position is in a stage in which the order of players and numbers is fixed."""
    stage = position.game.symmetries.in_order
    return stage is not None and _in_stage(position, stage)


def in_place(position: Position) -> InPlace | None:
    """The cells that have to keep their place in the stage of a position, if there are any."""
    place = position.game.symmetries.in_place
    return place if place is not None and _in_stage(position, place.stage) else None


def _in_stage(position: Position, stage: tuple[str, int]) -> bool:
    field, value = stage
    return bool(position.state[field][0] == value)
